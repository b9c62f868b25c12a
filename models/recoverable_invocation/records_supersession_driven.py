"""The closings as the runtime is built: an operator's escalation waits, too, until the act is aged."""

from falsework.language import configuration
from falsework.models.recoverable_invocation.records_supersession import Fenced, Supersession


@configuration(holds=True)
class FencedAsBuilt(Fenced):
    """With the journal fence."""

    ESCALATES_THE_YOUNG = False


@configuration(breaks={Supersession.a_chain_of_three_is_one_closing: None})
class UnfencedAsBuilt(Supersession):
    """Without it: two closings, or a late write beside one; small enough to be driven."""

    CLOSINGS = 2
    ESCALATES_THE_YOUNG = False
    SMALL = True
