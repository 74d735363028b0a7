"""Where the user's code may be run although the program did not ask for it: a forked process that can only compute.

It works on a copy of all memory, and nothing that it does leaves it but the answer.
"""
