"""What simple models say about the data: signal, doubtful labels, samples that are nearly the same."""
