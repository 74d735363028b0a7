"""Callbacks for training frameworks, one per file; each is imported only by who uses it.

`paramedic run train.py` needs none of them. They are for notebooks and for programs that cannot be launched with it.
"""
