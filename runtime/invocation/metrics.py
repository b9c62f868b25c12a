"""The figures that an instance publishes, in the text that Prometheus reads."""

from collections import Counter
from collections.abc import Iterable

from falsework.runtime.invocation.answers import State
from falsework.runtime.invocation.attention import stands
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.findings import Condition, Finding
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.latency import SECONDS


def metrics(deployment: Deployment, indexes: Indexes, findings: Iterable[Finding], now: int) -> str:
    """Ages, counts and latencies of every bound kind, as they are at the instant."""
    states = indexes.counts()
    oldest = dict.fromkeys(deployment.kinds, 0)
    waiting = dict.fromkeys(deployment.kinds, 0)
    for intent in indexes.every_open_intent():
        if intent.kind in oldest and not indexes.gone(intent, now):
            oldest[intent.kind] = max(oldest[intent.kind], now - intent.recorded_at)
    for intent in indexes.every_escalated():
        if intent.kind in waiting:
            waiting[intent.kind] = max(waiting[intent.kind], now - intent.recorded_at)
    lines = _gauge("invocations", "Invocations in the journal by the state of their standing closing.")
    for kind in deployment.kinds:
        lines += [_line("invocations", states[kind, each], kind=kind, state=each.value) for each in State]
    about = "Age of the oldest intent without a closing; 0 for none."
    lines += _ages("oldest_open_intent_age_seconds", about, oldest)
    about = "Age of the oldest intent whose escalation nobody has resolved; 0 for none."
    lines += _ages("oldest_escalated_intent_age_seconds", about, waiting)
    lines += _lapsed(indexes, deployment)
    lines += _histogram(indexes, deployment)
    lines += _gauge(
        "findings", "Findings that stand: outages that have not ended, acts still open or rivalled."
    )
    standing_findings = Counter(found.finding for found in findings if stands(found, indexes, now))
    for condition in Condition:
        lines.append(_line("findings", standing_findings[condition], finding=condition.value))
    return "\n".join(lines) + "\n"


def _ages(name: str, about: str, ages: dict[str, int]) -> list[str]:
    return _gauge(name, about) + [_line(name, age / 1_000_000, kind=kind) for kind, age in ages.items()]


def _lapsed(indexes: Indexes, deployment: Deployment) -> list[str]:
    """Escalations that nobody can resolve any more."""
    name = "escalations_lapsed_total"
    found = indexes.lapsed()
    return [
        f"# HELP falsework_{name} Escalations seen to pass their horizon unresolved, since the start.",
        f"# TYPE falsework_{name} counter",
        *(_line(name, found[kind], kind=kind) for kind in deployment.kinds),
    ]


def _histogram(indexes: Indexes, deployment: Deployment) -> list[str]:
    """From the intent's record to that of the closing that ended it."""
    name = "closure_latency_seconds"
    lines = [
        f"# HELP falsework_{name} From an intent to its closing, of the closings read since the start.",
        f"# TYPE falsework_{name} histogram",
    ]
    for kind in deployment.kinds:
        found = indexes.latencies(kind)
        for bound, within in zip(SECONDS, found.within, strict=True):
            lines.append(_line(f"{name}_bucket", within, kind=kind, le=str(bound)))
        lines.append(_line(f"{name}_bucket", found.count, kind=kind, le="+Inf"))
        lines.append(_line(f"{name}_sum", found.total / 1_000_000, kind=kind))
        lines.append(_line(f"{name}_count", found.count, kind=kind))
    return lines


def _gauge(name: str, about: str) -> list[str]:
    return [f"# HELP falsework_{name} {about}", f"# TYPE falsework_{name} gauge"]


def _line(name: str, value: float, **labels: str) -> str:
    shown = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"falsework_{name}{{{shown}}} {value}"
