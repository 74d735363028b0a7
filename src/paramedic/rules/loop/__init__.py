"""Rules on the training and evaluation loop."""
