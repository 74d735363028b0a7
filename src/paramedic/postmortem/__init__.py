"""After the fact: tracebacks with values, shells, crashes, dumps. Nothing in here may fail a second time."""
