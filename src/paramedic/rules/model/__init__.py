"""Rules on the model and its parameters."""
