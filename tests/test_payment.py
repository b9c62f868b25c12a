"""A payment at a real HTTP service that loses replies, stalls and charges twice if asked twice.

Whatever the gateway does, an order is asked for once per invocation, and what the journal says in the end is
what the gateway's own list says. Times are those of the example's deployment file: 30 s of lease, 2 s of
allowance.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import falsework.runtime.examples
from falsework.runtime.examples.payment import KIND, Gateway, Shop, probed
from falsework.runtime.invocation.answers import ProbeAnswer, Report, State, Tally
from falsework.runtime.invocation.conditions import conditions
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.use import ActRefused, NotOpened, Unrecorded
from hostile_gateway import HostileGateway
from invocation_world import SECOND, HandClock, World

pytestmark = pytest.mark.slow

EXAMPLE = Path(falsework.runtime.examples.__file__).with_name("payment.yaml")
ORDER = "order-1"


class Payments(World):
    """The shop, its journal, and the gateway that it charges at."""

    def __init__(self, *, fenced: bool = True) -> None:
        clock = HandClock()
        self.gateway = HostileGateway(clock, fenced=fenced)
        self.gateway.__enter__()
        self.client = Gateway(self.gateway.address, timeout=0.1)
        super().__init__(read_deployment(EXAMPLE), clock=clock)
        self.shop = Shop(self.instance, self.client, lambda: self.fresh("nonce"))

    @property
    def actors(self) -> tuple[str, ...]:
        return ("dana", "erin", "olga", "payment-reconciler")

    def probe(self, act_key: str, payload: Mapping[str, object]) -> ProbeAnswer:
        return probed(self.client, act_key, payload)

    def pay(self, order: str = ORDER) -> str:
        self.shop.pay(order, 4_000, "dana", self.credentials["dana"])
        return str(self.last()["charge_id"])

    def sweep(self) -> Tally:
        answer = self.node(word="run").reconcile()
        assert isinstance(answer, Tally)
        return answer

    def state(self) -> State:
        answer = self.instance.read_invocation(KIND, ORDER)
        assert isinstance(answer, Report)
        return answer.invocations[0].state

    def end(self) -> None:
        super().end()
        self.gateway.__exit__(None, None, None)


@pytest.fixture
def payments() -> Iterator[Payments]:
    world = Payments()
    yield world
    world.end()


def test_the_example_may_start() -> None:
    assert all(condition.holds for condition in conditions(read_deployment(EXAMPLE)))


def test_a_payment_that_goes_well(payments: Payments) -> None:
    assert payments.pay() == "ch-1"
    assert payments.refs() == ["intended", "charged"]
    assert [charge["order"] for charge in payments.gateway.charges] == [ORDER]


@pytest.mark.parametrize("mood", ["lose", "fail late"])
def test_a_charge_whose_reply_is_lost_is_read_back_and_not_asked_for_again(
    payments: Payments, mood: str
) -> None:
    payments.gateway.moods.append(mood)
    with pytest.raises(Unrecorded):
        payments.pay()
    with pytest.raises(NotOpened) as again:
        payments.pay()
    assert again.value.code.startswith("act-in-flight(")
    payments.passes(40)
    assert payments.sweep().closed == 1
    with pytest.raises(NotOpened) as landed:
        payments.pay()
    assert landed.value.code.startswith("act-landed(")
    assert payments.refs() == ["intended", "recovery_intended", "charged"]
    assert payments.journal()[-1].data is not None
    assert payments.last()["charge_id"] == "ch-1"
    assert (payments.gateway.asked, len(payments.gateway.charges)) == (1, 1)


def test_a_charge_that_stalls_past_its_deadline_never_happens(payments: Payments) -> None:
    """The fence makes the abandonment final: 28 s of deadline, examined from 32 s, abandoned from 34 s on."""
    payments.gateway.moods.append("stall")
    with pytest.raises(Unrecorded) as caught:
        payments.pay()
    assert isinstance(caught.value.__cause__, TimeoutError)
    payments.passes(33)
    assert payments.sweep().skipped == 1
    payments.passes(1)
    assert payments.sweep().abandoned == 1
    assert payments.gateway.apply_what_stalled() == [False]
    assert (payments.state(), payments.gateway.charges) == (State.ABANDONED, [])
    assert payments.pay() == "ch-1"  # an abandoned act may be tried again


def test_without_the_fence_the_abandonment_would_have_been_false() -> None:
    """The control: the same charge lands after the sweep has said that it did not happen."""
    payments = Payments(fenced=False)
    payments.gateway.moods.append("stall")
    with pytest.raises(Unrecorded):
        payments.pay()
    payments.passes(40)
    assert payments.sweep().abandoned == 1
    assert payments.gateway.apply_what_stalled() == [True]
    assert (payments.state(), len(payments.gateway.charges)) == (State.ABANDONED, 1)
    payments.end()


def test_a_charge_that_stalls_and_comes_through_in_time_is_found(payments: Payments) -> None:
    payments.gateway.moods.append("stall")
    with pytest.raises(Unrecorded):
        payments.pay()
    payments.passes(20)
    assert payments.gateway.apply_what_stalled() == [True]
    payments.passes(20)
    assert payments.sweep().closed == 1
    assert payments.state() is State.CLOSED


def test_a_declined_card_is_refused_and_may_be_tried_again(payments: Payments) -> None:
    payments.gateway.moods.append("decline")
    with pytest.raises(ActRefused) as caught:
        payments.pay()
    assert caught.value.code == "card-declined"
    assert payments.refs() == ["intended", "refused"]
    assert payments.pay() == "ch-1"


def test_a_gateway_that_is_down_is_no_reason_to_abandon(payments: Payments) -> None:
    payments.gateway.moods.extend(["lose", "down"])
    with pytest.raises(Unrecorded):
        payments.pay()
    payments.passes(100)
    assert payments.sweep().skipped == 1
    payments.passes(60)
    assert payments.sweep().closed == 1
    (finding,) = payments.instance.findings()
    assert (finding.finding.value, finding.kind) == ("store-unavailable", KIND)


def test_a_gateway_that_charges_twice_by_itself_is_escalated_with_both(payments: Payments) -> None:
    """The sweep chooses neither: a person does."""
    payments.gateway.moods.append("twice")
    with pytest.raises(Unrecorded):
        payments.pay()
    payments.passes(40)
    assert payments.sweep().escalated == 1
    assert payments.last()["store_candidates"] == ["ch-1", "ch-2"]


def test_a_shop_that_asks_again_by_itself_would_charge_twice(payments: Payments) -> None:
    """The control: what the protocol forbids is what this gateway punishes."""
    payments.gateway.moods.append("lose")
    with pytest.raises(OSError, match="Remote end closed"):
        payments.client.charge(ORDER, 4_000, "n", payments.clock.now() + 30 * SECOND)
    payments.client.charge(ORDER, 4_000, "n", payments.clock.now() + 30 * SECOND)
    assert len(payments.client.charges(ORDER)) == 2
