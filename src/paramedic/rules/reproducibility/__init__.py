"""PM9: whether a run can be repeated."""
