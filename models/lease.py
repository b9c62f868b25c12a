"""The lease: exclusive standing over one key until an instant, and a judge of acts who reads another clock.

Every instant is kept as what is left of it and falls to 0, so that a verdict holds for all time. Half-open,
everywhere: at 0 a lease has ended. A pause is nothing but time passing. Left out: what the key protects, how
long a grant should last, and further keys, for keys never meet.
"""

from enum import Enum
from typing import Annotated, ClassVar, Self

from falsework.language import (
    Below,
    Between,
    Countdown,
    Map,
    Model,
    Record,
    action,
    configuration,
    count,
    elapse,
    fault,
    given,
    implies,
    invariant,
    reachable,
    require,
    tick,
)

Answer = Enum("Answer", "GRANTED REENTERED WAITING UNAVAILABLE RELEASED NOT_HELD ADMITTED LATE")
Worker = Annotated[int, Below("WORKERS")]
Left = Annotated[int, Countdown("LEASE + 1")]  # one more than any lease has, so that one too long is seen
Instant = Annotated[int, Between("-ALLOWANCE", "LEASE")]  # as far from now as the host's clock says


class Act(Record):
    """The act on its way to the judge, if one was sent. Its worker's death does not stop it."""

    sent: bool = False

    instant: Annotated[int, Countdown("LEASE + max(LAG, 0)")] = 0  # what it carries, by the judge's clock
    lease: Left = 0  # what is left of the lease it was sent under, by the host's, which no judge reads


class Lease(Model):
    """The host grants the key to one worker at a time, and nothing but release and terminus ends a grant."""

    WORKERS: ClassVar[int] = 2
    LEASE: ClassVar[int] = 3
    ALLOWANCE: ClassVar[int] = 1
    LAG: ClassVar[int] = 0  # how far the judge's clock is behind the host's; ahead, if negative

    holder: Worker | None = None  # whose grant the host has stored; None also where that worker died
    left: Left = 0  # what is left of that grant
    standing: Map[Worker, Left] = Map(0)  # what is left of what each worker was granted
    waiting: Map[Worker, Left | None] = Map(None)  # what is left of the time until a waiter's last look
    entered_again: bool = False  # whether the stored grant was re-entered: only a witness looks
    act: Act = Act()  # any one act in flight: acts never meet, so one stands for all

    # The decisions, each by itself.

    def ended(self) -> bool:
        return self.left == 0

    def may_enter(self, worker: Worker) -> bool:
        return self.holder == worker

    def has_standing(self, worker: Worker) -> bool:
        return self.holder == worker and not self.ended()

    def term(self) -> int:
        return self.LEASE

    def reentered(self) -> int:
        return self.left

    def deadline(self) -> int:
        return self.left

    def gives_up(self, deadline: int) -> bool:
        return deadline == 0

    def minted(self) -> int:
        return self.left - self.ALLOWANCE

    def by_the_judge(self, instant: int) -> int:
        """How long the judge, LAG behind and admitting strictly before the instant, will still admit it."""
        return max(instant + self.LAG, 0)

    def in_time(self, act: Act) -> bool:
        return act.instant > 0

    # What a take does.

    def lets_in(self, worker: Worker) -> bool:
        return self.ended() or self.may_enter(worker)

    def entry(self) -> Answer:
        return Answer.GRANTED if self.ended() else Answer.REENTERED

    def enter(self, worker: Worker) -> None:
        self.entered_again = not self.ended()
        self.left = self.term() if self.ended() else self.reentered()
        self.holder = worker
        self.standing[worker] = self.left

    # The verbs.

    @action(source=("open step 2.1", "resolve 4", "reconcile step 2.1"))
    def ask(self, worker: Worker) -> Answer:
        """The first step of a take."""
        require(self.waiting[worker] is None)
        if not self.lets_in(worker):
            self.waiting[worker] = self.deadline()
            return Answer.WAITING
        answer = self.entry()
        self.enter(worker)
        return answer

    @action(source=("open step 2.2", "open step 2.3", "act section 5"))
    def poll(self, worker: Worker) -> Answer:
        """Every further step of a take: a look, early or at the deadline."""
        deadline = given(self.waiting[worker])
        if not self.lets_in(worker):
            if not self.gives_up(deadline):
                return Answer.WAITING
            self.waiting[worker] = None
            return Answer.UNAVAILABLE
        answer = self.entry()
        self.waiting[worker] = None
        self.enter(worker)
        return answer

    @action(source="act section 7")
    def try_take(self, worker: Worker) -> Answer:
        require(self.waiting[worker] is None)
        if not self.lets_in(worker):
            return Answer.UNAVAILABLE
        answer = self.entry()
        self.enter(worker)
        return answer

    @action(source="retry terminus 1")
    def remaining(self, worker: Worker) -> Left | None:
        return self.left if self.has_standing(worker) else None

    @action(source=("close step 4.2", "act section 6"))
    def release(self, worker: Worker) -> Answer:
        """A worker keeps the key until the judge has answered the act it sent under it."""
        if not self.has_standing(worker):
            return Answer.NOT_HELD
        require(self.act.lease == 0)
        self.left = 0
        self.holder = None
        self.entered_again = False
        self.standing[worker] = 0
        return Answer.RELEASED

    @action(source=("Allowance 7", "Allowance 10"))
    def mint(self, worker: Worker) -> Instant | None:
        """The worker sends an act with the instant; the one that was in flight is watched no longer."""
        if not self.has_standing(worker):
            return None
        instant = self.minted()
        self.act = Act(sent=True, instant=self.by_the_judge(instant), lease=self.standing[worker])
        return instant

    @action(source="Allowance 8")
    def admit(self) -> Answer:
        require(self.act.sent)
        in_time = self.in_time(self.act)
        self.act = Act()
        return Answer.ADMITTED if in_time else Answer.LATE

    @fault(source="act section 2")
    def die(self, worker: Worker) -> None:
        """The process dies, and one with a new id takes its place; the host learns nothing."""
        self.waiting[worker] = None
        self.standing[worker] = 0
        if self.holder == worker:
            self.holder = None

    @tick
    def pass_time(self) -> None:
        """A waiter whose deadline has come looks before time goes on."""
        require(all(deadline is None or deadline > 0 for deadline in self.waiting.values()))
        elapse(self)

    # What is true of every state.

    @invariant(source="act section 1")
    def one_worker_at_a_time_has_standing(self) -> bool:
        return count(left > 0 for left in self.standing.values()) <= 1

    @invariant(source="act section 1")
    def the_host_keeps_what_it_granted(self) -> bool:
        return all(
            left == 0 or (self.holder == worker and self.left == left)
            for worker, left in self.standing.items()
        )

    @invariant(source="open step 2.1")
    def no_worker_waits_for_what_it_holds(self) -> bool:
        return all(left == 0 or self.waiting[worker] is None for worker, left in self.standing.items())

    @invariant(source="act section 9")
    def an_act_in_flight_keeps_its_lease(self) -> bool:
        return self.act.lease in (0, self.left)

    # What is true of every step.

    @invariant(source="act section 1")
    def a_grant_is_made_only_when_no_lease_stands(self, before: Self) -> bool:
        gained = any(self.standing[worker] > left for worker, left in before.standing.items())
        return implies(gained, before.left == 0)

    @invariant(source="act section 1")
    def a_lease_is_granted_for_its_full_length(self, before: Self) -> bool:
        return implies(before.left == 0 and self.left > 0, self.left == self.LEASE)

    @invariant(source=("open step 2.2", "resolve 5", "reconcile step 2.2"))
    def a_wait_never_grows(self, before: Self) -> bool:
        return all(old is None or self.waits(worker) <= old for worker, old in before.waiting.items())

    # What is true of one action's steps, and of what it answers.

    @invariant(on=ask, source=("open step 2.2", "resolve 5", "reconcile step 2.2"))
    def a_wait_is_at_most_what_the_holder_has_left(
        self, before: Self, worker: Worker, answer: Answer
    ) -> bool:
        return implies(answer is Answer.WAITING, 0 < self.waits(worker) <= before.left)

    @invariant(on=ask, source="act section 14")
    def only_the_holder_reenters(self, before: Self, worker: Worker, answer: Answer) -> bool:
        return implies(answer is Answer.REENTERED, before.standing[worker] > 0)

    @invariant(on=ask, source=("act section 10b", "retry terminus 3"))
    def reentry_keeps_the_terminus(self, before: Self, answer: Answer) -> bool:
        return implies(answer is Answer.REENTERED, self.left == before.left)

    @invariant(on=poll, source=("open step 2.2", "open step 2.3"))
    def unavailable_means_that_another_holds_at_the_deadline(
        self, before: Self, worker: Worker, answer: Answer
    ) -> bool:
        return implies(answer is Answer.UNAVAILABLE, before.waiting[worker] == 0 and before.left > 0)

    @invariant(on=poll, source=("open step 2.2", "resolve 5", "reconcile step 2.2"))
    def the_look_at_the_deadline_is_the_last(self, before: Self, worker: Worker, answer: Answer) -> bool:
        return implies(answer is Answer.WAITING, before.waits(worker) > 0)

    @invariant(on=pass_time, source=("open step 2.2", "resolve 5", "reconcile step 2.2"))
    def nobody_waits_past_the_deadline(self, before: Self) -> bool:
        return all(deadline is None or deadline > 0 for deadline in before.waiting.values())

    @invariant(on=try_take, source="act section 7")
    def try_take_never_waits(self, worker: Worker) -> bool:
        return self.waiting[worker] is None

    @invariant(on=try_take, source="act section 7")
    def try_take_is_refused_only_while_another_holds(
        self, before: Self, worker: Worker, answer: Answer
    ) -> bool:
        return implies(answer is Answer.UNAVAILABLE, before.left > 0 and before.standing[worker] == 0)

    @invariant(on=remaining, source=("retry terminus 2", "close step 1.2"))
    def remaining_answers_the_truth(self, before: Self, worker: Worker, answer: Left | None) -> bool:
        if before.standing[worker] == 0:
            return answer is None
        return answer == before.standing[worker]

    @invariant(on=release, source=("close step 4.2", "act section 6"))
    def nobody_but_the_holder_releases(self, before: Self, worker: Worker, answer: Answer) -> bool:
        if before.standing[worker] == 0:
            return answer is Answer.NOT_HELD and self.left == before.left
        return answer is Answer.RELEASED and self.left == 0

    @invariant(on=admit, source=("Allowance 7", "Allowance 9", "act section 10a"))
    def an_admitted_act_is_within_its_lease(self, before: Self, answer: Answer) -> bool:
        return implies(answer is Answer.ADMITTED, before.act.lease > 0)

    @invariant(on=admit, source="Allowance 8")
    def an_act_is_judged_once(self, before: Self) -> bool:
        return before.act.sent and not self.act.sent

    @invariant(on=die, source="act section 2")
    def a_death_frees_nothing(self, before: Self) -> bool:
        return self.left == before.left

    def waits(self, worker: Worker) -> int:
        deadline = self.waiting[worker]
        return 0 if deadline is None else deadline

    # What must be able to happen.

    @reachable
    def a_wait_ends_with_the_lease(self) -> bool:
        """The look that follows is granted."""
        return self.left == 0 and any(deadline == 0 for deadline in self.waiting.values())

    @reachable
    def a_wait_ends_while_another_holds(self) -> bool:
        """The look that follows is answered UNAVAILABLE."""
        return self.left > 0 and any(deadline == 0 for deadline in self.waiting.values())

    @reachable
    def a_late_act_holds_up_no_release(self) -> bool:
        """The key is free before a waiter's deadline, so it was released, and an act is still in flight."""
        return self.left == 0 and self.act.sent and any(self.waits(worker) > 0 for worker in self.waiting)

    @reachable
    def the_lease_of_the_dead_runs_on(self) -> bool:
        return self.holder is None and self.left > 0

    @reachable
    def a_holder_reenters(self) -> bool:
        return self.entered_again

    @reachable
    def an_act_is_in_time(self) -> bool:
        """The judge admits it."""
        return self.act.sent and self.in_time(self.act)

    @reachable
    def an_act_is_too_late(self) -> bool:
        """The judge refuses it."""
        return self.act.sent and not self.in_time(self.act)

    @reachable
    def an_act_arrives_under_the_next_lease(self) -> bool:
        return self.act.sent and self.act.lease == 0 and self.left > 0


@configuration(holds=True)
class ClocksInStep(Lease):
    """The judge reads the host's instants: the allowance is spent and not needed."""

    LAG = 0


@configuration(holds=True)
class SkewedWithinAllowance(Lease):
    """The judge is as far behind as the allowance covers, and no further."""

    LAG = 1


@configuration(breaks={Lease.an_admitted_act_is_within_its_lease: 6})
class SkewedBeyondAllowance(Lease):
    """One tick further behind than the allowance covers, and an act lands on a lease that has ended."""

    LAG = 2


@configuration(holds=True)
class JudgeAhead(Lease):
    """A judge that runs ahead refuses too early, and never too late."""

    LAG = -1


@configuration(holds=True)
class ThreeWorkers(Lease):
    """A third worker may slip in between a waiter and the key it waits for."""

    WORKERS = 3
    LEASE = 2
