"""Actions on splits and their gold: store, validate, audit, publish, correct."""
