"""The twins of the slices of Recoverable Invocation."""
