"""The records slices of Recoverable Invocation, as a driver meets them on the real runtime and a store."""
