"""Runtimes that are wrong on purpose, which the conformance suite must reject."""
