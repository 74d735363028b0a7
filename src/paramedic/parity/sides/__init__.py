"""The two sides of a comparison, one file per kind: each turns inputs into a Trace."""
