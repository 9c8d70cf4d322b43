"""Actions on datasets, their splits and their gold: create, validate, store, audit, publish, correct."""
