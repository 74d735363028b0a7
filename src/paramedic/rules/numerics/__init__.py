"""Rules on numerical faults."""
