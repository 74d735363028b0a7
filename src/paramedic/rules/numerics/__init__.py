"""Rules on numbers that break."""
