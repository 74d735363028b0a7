"""One file per change; an order names the file."""
