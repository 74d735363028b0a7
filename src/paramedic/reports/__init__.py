"""Pure functions from a diagnosis to text, one file per format."""
