"""The assertions, one subject per file."""
