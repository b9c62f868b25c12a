"""How leases go wrong in the field: one mistake a class.

Step counts: a lease lasts three ticks, so whatever needs its end takes a take, three ticks and one step more.
"""

from falsework.language import elapse, given, require, twin
from falsework.models.lease import Act, Answer, Instant, Lease, Left, SkewedWithinAllowance, Worker


@twin(
    breaks={
        Lease.a_death_frees_nothing: 2,
        Lease.an_act_in_flight_keeps_its_lease: 3,  # take, send, die
        Lease.the_lease_of_the_dead_runs_on: None,
    }
)
class HostThatFreesOnDeath(Lease):
    """A lost connection is taken for a death and frees the key, while an act of the holder is in flight."""

    def die(self, worker: Worker) -> None:
        if self.holder == worker:
            self.left = 0
        super().die(worker)


@twin(
    breaks={
        Lease.a_grant_is_made_only_when_no_lease_stands: 4,  # take, two ticks, a second take
        Lease.one_worker_at_a_time_has_standing: 4,
        Lease.the_host_keeps_what_it_granted: 4,
        Lease.remaining_answers_the_truth: 4,
        Lease.nobody_but_the_holder_releases: 4,
        Lease.an_act_in_flight_keeps_its_lease: 5,
    }
)
class HostThatEndsATickEarly(Lease):
    """The host rounds the time that is left down, and gives the key away under its holder's last tick."""

    def ended(self) -> bool:
        return self.left <= 1


@twin(
    breaks={
        Lease.a_lease_is_granted_for_its_full_length: 1,  # every grant is wrong: nothing else is reached
        Lease.a_wait_ends_with_the_lease: None,
        Lease.a_wait_ends_while_another_holds: None,
        Lease.a_late_act_holds_up_no_release: None,
        Lease.the_lease_of_the_dead_runs_on: None,
        Lease.a_holder_reenters: None,
        Lease.an_act_is_in_time: None,
        Lease.an_act_is_too_late: None,
        Lease.an_act_arrives_under_the_next_lease: None,
    }
)
class TerminusCountedIn(Lease):
    """The comparison is closed: at its terminus the lease still stands, one tick more than was granted."""

    def term(self) -> int:
        return self.LEASE + 1


@twin(
    breaks={
        Lease.reentry_keeps_the_terminus: 3,  # a tick must pass, or there is nothing to lengthen
        Lease.a_grant_is_made_only_when_no_lease_stands: 3,
        Lease.an_act_in_flight_keeps_its_lease: 4,
    }
)
class ReentryThatLengthens(Lease):
    """Taking again renews the lease, so a waiter waits for a terminus that moves."""

    def reentered(self) -> int:
        return self.LEASE


@twin(
    breaks={
        Lease.only_the_holder_reenters: 2,
        Lease.a_grant_is_made_only_when_no_lease_stands: 2,
        Lease.one_worker_at_a_time_has_standing: 2,
        Lease.the_host_keeps_what_it_granted: 2,
        Lease.a_wait_ends_with_the_lease: None,  # nobody waits any more
        Lease.a_wait_ends_while_another_holds: None,
        Lease.a_late_act_holds_up_no_release: None,
    }
)
class ReentryOfAnybody(Lease):
    """The lock is the process's and not the worker's, so whoever shares the process walks in."""

    def may_enter(self, worker: Worker) -> bool:
        return True


@twin(breaks={Lease.a_wait_is_at_most_what_the_holder_has_left: 3})
class WaitOfAFullLease(Lease):
    """The timeout of a take is a setting, the same however little the holder has left."""

    def deadline(self) -> int:
        return self.LEASE


@twin(breaks={Lease.a_wait_never_grows: 6})
class WaitThatFollowsTheHolder(Lease):
    """Each look reads the terminus anew, so that a waiter who is overtaken again and again waits for ever."""

    # Both take; a tick, for the wait to be shorter than a lease; release, a new take, and the look.
    def poll(self, worker: Worker) -> Answer:
        deadline = given(self.waiting[worker])
        if not self.lets_in(worker):
            if not self.gives_up(deadline):
                self.waiting[worker] = self.left
                return Answer.WAITING
            self.waiting[worker] = None
            return Answer.UNAVAILABLE
        answer = self.entry()
        self.waiting[worker] = None
        self.enter(worker)
        return answer


@twin(breaks={Lease.unavailable_means_that_another_holds_at_the_deadline: 3})
class WaitOfOneLook(Lease):
    """A waiter that is woken early and finds the key taken goes home."""

    def gives_up(self, deadline: int) -> bool:
        return True


@twin(breaks={Lease.the_look_at_the_deadline_is_the_last: 7})
class WaitWithoutEnd(Lease):
    """A waiter whose deadline has come waits on, because somebody took the key before it."""

    # Two takes, three ticks, the first worker's new take, and the look: only a new lease outlasts a wait.
    def gives_up(self, deadline: int) -> bool:
        return False


@twin(breaks={Lease.unavailable_means_that_another_holds_at_the_deadline: 6})
class WaitWithoutALastLook(Lease):
    """The timer is asked before the key, so a waiter is refused at the very instant that frees it."""

    def poll(self, worker: Worker) -> Answer:
        deadline = given(self.waiting[worker])
        if self.gives_up(deadline):
            self.waiting[worker] = None
            return Answer.UNAVAILABLE
        if not self.lets_in(worker):
            return Answer.WAITING
        answer = self.entry()
        self.waiting[worker] = None
        self.enter(worker)
        return answer


@twin(breaks={Lease.nobody_waits_past_the_deadline: 6})
class WaitOverslept(Lease):
    """The wait is a sleep that nothing ends on time."""

    # Two takes and three ticks to the deadline, and one tick past it.
    def pass_time(self) -> None:
        elapse(self)


@twin(
    breaks={
        Lease.try_take_never_waits: 3,
        Lease.no_worker_waits_for_what_it_holds: 4,  # two takes, a release, and a take of who waits
    }
)
class TryTakeBesideAWait(Lease):
    """A worker's second thread takes while its first one waits, and the wait goes on for a key it has."""

    def try_take(self, worker: Worker) -> Answer:
        if not self.lets_in(worker):
            return Answer.UNAVAILABLE
        answer = self.entry()
        self.enter(worker)
        return answer


@twin(breaks={Lease.try_take_never_waits: 2})
class TryTakeThatWaits(Lease):
    """Trying is taking with a timeout, and the timeout was not set to nothing."""

    def try_take(self, worker: Worker) -> Answer:
        require(self.waiting[worker] is None)
        if not self.lets_in(worker):
            self.waiting[worker] = self.deadline()
            return Answer.WAITING
        answer = self.entry()
        self.enter(worker)
        return answer


@twin(
    breaks={
        Lease.a_grant_is_made_only_when_no_lease_stands: 2,
        Lease.one_worker_at_a_time_has_standing: 2,
        Lease.the_host_keeps_what_it_granted: 2,
        Lease.an_act_in_flight_keeps_its_lease: 4,  # a tick must pass, for the stolen lease to be another one
    }
)
class TryTakeThatSteals(Lease):
    """Whoever does not wait writes the row without reading it."""

    def try_take(self, worker: Worker) -> Answer:
        require(self.waiting[worker] is None)
        self.left = self.term()
        self.holder = worker
        self.standing[worker] = self.left
        return Answer.GRANTED


@twin(breaks={Lease.try_take_is_refused_only_while_another_holds: 2})
class TryTakeWithoutReentry(Lease):
    """Trying asks whether the key is taken and not by whom, so that a holder is refused its own."""

    def try_take(self, worker: Worker) -> Answer:
        require(self.waiting[worker] is None)
        if not self.ended():
            return Answer.UNAVAILABLE
        self.enter(worker)
        return Answer.GRANTED


@twin(breaks={Lease.remaining_answers_the_truth: 2})
class RemainingOfAnybody(Lease):
    """What is left is read from the row and not from the asker's own grant."""

    def remaining(self, worker: Worker) -> Left | None:
        return None if self.ended() else self.left


@twin(
    breaks={
        Lease.remaining_answers_the_truth: 5,  # take, three ticks, and the question at the terminus
        Lease.nobody_but_the_holder_releases: 5,
    }
)
class StandingPastTheTerminus(Lease):
    """The row still names the worker, so the worker still holds: nobody looks at the clock."""

    def has_standing(self, worker: Worker) -> bool:
        return self.holder == worker


@twin(breaks={Lease.nobody_but_the_holder_releases: 2, Lease.the_host_keeps_what_it_granted: 2})
class ReleaseByAnybody(Lease):
    """A release deletes the key's row, whoever stands in it."""

    def release(self, worker: Worker) -> Answer:
        if self.ended():
            return Answer.NOT_HELD
        require(self.act.lease == 0)
        self.left = 0
        self.holder = None
        self.entered_again = False
        self.standing[worker] = 0
        return Answer.RELEASED


@twin(breaks={Lease.an_act_in_flight_keeps_its_lease: 3})
class ReleaseWithAnActInFlight(Lease):
    """The worker sends its act, does not wait for the answer, and gives the key back."""

    def release(self, worker: Worker) -> Answer:
        if not self.has_standing(worker):
            return Answer.NOT_HELD
        self.left = 0
        self.holder = None
        self.entered_again = False
        self.standing[worker] = 0
        return Answer.RELEASED


# A late act takes a take, the sending, three ticks to the end of its lease, and the judgement.
@twin(breaks={Lease.an_admitted_act_is_within_its_lease: 6}, within=SkewedWithinAllowance)
class BareInstant(Lease):
    """The terminus itself travels, and a judge one tick behind admits for one tick too long."""

    def minted(self) -> int:
        return self.left


@twin(breaks={Lease.an_admitted_act_is_within_its_lease: 6}, within=SkewedWithinAllowance)
class JudgeOfTheInstantItself(Lease):
    """The judge compares with <= and admits an act at its instant."""

    def by_the_judge(self, instant: int) -> int:
        return super().by_the_judge(instant + 1)


@twin(breaks={Lease.an_admitted_act_is_within_its_lease: 6, Lease.an_act_is_too_late: None})
class StoreWithoutAJudge(Lease):
    """Nobody compares the instant with a clock, so a worker that slept through its lease still acts."""

    def in_time(self, act: Act) -> bool:
        return True


@twin(breaks={Lease.an_admitted_act_is_within_its_lease: 3})
class ActOfAStranger(Lease):
    """The instant is minted from the row without asking whose lease it is: one takes, the other acts."""

    def mint(self, worker: Worker) -> Instant | None:
        instant = self.minted()
        self.act = Act(sent=True, instant=self.by_the_judge(instant), lease=self.standing[worker])
        return instant


@twin(breaks={Lease.an_act_is_judged_once: 3})
class ActJudgedAgain(Lease):
    """The judge leaves an admitted act in its queue, and it lands a second time."""

    def admit(self) -> Answer:
        require(self.act.sent)
        return Answer.ADMITTED if self.in_time(self.act) else Answer.LATE
