"""The figures that an instance publishes, in the text that Prometheus reads."""

from collections import Counter
from collections.abc import Iterable

from falsework.runtime.invocation.answers import State
from falsework.runtime.invocation.attention import stands
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.findings import Condition, Finding
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.standing import standing, state

SECONDS = (1, 5, 15, 45, 60, 120, 300, 600)
"""The upper bounds of the histogram of closure latencies."""


def metrics(deployment: Deployment, indexes: Indexes, findings: Iterable[Finding], now: int) -> str:
    """Ages, counts and latencies of every bound kind, as they are at the instant."""
    states: Counter[tuple[str, State]] = Counter()
    latencies: dict[str, list[int]] = {kind: [] for kind in deployment.kinds}
    oldest = dict.fromkeys(deployment.kinds, 0)
    for _, invocation in indexes.every_invocation():
        if not invocation.intents or invocation.intents[0].kind not in deployment.kinds:
            continue
        intent = invocation.intents[0]
        states[intent.kind, state(invocation.closings)] += 1
        closing = standing(invocation.closings)
        if closing is not None:
            latencies[intent.kind].append(closing.recorded_at - intent.recorded_at)
        elif not indexes.gone(intent, now):
            oldest[intent.kind] = max(oldest[intent.kind], now - intent.recorded_at)
    lines = _gauge("invocations", "Invocations in the journal by the state of their standing closing.")
    for kind in deployment.kinds:
        lines += [_line("invocations", states[kind, each], kind=kind, state=each.value) for each in State]
    lines += _gauge(
        "oldest_open_intent_age_seconds", "Age of the oldest intent without a closing; 0 for none."
    )
    for kind, age in oldest.items():
        lines.append(_line("oldest_open_intent_age_seconds", age / 1_000_000, kind=kind))
    lines += _histogram(latencies)
    lines += _gauge(
        "findings", "Findings that stand: outages that have not ended, acts still open or rivalled."
    )
    standing_findings = Counter(found.finding for found in findings if stands(found, indexes, now))
    for condition in Condition:
        lines.append(_line("findings", standing_findings[condition], finding=condition.value))
    return "\n".join(lines) + "\n"


def _histogram(latencies: dict[str, list[int]]) -> list[str]:
    """From the intent's record to that of its standing closing."""
    name = "closure_latency_seconds"
    lines = [
        f"# HELP falsework_{name} From an intent's record to that of its standing closing.",
        f"# TYPE falsework_{name} histogram",
    ]
    for kind, found in latencies.items():
        for bound in SECONDS:
            within = sum(latency <= bound * 1_000_000 for latency in found)
            lines.append(_line(f"{name}_bucket", within, kind=kind, le=str(bound)))
        lines.append(_line(f"{name}_bucket", len(found), kind=kind, le="+Inf"))
        lines.append(_line(f"{name}_sum", sum(found) / 1_000_000, kind=kind))
        lines.append(_line(f"{name}_count", len(found), kind=kind))
    return lines


def _gauge(name: str, about: str) -> list[str]:
    return [f"# HELP falsework_{name} {about}", f"# TYPE falsework_{name} gauge"]


def _line(name: str, value: float, **labels: str) -> str:
    shown = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"falsework_{name}{{{shown}}} {value}"
