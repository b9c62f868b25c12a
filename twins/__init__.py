"""The twins of the shipped models: each is wrong on purpose, in one declared way."""
