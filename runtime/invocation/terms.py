"""The instants and spans that the protocol compares with: each edge with the allowance it is owed."""

from falsework.runtime.invocation.figures import Figures, Kind


def examine_edge(kind: Kind, figures: Figures, recorded_at: int) -> int:
    """From here on an intent is aged: by any clock of the instance its invocation's lease has ended."""
    return recorded_at + kind.completion_bound + figures.clock_offset_allowance


def abandon_edge(kind: Kind, figures: Figures, recorded_at: int) -> int:
    """From here on a fenced store that holds nothing never will: one more allowance, for its own clock."""
    return examine_edge(kind, figures, recorded_at) + figures.clock_offset_allowance


def horizon_edge(kind: Kind, figures: Figures, recorded_at: int) -> int:
    """From here on the act's closings may be purged, so that nobody may close it again."""
    return recorded_at + kind.retention_period - figures.clock_offset_allowance


def retention_end(kind: Kind, recorded_at: int) -> int:
    """From here on the intent counts as gone, whether it is purged or not."""
    return recorded_at + kind.retention_period


def in_flight(kind: Kind, figures: Figures, recorded_at: int, now: int) -> bool:
    """Whether the intent's invocation may still be at work."""
    return examine_edge(kind, figures, recorded_at) > now


def at_risk_threshold(figures: Figures) -> int:
    """The age at which what is still ahead of an intent no longer fits into its window."""
    return (
        figures.compensation_window
        - 2 * figures.run_bound
        - figures.reconciliation_cadence
        - figures.clock_offset_allowance
    )
