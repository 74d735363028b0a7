"""From a value that is not finite to the line that made it: the failing step is run again, operation by operation."""
