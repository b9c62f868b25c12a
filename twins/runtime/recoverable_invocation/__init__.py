"""Runtimes of Recoverable Invocation that are wrong on purpose, a module a slice."""
