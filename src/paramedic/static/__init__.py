"""What the user's source says of a place that a fact names: where a value was made, which loop a line stands in.

Pure functions over source text. Rules join them with facts, and never believe the source alone: it says where a fault
is to be repaired, not that there is one.
"""
