"""The twins of the classic models."""
