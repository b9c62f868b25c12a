"""Recoverable Invocation, one slice a module: an irreversible act, and its account, which somebody finishes."""
