"""Systems that extract facts from texts: a mention finder, features of pairs of mentions, and linear classifiers."""
