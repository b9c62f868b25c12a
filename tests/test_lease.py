"""The lease's model and its twins: counted by a second search, and broken in steps that a hand can argue."""

import pytest

from falsework.accounting import Bounds, Tally
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.fast import fast
from falsework.language import Model
from falsework.models.lease import (
    Answer,
    ClocksInStep,
    JudgeAhead,
    Lease,
    SkewedBeyondAllowance,
    SkewedWithinAllowance,
    ThreeWorkers,
)
from falsework.naming import configurations_of, setting, twins_of
from falsework.runtime import lease as runtime
from falsework.twins import lease as twins
from peers.lease_oracle import Figures, count

OTHERS = [ClocksInStep, SkewedWithinAllowance, JudgeAhead]
LATE = Lease.an_admitted_act_is_within_its_lease.__name__


_searched: dict[str, Tally] = {}


def searched(model: type[Model]) -> Tally:
    """The whole search, done once for each class and its constants."""
    definition = definition_of(model)
    if definition.digest not in _searched:
        _searched[definition.digest] = fast(definition, Bounds(every=True))
    return _searched[definition.digest]


def broken(tally: Tally) -> dict[str, int | None]:
    """What was found, in the words of a twin's `breaks`."""
    unreached = {name: None for name, steps in tally.witnesses.items() if steps is None}
    return {name: violation.steps for name, violation in tally.violations.items()} | unreached


def is_counted_alike(found: Tally, figures: Figures) -> None:
    peer = count(figures)
    assert found.levels == peer.levels
    assert {name: covered.fired for name, covered in found.coverage.items()} == dict(peer.steps)
    late = found.violations.get(LATE)
    assert (None if late is None else late.steps) == peer.late_admission


# The pins are confirmed by the peer, which keeps instants where the model keeps what is left of them.


@pytest.mark.parametrize("lag, states, transitions, depth", [
    (0, 404, 4_906, 15), (1, 404, 4_906, 15), (2, 450, 5_486, 15), (-1, 404, 4_906, 15),
])  # fmt: skip
def test_the_peer_counts_the_pinned_states(lag: int, states: int, transitions: int, depth: int) -> None:
    peer = count(Figures(lag=lag))
    assert (peer.states, peer.transitions, len(peer.levels) - 1) == (states, transitions, depth)


def test_the_class_itself_and_the_peer_count_alike() -> None:
    is_counted_alike(explore(definition_of(Lease), Bounds(every=True)), Figures())


@pytest.mark.parametrize("model", [Lease, SkewedBeyondAllowance, *OTHERS])
def test_the_fast_engine_and_the_peer_count_alike(model: type[Lease]) -> None:
    is_counted_alike(searched(model), Figures(lag=model.LAG))


def test_model_and_peer_count_alike_with_a_third_worker() -> None:
    is_counted_alike(searched(ThreeWorkers), Figures(workers=3, lease=2))
    assert (searched(ThreeWorkers).states, searched(ThreeWorkers).transitions) == (1_082, 18_636)


# What the model says of itself.


def test_the_lease_holds_and_nothing_in_it_is_vacuous() -> None:
    tally = searched(Lease)
    assert broken(tally) == {}
    assert tally.complete
    assert not tally.cuts
    assert all(covered.fired for covered in tally.coverage.values())
    assert all(tally.premises.values())  # each answer is given somewhere: re-entry, unavailable, admitted


def test_every_configuration_is_looked_at_here() -> None:
    assert configurations_of(Lease) == [*OTHERS[:2], SkewedBeyondAllowance, OTHERS[2], ThreeWorkers]


@pytest.mark.parametrize("model", [*OTHERS, ThreeWorkers])
def test_a_configuration_holds(model: type[Lease]) -> None:
    assert broken(searched(model)) == dict(definition_of(model).breaks) == {}


def test_an_answer_of_the_model_is_an_answer_of_the_runtime() -> None:
    for answer in Answer:
        words = answer.name.split("_")
        assert hasattr(runtime, "".join(word.capitalize() for word in words)), answer


def test_a_verb_of_the_model_is_a_verb_of_the_runtime() -> None:
    verbs = {action.name for action in definition_of(Lease).actions if action.kind == "action"}
    assert verbs == {"ask", "poll", "try_take", "remaining", "release", "mint", "admit"}
    assert all(hasattr(runtime.LeaseHost, verb) or hasattr(runtime.Judge, verb) for verb in verbs)


# Beyond the allowance: a take, the sending, as many ticks as the lease lasts, and the judgement. The act
# is one tick late then, and admitted, for the judge is one tick further behind than the allowance covers.


class ShorterLease(SkewedBeyondAllowance):
    """A lease of two ticks."""

    LEASE = 2


class ShortestLease(SkewedBeyondAllowance):
    """A lease of one tick."""

    LEASE = 1


@pytest.mark.parametrize("model", [ShortestLease, ShorterLease, SkewedBeyondAllowance])
def test_beyond_the_allowance_an_act_lands_when_its_lease_has_just_ended(model: type[Lease]) -> None:
    assert broken(searched(model)) == {LATE: 1 + 1 + model.LEASE + 1}
    labels = [step.action for step in searched(model).violations[LATE].trace.steps]
    assert labels == ["ask", "mint", *["pass_time"] * model.LEASE, "admit"]


# The twins.


def test_every_invariant_is_broken_by_a_twin() -> None:
    claimed = {name for twin in twins_of(Lease) for name in definition_of(twin).breaks}
    assert {prop.name for prop in definition_of(Lease).invariants} <= claimed


@pytest.mark.parametrize("twin", twins_of(Lease), ids=lambda twin: twin.__name__)
def test_a_twin_breaks_exactly_what_it_declares(twin: type[Model]) -> None:
    wrong, clean = setting(twin)
    assert broken(searched(wrong)) == dict(definition_of(twin).breaks)
    assert broken(searched(clean)) == {}


@pytest.mark.parametrize("twin", [twins.BareInstant, twins.JudgeOfTheInstantItself])
def test_with_clocks_in_step_the_allowance_is_not_needed(twin: type[Model]) -> None:
    # The seed says so of the bare instant: the skew decides, and nothing else that the twin changes.
    assert broken(searched(twin)) == {}
