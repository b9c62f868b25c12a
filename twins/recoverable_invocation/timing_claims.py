"""What the text says beside its conditions, with a floor that leaves something out."""

from falsework.language import twin
from falsework.models.recoverable_invocation.timing_claims import TimingClaims


@twin(
    breaks={
        TimingClaims.a_run_lands_its_backlog_by_its_bound: "RUN_BOUND=3 CLOSURE_LATENCY=1 third_holder=1",
        TimingClaims.three_run_bounds_suffice: "RUN_BOUND=1 CLOSURE_LATENCY=1",
    },
    source="Instance start 7",
)
class FloorWithoutTheClosure(TimingClaims):
    """Leaves a run time to wait for a holder, and none to close the act then."""

    def run_floor(self) -> int:
        return self.longest_hold()
