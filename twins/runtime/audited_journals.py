"""Wrong runtimes judged by the journals that they leave: each breaks there what it declares.

The numbers are snapshots: one before the act's first record, one after each. A second closing beside the
first is the third record of an act: it is in the fourth snapshot of Race, and in the third of Supersession.
"""

from falsework.conformance import runtime_twin
from falsework.models.recoverable_invocation.race import Race
from falsework.models.recoverable_invocation.records_supersession import Supersession
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.subjects.audited import CREDENTIALS, OPERATOR, AuditedRace, AuditedSupersession
from falsework.twins.runtime.audited import (
    Stranger,
    TrailThatRetriesBlind,
    TrailWithoutFence,
    closes_under_another,
    outage_is_an_answer,
    probing,
    through,
    trusts_a_stale_index,
)


@runtime_twin(breaks={Race.no_two_closings_stand: 4})
class RaceWithoutFence(AuditedRace):
    """The journal's fence is declared and never applied: who slept behind its gate still closes."""

    def bend(self, parties: Parties) -> None:
        through(TrailWithoutFence)(parties)


@runtime_twin(breaks={Race.no_two_closings_stand: 4})
class RaceOfBlindRetries(AuditedRace):
    """A reply that is lost is taken for a failure, and the closing written again."""

    def bend(self, parties: Parties) -> None:
        through(TrailThatRetriesBlind)(parties)


@runtime_twin(breaks={Race.no_two_closings_stand: 4, Race.two_runs_never_close_one_act: 4})
class RaceOfStaleIndexes(AuditedRace):
    """A run believes its maps under the section, and closes what another run has closed meanwhile."""

    def bend(self, parties: Parties) -> None:
        trusts_a_stale_index(parties)


@runtime_twin(breaks={Race.nothing_abandoned_ever_happens: 3})
class RaceOfOutagesRead(AuditedRace):
    """A gateway that is away is taken for one that holds no charge."""

    def bend(self, parties: Parties) -> None:
        probing(outage_is_an_answer)(parties)


@runtime_twin(breaks={"values_stay_in_domain": 3})
class RaceOfStrangers(AuditedRace):
    """The sweep closes under an operator's credential: no writer of the model has written that."""

    def bend(self, parties: Parties) -> None:
        closes_under_another(Stranger(OPERATOR, CREDENTIALS[OPERATOR]))(parties)


@runtime_twin(breaks={Supersession.under_the_fence_every_closing_is_one: 3})
class SupersessionWithoutFence(AuditedSupersession):
    """Likewise: the late closing and the sweep's are rivals, which the fence should have kept out."""

    def bend(self, parties: Parties) -> None:
        through(TrailWithoutFence)(parties)
