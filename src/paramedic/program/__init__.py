"""The user's program as it runs: its lines, frames, objects and models, looked at without running any of its code."""
