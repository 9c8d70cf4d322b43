"""Systems that learn from a knowledge graph, for link-prediction and fact-checking."""
