"""The model, loss, batch and optimizer of a training script, without running its training."""
