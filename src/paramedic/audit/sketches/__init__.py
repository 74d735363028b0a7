"""One pass over the data, in bounded memory: each sketch is fed chunks, and two sketches of one kind can be merged."""
