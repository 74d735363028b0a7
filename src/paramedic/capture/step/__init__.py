"""One training step, from the batch to the loss, run again in a process of its own with one thing changed.

What does the loss ask of the model's answers? Does it matter to which row a label belongs?
"""
