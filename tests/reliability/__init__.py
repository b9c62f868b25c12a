"""Faults made on purpose: processes killed and stopped, schedules simulated, and one account of the rest."""
