"""The runtime's parts as a driver meets them: each performs the actions of a model that it knows by name only."""
