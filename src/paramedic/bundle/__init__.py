"""The file that holds one step, to be run again: how it is written and read, and what it must hold."""
