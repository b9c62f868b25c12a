"""The narrow store: its verbs are the durable boundaries, and it names no database."""

from falsework.runtime.store.contract import (
    Failpoint,
    Question,
    Row,
    Store,
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreRefused,
    StoreUnknown,
    StoreUnreachable,
    Transaction,
    Value,
    boundaries,
    pass_through,
)

__all__ = [
    "Failpoint",
    "Question",
    "Row",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreFailed",
    "StoreRefused",
    "StoreUnknown",
    "StoreUnreachable",
    "Transaction",
    "Value",
    "boundaries",
    "pass_through",
]
