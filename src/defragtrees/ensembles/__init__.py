"""Tree ensembles as plain arrays, and their readers."""
