"""Lease hosts and judges that are wrong on purpose: one joint of the runtime bent in each.

Step counts are those of the model: a lease lasts three ticks, so what needs its end takes a take and three
ticks.
"""

from falsework.conformance.subject import runtime_twin
from falsework.models.lease import Lease
from falsework.runtime.lease import Judge, LeaseHost, LeaseRow, Waiting
from falsework.runtime.subjects.lease import LeaseSubject

RELEASE_ON_LOSS = "lease.connection_lost"


class _FreesOnDeath(LeaseHost):
    def connection_lost(self, holder: str) -> None:
        with self.store.transaction(RELEASE_ON_LOSS) as transaction:
            transaction.execute("DELETE FROM lease WHERE holder = ?", (holder,))


@runtime_twin(
    breaks={
        Lease.a_death_frees_nothing: 2,
        Lease.an_act_in_flight_keeps_its_lease: 3,  # take, send, die
    }
)
class HostThatFreesOnDeath(LeaseSubject):
    """A lost connection is taken for a death, and frees the key while an act may be in flight."""

    host_class = _FreesOnDeath


class _AdmitsWhateverArrives(Judge):
    def in_time(self, instant: int, now: int) -> bool:
        return True


# A late act takes a take, the sending, three ticks to the end of its lease, and the judgement.
@runtime_twin(breaks={Lease.an_admitted_act_is_within_its_lease: 6})
class JudgeThatLetsAStaleHolderAct(LeaseSubject):
    """The judge compares nothing, so a worker that slept through its lease still acts."""

    judge_class = _AdmitsWhateverArrives


class _Renews(LeaseHost):
    def reentered(self, row: LeaseRow, wanted: LeaseRow) -> LeaseRow:
        return wanted


@runtime_twin(
    breaks={
        Lease.reentry_keeps_the_terminus: 3,  # a tick must pass, or there is nothing to lengthen
        Lease.a_grant_is_made_only_when_no_lease_stands: 3,
        Lease.an_act_in_flight_keeps_its_lease: 4,
    }
)
class ReentryThatLengthens(LeaseSubject):
    """Taking again renews the lease, so a waiter waits for a terminus that moves."""

    host_class = _Renews


class _LetsAnybodyIn(LeaseHost):
    def may_enter(self, row: LeaseRow, holder: str) -> bool:
        return True


@runtime_twin(
    breaks={
        Lease.only_the_holder_reenters: 2,
        Lease.a_grant_is_made_only_when_no_lease_stands: 2,
        Lease.one_worker_at_a_time_has_standing: 2,
        Lease.the_host_keeps_what_it_granted: 2,
    }
)
class ReentryOfAnybody(LeaseSubject):
    """The lock is the process's and not the worker's, so whoever shares the process walks in."""

    host_class = _LetsAnybodyIn


class _WaitsOneTickLonger(LeaseHost):
    def deadline(self, row: LeaseRow) -> int:
        return row.expires_at + 1


@runtime_twin(breaks={Lease.a_wait_is_at_most_what_the_holder_has_left: 2})
class WaitBeyondTheRemainingLease(LeaseSubject):
    """A margin is added to the wait, so that it outlasts the lease it waits for."""

    host_class = _WaitsOneTickLonger


class _NeverGivesUp(LeaseHost):
    def gives_up(self, waiting: Waiting, now: int) -> bool:
        return False


@runtime_twin(breaks={Lease.the_look_at_the_deadline_is_the_last: 7})
class WaitWithoutEnd(LeaseSubject):
    """A waiter whose deadline has come waits on, because somebody took the key before it."""

    host_class = _NeverGivesUp


class _CountsTheTerminusIn(LeaseHost):
    def ended(self, row: LeaseRow, now: int) -> bool:
        return now > row.expires_at


@runtime_twin(
    breaks={  # a take and three ticks, and whatever is asked at the terminus
        Lease.remaining_answers_the_truth: 5,
        Lease.nobody_but_the_holder_releases: 5,
        Lease.only_the_holder_reenters: 5,
        Lease.a_wait_is_at_most_what_the_holder_has_left: 5,
        Lease.try_take_is_refused_only_while_another_holds: 5,
        Lease.unavailable_means_that_another_holds_at_the_deadline: 6,
    }
)
class TerminusCountedIn(LeaseSubject):
    """The comparison is closed: at its terminus the lease still stands."""

    host_class = _CountsTheTerminusIn


class _MintsBare(LeaseHost):
    def minted(self, row: LeaseRow, allowance: int) -> int:
        return row.expires_at


# The instant departs at the second step already; what it does comes at the sixth.
@runtime_twin(breaks={Lease.an_admitted_act_is_within_its_lease: 6})
class BareInstant(LeaseSubject):
    """The terminus itself travels, and a judge that is one tick behind admits for one tick too long."""

    model = "falsework.models.lease:SkewedWithinAllowance"
    host_class = _MintsBare
