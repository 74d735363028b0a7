"""Assertions of paramedic.testing beside those of other packages."""
