"""The auditor: checks 1 to 8 by code that no writer of the runtime shares."""
