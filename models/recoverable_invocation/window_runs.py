"""The runs of the window slice: acts whose invocations died, runs at a cadence, and whoever is in the way.

Only orphans are here: what an invocation closes by itself needs no window. A holder in the way is an Open of
the same act that died or stalls (it holds for the completion bound), an operator, or a run that died (for the
sweep's lease). A run reads the clock once, when it starts; all else is true time, kept as ages and what is
left, so that a verdict holds for all time. Left out: what is written, and by whom (see race and records).
"""

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Between,
    Countdown,
    Elapsed,
    Map,
    Record,
    action,
    count,
    elapse,
    fault,
    given,
    internal,
    replace,
    require,
    tick,
)
from falsework.models.recoverable_invocation.window_figures import LEASE, RUN, WINDOW, Counted, Figures

Listing = Enum("Listing", "LEFT KEPT RIPE")  # RIPE: past the abandon edge, as the run's reading says
Holder = Enum("Holder", "OPEN OPERATOR")

Act = Annotated[int, Below("ACTS")]
Held = Annotated[int, Countdown(LEASE)]
Offset = Annotated[int, Between("-ALLOWANCE", "ALLOWANCE")]


class Intent(Record):
    """An act whose account is owed: its age, and what the run in flight has listed it as."""

    age: Annotated[int, Elapsed(f"{WINDOW} + {RUN} + CADENCE + BEYOND")] = 0
    listing: Listing = Listing.LEFT
    at_risk: bool = False  # whether the run will surface it, if it is still open at the run's end
    crossed: bool = False  # whether a run was in flight, without it, when it crossed its edge
    died: bool = False  # whether a run has died since it was recorded
    slipped: bool = False  # whether somebody slipped in before a run that waited for it


class Run(Record):
    """A run in flight: how long it has lasted, and the act that it waits for or closes."""

    spent: Annotated[int, Elapsed(f"{RUN} + {LEASE} + CLOSURE + BEYOND + 1")] = 0
    at: Act | None = None
    closing: bool = False
    left: Held = 0  # of the wait, or of the closure
    lands: bool = False  # whether it listed anything that it may land


class Runs(Figures):
    """Orphans, runs at a cadence, holders in the way, and time."""

    REPORT_ONLY: ClassVar[bool] = False  # no service identity: a run surfaces what is at risk
    ANY_RUN_DIES: ClassVar[bool] = True  # once in an act's life; else no run that is to surface something
    SLIPS: ClassVar[bool] = False  # once in an act's life, somebody takes what a run has waited for
    BOTH: ClassVar[bool] = False  # a death and a slip in the life of one act
    BEYOND: ClassVar[int] = 0  # how much longer than its bound a run lasts that lands nothing

    acts: Map[Act, Intent | None] = Map(None)
    held: Map[Act, Held] = Map(0)  # what is left of the section's lease, whoever has it
    run: Run | None = None
    due: Annotated[int, Countdown("CADENCE + CADENCE")] = 0  # until the next run is due

    # What a run reads and decides.

    def listed(self, reading: int) -> Listing:
        if not self.keeps(reading):
            return Listing.LEFT
        return Listing.RIPE if self.ripe(reading) else Listing.KEPT

    def lands(self, listing: Listing) -> bool:
        """Whether the examination of an act so listed ends with a closing record."""
        if self.REPORT_ONLY:
            return False
        return listing is Listing.RIPE if self.FENCED else listing is not Listing.LEFT

    def surfaces(self, intent: Intent) -> bool:
        return self.REPORT_ONLY and intent.at_risk

    def waits(self) -> bool:
        return True

    def is_free(self, act: Act) -> bool:
        """The host's decision."""
        return self.held[act] == 0

    def lease_of_the_dead(self) -> int:
        return self.COMPLETION_BOUND

    def lease_of(self, holder: Holder) -> int:
        return self.COMPLETION_BOUND if holder is Holder.OPEN else self.sweep_lease()

    def may_start(self) -> bool:
        """A restart may start a run before it is due; a scheduler's tick comes when it comes."""
        return self.run is None and (self.due == 0 or self.CADENCE_COUNTED is not Counted.AS_TICKS)

    def rests(self) -> int:
        """After a run has ended: how long until the next is due."""
        return self.CADENCE if self.CADENCE_COUNTED is Counted.FROM_THE_END else self.due

    def rests_after_a_death(self) -> int:
        return self.rests()

    def next_tick(self) -> int:
        """After a tick that started nothing."""
        return self.CADENCE

    def may_die(self) -> bool:
        """The budget: one dead run in the life of an act."""
        budget = all(intent is None or not intent.died for intent in self.acts.values())
        return self.run is not None and budget

    def may_slip(self, intent: Intent) -> bool:
        return self.SLIPS and not intent.slipped and (self.BOTH or not intent.died)

    # The others.

    @action(source="Invariant 4.1")
    def orphan(self, act: Act) -> None:
        """An intent is recorded, and its invocation dies with the section held."""
        require(self.acts[act] is None)
        self.acts[act] = Intent()
        self.held[act] = self.lease_of_the_dead()

    @fault(source="act section 14")
    def hold(self, act: Act, holder: Holder) -> None:
        """Another holder of the section, which does not let go; a run that waits comes first."""
        intent = given(self.acts[act])
        require(self.is_free(act))
        waited_for = self.run is not None and self.run.at == act
        require(not waited_for or self.may_slip(intent))
        self.acts[act] = replace(intent, slipped=intent.slipped or waited_for)
        self.held[act] = self.lease_of(holder)

    # The runs.

    @action(source=("reconcile step 1.2", "reconcile step 1.3", "Primitive policy 18"))
    def begin(self, offset: Offset) -> None:
        """A run reads the clock, which is that far from true time, and lists what it will examine."""
        require(self.may_start())
        lands = False
        for act in self.acts:
            intent = self.acts[act]
            if intent is not None:
                reading = intent.age + offset
                listing = self.listed(reading)
                at_risk = self.REPORT_ONLY and reading >= self.threshold()
                self.acts[act] = replace(intent, listing=listing, at_risk=at_risk)
                lands = lands or self.lands(listing)
        self.run = Run(lands=lands)
        self.due = 0 if self.CADENCE_COUNTED is Counted.FROM_THE_END else self.CADENCE

    @internal(source=("reconcile step 2.1", "reconcile step 2.2"))
    def examine(self, act: Act) -> None:
        """The run takes the section, or waits as long as whoever has it may have it."""
        run = given(self.run)
        intent = given(self.acts[act])
        require(run.at is None and intent.listing is not Listing.LEFT)
        if self.is_free(act):
            self.enter(run, act)
        elif self.waits():
            self.run = replace(run, at=act, left=self.held[act])
        else:
            self.acts[act] = replace(intent, listing=Listing.LEFT)

    @internal(source=("act section 11", "reconcile step 2.2", "reconcile step 2.3"))
    def take(self) -> None:
        """The wait is over: the section is free, or somebody slipped in, and the next run sees to the act."""
        run = given(self.run)
        act = given(run.at)
        intent = given(self.acts[act])
        require(not run.closing)
        if self.is_free(act):
            self.enter(run, act)
        else:
            require(run.left == 0)
            self.acts[act] = replace(intent, listing=Listing.LEFT)
            self.run = replace(run, at=None)

    def enter(self, run: Run, act: Act) -> None:
        self.held[act] = self.sweep_lease()
        self.run = replace(run, at=act, closing=True, left=self.CLOSURE)

    def release(self, act: Act) -> None:
        self.held[act] = 0

    @internal(source=("act section 12", "reconcile step 3.4", "reconcile step 3.6a", "reconcile 2c"))
    def finish(self) -> None:
        """The closure lands, or nothing may be written; the section is free."""
        run = given(self.run)
        act = given(run.at)
        intent = given(self.acts[act])
        require(run.closing)
        self.release(act)
        self.acts[act] = None if self.lands(intent.listing) else replace(intent, listing=Listing.LEFT)
        self.run = replace(run, at=None, closing=False, left=0)

    @action(source=("reconcile step 5.1", "reconcile 2e"))
    def end(self) -> None:
        """All that was listed was examined; what is at risk is surfaced, and an operator will close it."""
        run = given(self.run)
        require(run.at is None and self.unexamined() == 0)
        for act in self.acts:
            intent = self.acts[act]
            if intent is not None:
                surfaced = self.surfaces(intent)
                self.acts[act] = None if surfaced else self.unlisted(intent)
                self.held[act] = 0 if surfaced else self.held[act]
        self.run = None
        self.due = self.rests()

    def unlisted(self, intent: Intent) -> Intent:
        """A list is in the memory of its run and nowhere else."""
        return replace(intent, listing=Listing.LEFT, at_risk=False)

    @fault
    def die(self) -> None:
        """A run dies; the section that it holds stays held until the lease ends."""
        require(self.may_die())
        require(self.ANY_RUN_DIES or all(i is None or not i.at_risk for i in self.acts.values()))
        require(self.BOTH or all(i is None or not i.slipped for i in self.acts.values()))
        for act in self.acts:
            intent = self.acts[act]
            if intent is not None:
                self.acts[act] = replace(self.unlisted(intent), died=True)
        self.run = None
        self.due = self.rests_after_a_death()

    # Time.

    def unexamined(self) -> int:
        return count(
            intent is not None and intent.listing is not Listing.LEFT for intent in self.acts.values()
        )

    def longest(self, run: Run) -> int:
        return self.run_bound if run.lands else self.run_bound + self.BEYOND

    def is_urgent(self, run: Run) -> bool:
        """Waiting and closing take their time; else a run dallies as far as its bound allows."""
        if run.at is not None and (run.closing or run.left > 0):
            return run.left == 0
        waited = 0 if run.at is None else self.run_floor() - self.CLOSURE
        return run.spent + 1 + self.unexamined() * self.run_floor() - waited > self.longest(run)

    @tick
    def pass_time(self) -> None:
        run = self.run
        require(self.due > 0 if run is None else not self.is_urgent(run))
        elapse(self)
        if self.due == 0 and run is not None and self.CADENCE_COUNTED is Counted.AS_TICKS:
            self.due = self.next_tick()  # a tick beside a run in flight starts nothing
        for act in self.acts:
            intent = self.acts[act]
            if intent is not None and run is not None and intent.age == self.last_edge():
                self.acts[act] = replace(intent, crossed=not self.lands(intent.listing))
