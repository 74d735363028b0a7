"""What the audit finds in planted faults, what it says of healthy sets, and how fast it is, beside its peers."""
