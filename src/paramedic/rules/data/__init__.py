"""Rules on what the model is fed."""
