"""Inside the training process: states facts, never verdicts. The only place that patches torch."""
