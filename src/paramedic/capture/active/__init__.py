"""Questions that only an experiment answers, put to a copy of the model and a copy of a batch.

Does one sample's output depend on another sample? Does output t depend on inputs after t? Is an input used at all? The
live model, its buffers, gradients and hooks and all random states stay as they are.
"""
