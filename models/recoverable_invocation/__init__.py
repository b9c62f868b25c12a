"""Recoverable Invocation, one slice a module: an irreversible act, and whoever completes its account."""
