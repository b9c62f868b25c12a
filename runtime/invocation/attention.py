"""Which findings still want a person: an outage that stands, an act that is still open, or closed twice."""

from falsework.runtime.invocation.findings import Condition, Finding
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.standing import duplicated
from falsework.runtime.trail import Unavailable


def stands(finding: Finding, indexes: Indexes, now: int) -> bool:
    """Whether what was found is still so, as the journal says it now.

    A finding of an act carries no end: it is kept, and the journal tells what has become of the act.
    """
    if finding.invocation_id is None:
        return finding.closed_at is None
    assert finding.kind is not None, "a finding of an act names it"
    assert finding.act_key is not None, "a finding of an act names it"
    invocation = indexes.of((finding.kind, finding.act_key), finding.invocation_id)
    if isinstance(invocation, Unavailable):
        return True  # nobody can tell that it is over
    if duplicated(invocation.closings):
        return True
    still_open = invocation.open and not any(indexes.gone(intent, now) for intent in invocation.intents)
    if finding.finding is Condition.BINDING_DUPLICATE and still_open:
        act = (invocation.intents[0].kind, invocation.intents[0].act_key)
        return len(indexes.open_intents(act, now)) > 1
    return still_open
