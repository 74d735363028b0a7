"""The run on disk: one SQLite file per process, written while training runs and readable at any time."""
