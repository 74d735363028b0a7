"""Rules on the loss and the objective."""
