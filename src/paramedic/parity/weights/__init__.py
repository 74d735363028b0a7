"""Weights from one layout to another: every framework's layers in torch's layout and back."""
