"""The lease, sentence by sentence, on both stores; time moves only where a test moves it.

Expected values are hand arguments from the seed's rules, named at each test. The walk at the end compares
every short history with a separate statement of the rules.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence

import pytest

from falsework.runtime.lease import (
    LATEST,
    Granted,
    Judge,
    NotHeld,
    Reentered,
    Released,
    Unavailable,
    Waiting,
)
from lease_world import World
from stores import BOTH, placed


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with placed(request.param) as place:
        yield World(place.open(wait_ms=0))


# Taking (open step 2.1, 2.2, 2.3; resolve 4, 5; reconcile step 2.1, 2.2).


def test_a_free_key_is_granted_for_the_duration(world: World) -> None:
    assert world.host.take("k", "a", 30) == Granted(130)
    assert world.table() == [("k", "a", 130)]
    assert world.script.asked == []


def test_keys_are_independent(world: World) -> None:
    assert world.host.take("k", "a", 30) == Granted(130)
    assert world.host.take("l", "b", 15) == Granted(115)
    assert world.host.take("m", "a", 15) == Granted(115)


def test_an_asker_may_wait_for_what_the_holder_has_left(world: World) -> None:
    world.host.take("k", "a", 30)
    world.at(112)  # open step 2.2: 18 are left of 30, whatever the asker wants
    assert world.host.ask("k", "b", 500) == Waiting("k", "b", 500, deadline=130)
    assert world.table() == [("k", "a", 130)]


def test_try_take_never_waits(world: World) -> None:
    assert world.host.try_take("k", "a", 30) == Granted(130)
    assert world.host.try_take("k", "b", 30) == Unavailable()
    assert world.host.try_take("k", "a", 30) == Reentered(130)
    world.at(130)
    assert world.host.try_take("k", "b", 30) == Granted(160)
    assert world.script.asked == []


def test_a_take_that_waits_is_granted_at_the_terminus(world: World) -> None:
    world.host.take("k", "a", 30)
    world.script.events = [lambda: world.at(130)]
    assert world.host.take("k", "b", 7) == Granted(137)  # the duration runs from the grant, not from the call
    assert world.script.asked == [130]


def test_a_take_that_waits_is_granted_when_it_finds_a_release(world: World) -> None:
    world.host.take("k", "a", 30)
    world.script.events = [lambda: world.at(110), lambda: world.host.release("k", "a")]
    assert world.host.take("k", "b", 7) == Granted(117)
    assert world.script.asked == [130, 130]


def test_a_take_waits_no_longer_than_the_lease_it_found(world: World) -> None:
    # open step 2.2, read at the call: a third holder's longer grant in between does not lengthen the wait.
    world.host.take("k", "a", 30)

    def a_third_gets_in() -> None:
        world.host.release("k", "a")
        world.at(129)
        assert world.host.take("k", "c", 1000) == Granted(1129)

    world.script.events = [a_third_gets_in, lambda: world.at(130)]
    assert world.host.take("k", "b", 7) == Unavailable()  # open step 2.3 makes this section-unavailable
    assert world.script.asked == [130, 130]
    assert world.table() == [("k", "c", 1129)]


def test_of_two_waiters_at_the_terminus_the_second_is_unavailable(world: World) -> None:
    world.host.take("k", "a", 30)
    first, second = world.host.ask("k", "b", 7), world.host.ask("k", "c", 7)
    assert isinstance(first, Waiting)
    assert isinstance(second, Waiting)
    world.at(130)
    assert world.host.poll(second) == Granted(137)
    assert world.host.poll(first) == Unavailable()


@pytest.mark.parametrize("instant, answers", [(129, "waits"), (130, "gives up"), (131, "gives up")])
def test_the_last_look_is_at_the_deadline_or_late(world: World, instant: int, answers: str) -> None:
    world.host.take("k", "a", 90)
    waiting = Waiting("k", "b", 7, deadline=130)
    world.at(instant)
    assert world.host.poll(waiting) == (waiting if answers == "waits" else Unavailable())


def test_a_late_last_look_may_still_find_the_key_free(world: World) -> None:
    world.host.take("k", "a", 30)
    waiting = world.host.ask("k", "b", 7)
    assert isinstance(waiting, Waiting)
    world.at(150)
    assert world.host.poll(waiting) == Granted(157)


def test_a_waiter_leaves_nothing_behind(world: World) -> None:
    world.host.take("k", "a", 30)
    before = world.table()
    world.host.ask("k", "b", 7)  # and it is never heard of again
    assert world.table() == before
    world.at(130)
    assert world.host.take("k", "c", 7) == Granted(137)


# The terminus (Allowance's instants are judged strictly; close step 1.2, act section 10).


@pytest.mark.parametrize("instant, left", [(100, 30), (129, 1), (130, None), (131, None)])
def test_a_lease_is_half_open(world: World, instant: int, left: int | None) -> None:
    world.host.take("k", "a", 30)
    world.at(instant)
    stands = left is not None
    assert world.host.remaining("k", "a") == left
    assert world.host.mint("k", "a", 2) == (128 if stands else None)
    assert isinstance(world.host.ask("k", "b", 5), Waiting if stands else Granted)


@pytest.mark.parametrize("instant, answer", [(129, Released()), (130, NotHeld()), (131, NotHeld())])
def test_a_lease_is_released_before_its_terminus_only(
    world: World, instant: int, answer: Released | NotHeld
) -> None:
    world.host.take("k", "a", 30)
    world.at(instant)
    assert world.host.release("k", "a") == answer


def test_an_ended_lease_never_stands_again(world: World) -> None:
    # act section 10: what has expired gives no standing, also when nobody took the key after it.
    world.host.take("k", "a", 30)
    world.at(130)
    assert world.host.remaining("k", "a") is None
    assert world.host.take("k", "a", 10) == Granted(140)  # a grant like anyone's, not a re-entry
    world.at(140)
    assert world.host.take("k", "b", 10) == Granted(150)
    assert world.host.remaining("k", "a") is None
    assert world.host.remaining("k", "b") == 10


# Standing and release (close step 1.1; act section 6).


def test_standing_is_the_holders_alone(world: World) -> None:
    assert world.host.remaining("k", "a") is None
    world.host.take("k", "a", 30)
    assert world.host.remaining("k", "b") is None
    assert world.host.mint("k", "b", 2) is None
    assert world.host.remaining("l", "a") is None


def test_a_release_frees_the_key_at_once(world: World) -> None:
    world.host.take("k", "a", 30)
    assert world.host.release("k", "a") == Released()
    assert world.host.remaining("k", "a") is None
    assert world.host.take("k", "b", 5) == Granted(105)


def test_a_release_frees_that_key_alone(world: World) -> None:
    for key in ("k", "l"):
        world.host.take(key, "a", 30)
    world.host.take("m", "b", 30)
    assert world.host.release("k", "a") == Released()
    assert world.table() == [("l", "a", 130), ("m", "b", 130)]


def test_releasing_what_one_does_not_hold_changes_nothing(world: World) -> None:
    # act section 6: every caller may discard this answer, so nothing may hang on it.
    assert world.host.release("k", "a") == NotHeld()
    world.host.take("k", "a", 30)
    before = world.table()
    assert world.host.release("k", "b") == NotHeld()
    assert world.table() == before
    world.at(130)
    world.host.take("k", "b", 30)
    before = world.table()
    assert world.host.release("k", "a") == NotHeld()  # the former holder does not free its successor
    assert world.table() == before


# A holder's death (act section 2).


def test_a_lost_connection_frees_nothing(world: World) -> None:
    world.host.take("k", "a", 30)
    before = world.table()
    world.host.connection_lost("a")
    assert world.table() == before
    assert world.host.remaining("k", "a") == 30
    assert world.host.ask("k", "b", 5) == Waiting("k", "b", 5, deadline=130)


# Re-entry (act section 14; docs/decisions/0010).


@pytest.mark.parametrize("duration", [1, 30, 10_000])
def test_reentry_keeps_the_terminus(world: World, duration: int) -> None:
    world.host.take("k", "a", 30)
    world.at(110)
    assert world.host.take("k", "a", duration) == Reentered(130)
    assert world.table() == [("k", "a", 130)]
    assert world.host.remaining("k", "a") == 20


def test_reentry_is_for_the_lease_s_own_holder_alone(world: World) -> None:
    world.host.take("k", "a", 30)
    for stranger in ("b", "A", "a ", "aa"):
        assert world.host.ask("k", stranger, 5) == Waiting("k", stranger, 5, deadline=130)


def test_a_reentry_does_not_move_a_waiters_deadline(world: World) -> None:
    world.host.take("k", "a", 30)
    waiting = world.host.ask("k", "b", 5)
    assert isinstance(waiting, Waiting)
    world.host.take("k", "a", 500)
    world.at(130)
    assert world.host.poll(waiting) == Granted(135)


def test_a_holder_that_waited_under_its_own_name_twice_reenters(world: World) -> None:
    world.host.take("k", "a", 30)
    one, two = world.host.ask("k", "b", 5), world.host.ask("k", "b", 9)
    assert isinstance(one, Waiting)
    assert isinstance(two, Waiting)
    world.at(130)
    assert world.host.poll(one) == Granted(135)
    assert world.host.poll(two) == Reentered(135)


# Mistakes.


@pytest.mark.parametrize("duration", [0, -5, True, 2.5, "30", LATEST])
def test_a_duration_must_be_a_positive_whole_number(world: World, duration: int) -> None:
    with pytest.raises(ValueError, match=rf"^duration is {duration!r}: write a whole number from 1 to "):
        world.host.take("k", "a", duration)
    assert world.table() == []


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "\ud800", None, 7])
def test_a_key_and_a_holder_must_be_printable_text(world: World, name: str) -> None:
    host, judge = world.host, Judge(world.store, world.clock)
    with_a_bad_key: Sequence[Callable[[], object]] = (
        lambda: host.take(name, "a", 5),
        lambda: host.remaining(name, "a"),
        lambda: host.mint(name, "a", 5),
        lambda: host.release(name, "a"),
        lambda: judge.admit(name, "a", 5),
    )
    with_a_bad_holder: Sequence[Callable[[], object]] = (
        lambda: host.take("k", name, 5),
        lambda: host.remaining("k", name),
        lambda: host.mint("k", name, 5),
        lambda: host.release("k", name),
        lambda: host.connection_lost(name),
        lambda: judge.admit("k", name, 5),
    )
    for what, calls in (("key", with_a_bad_key), ("holder", with_a_bad_holder)):
        for call in calls:
            with pytest.raises(ValueError, match=rf"^{what} is .*: write a text that is not empty"):
                call()
    assert world.table() == []


@pytest.mark.parametrize("instant", [True, 1.5, None, LATEST + 1])
def test_an_instant_must_be_a_whole_number(world: World, instant: int) -> None:
    judge = Judge(world.store, world.clock)
    with pytest.raises(ValueError, match=r"^instant is .*: write the whole number that was minted"):
        judge.admit("k", "a", instant)
    assert judge.acts() == ()


# Every short history, against a separate statement of the rules.


def oracle(history: Sequence[str], duration: int) -> list[object]:
    """What the seed's rules answer to each step, with one key, two holders and a clock of ticks."""
    answers: list[object] = []
    now, owner, end = 0, "", 0
    for step in history:
        verb, _, who = step.partition(" ")
        free = owner == "" or now >= end
        if verb == "tick":
            now += 1
            answers.append(None)
        elif verb == "ask" and free:
            owner, end = who, now + duration
            answers.append(("granted", end))
        elif verb == "ask":
            answers.append(("reentered", end) if owner == who else ("waiting", end))
        elif free or owner != who:
            answers.append("not held")
        else:
            owner = ""
            answers.append("released")
    return answers


@pytest.mark.parametrize(
    "world",
    ["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.slow])],
    indirect=True,
)
def test_every_short_history_answers_as_the_rules_say(world: World) -> None:
    steps = ("ask a", "ask b", "release a", "release b", "tick")
    histories = list(itertools.product(steps, repeat=4))
    for number, history in enumerate(histories):
        key, found = f"key {number}", list[object]()
        world.at(0)
        for step in history:
            verb, _, who = step.partition(" ")
            answer: object = None
            if verb == "tick":
                world.clock.instant += 1
            else:
                answer = world.host.ask(key, who, 2) if verb == "ask" else world.host.release(key, who)
            match answer:
                case Granted(end):
                    answer = ("granted", end)
                case Reentered(end):
                    answer = ("reentered", end)
                case Waiting(deadline=end):
                    answer = ("waiting", end)
                case Released():
                    answer = "released"
                case NotHeld():
                    answer = "not held"
            found.append(answer)
        assert found == oracle(history, duration=2), history
    assert len(histories) == 625
