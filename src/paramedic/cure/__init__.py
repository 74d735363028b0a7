"""The fix as an edit of the source, and the proof that it helps.

A remedy reads a finding and the file it is about, and proposes edits. Each edit is tried in a copy of the folder, like
an experiment; what the run of the edited program shows decides whether it is proposed.
"""
