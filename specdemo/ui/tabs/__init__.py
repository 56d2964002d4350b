"""One builder for each tab; each returns its widgets by name."""
