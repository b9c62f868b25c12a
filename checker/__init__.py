"""Formal models first, every model with its wrong twins, and the runtime under the same invariants."""

__version__ = "0.1.0"
