"""The live page: a local server, in a process of its own, that reads records while they are written."""
