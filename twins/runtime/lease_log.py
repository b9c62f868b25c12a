"""The wrong hosts and judges of the lease, each betrayed by its own log.

The figure is the first line of some log that no step of the model explains; the walks are the same each time.
"""

from falsework.conformance.subject import runtime_twin
from falsework.runtime.subjects.lease_log import LeaseLogs
from falsework.twins.runtime import lease


@runtime_twin(breaks={"observation": 39})
class HostThatFreesOnDeathLogged(LeaseLogs):
    """Another is granted what the dead held."""

    host_class = lease.HostThatFreesOnDeath.host_class


@runtime_twin(breaks={"observation": 15})
class JudgeThatLetsAStaleHolderActLogged(LeaseLogs):
    """An act is admitted that came too late under any clock."""

    judge_class = lease.JudgeThatLetsAStaleHolderAct.judge_class


@runtime_twin(breaks={"observation": 13})
class ReentryThatLengthensLogged(LeaseLogs):
    """More is left after a re-entry than before it."""

    host_class = lease.ReentryThatLengthens.host_class


@runtime_twin(breaks={"observation": 5})
class ReentryOfAnybodyLogged(LeaseLogs):
    """A worker is told that it came in again, and never was in."""

    host_class = lease.ReentryOfAnybody.host_class


@runtime_twin(breaks={"observation": 5})
class WaitBeyondTheRemainingLeaseLogged(LeaseLogs):
    """The wait is told to be longer than the lease can have left."""

    host_class = lease.WaitBeyondTheRemainingLease.host_class


@runtime_twin(breaks={"observation": 31})
class WaitWithoutEndLogged(LeaseLogs):
    """A look at the deadline is answered with more waiting."""

    host_class = lease.WaitWithoutEnd.host_class


@runtime_twin(breaks={"observation": 13})
class TerminusCountedInLogged(LeaseLogs):
    """A worker is kept waiting by a lease that has ended."""

    host_class = lease.TerminusCountedIn.host_class


@runtime_twin(breaks={"observation": 9})
class BareInstantLogged(LeaseLogs):
    """The instant that travels is the terminus itself."""

    host_class = lease.BareInstant.host_class
