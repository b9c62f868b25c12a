"""The runtime's parts as a driver meets them: each performs a model's actions by name."""
