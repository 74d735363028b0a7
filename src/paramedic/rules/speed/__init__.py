"""Rules on speed and memory."""
