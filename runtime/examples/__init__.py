"""Adopters of Recoverable Invocation, small and whole: each binds one kind of act to a store of its own."""
