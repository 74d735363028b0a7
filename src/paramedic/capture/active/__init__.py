"""Questions that only an experiment answers, put to a model and a batch in a process of their own.

Does one sample's output depend on another sample? Does output t depend on inputs after t? Is an input used at all?
"""
