"""What happens to everybody: processes die, and time passes."""

from typing import Annotated, ClassVar

from falsework.language import Upto, bound, elapse, fault, require, tick
from falsework.models.recoverable_invocation.race_reopen import Reopen
from falsework.models.recoverable_invocation.vocabulary import At, Who


class World(Reopen):
    """A crash is possible anywhere, and so is a pause, which is nothing but time passing."""

    DEATHS: ClassVar[int] = 1  # -1 is no limit

    deaths: Annotated[int, Upto("max(DEATHS, 0)")] = 0

    def can_die(self, who: Who) -> bool:
        return who not in (Who.ANOTHER, Who.GHOST) and self.at[who] not in (At.IDLE, At.DONE)

    @fault(source="act section 2")
    def die(self, who: Who) -> None:
        """The process is gone, its lease and what it sent are not; a run or an operator comes anew."""
        require(self.can_die(who) and (self.DEATHS < 0 or self.deaths < self.DEATHS))
        bound(self.in_flight[who] is None or self.in_flight[Who.GHOST] is None)
        self.deaths = 0 if self.DEATHS < 0 else self.deaths + 1
        self.bury(who)
        if self.in_flight[who] is not None:
            self.orphan(who)
        self.at[who] = At.DONE if who is Who.INVOCATION else At.IDLE
        self.forgets(who)
        if who is Who.INVOCATION:
            self.rests()

    @tick
    def pass_time(self) -> None:
        """Nobody is urgent, so whoever acts may be delayed for ever."""
        elapse(self)
        self.lapse()
        self.fence_commit()
        self.fence_writes()
