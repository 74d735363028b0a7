"""Experiments on unmodified scripts: what is changed around them, how they are run, what the runs say together."""
