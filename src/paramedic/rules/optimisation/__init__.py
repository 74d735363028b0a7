"""Rules on how training goes."""
