"""The philosophers as a string of t (thinks), l or r (holds that fork) and e (eats)."""

from collections.abc import Iterator

from peers.search import Constants, Counted, walk

HAS_LEFT, HAS_RIGHT = "le", "re"


def counts(constants: Constants) -> Counted:
    size = constants["PHILOSOPHERS"]

    def steps(table: str) -> Iterator[tuple[str, str]]:
        for i, mood in enumerate(table):
            left_is_free = mood not in HAS_LEFT and table[i - 1] not in HAS_RIGHT
            right_is_free = mood not in HAS_RIGHT and table[(i + 1) % size] not in HAS_LEFT
            is_last = i == size - 1
            before, after = table[:i], table[i + 1 :]
            if mood == "t" and (right_is_free if is_last else left_is_free):
                yield "take_first", before + ("r" if is_last else "l") + after
            if mood in "lr" and (left_is_free if is_last else right_is_free):
                yield "take_second", before + "e" + after
            if mood == "e":
                yield "put_down", before + "t" + after

    return walk(["t" * size], steps)


def tables(size: int) -> int:
    """How many tables there are, without a search.

    Any table at which no fork is in two hands can come about, for everyone can take what they hold without
    waiting. So it is the closed walks that count, where the right hand of one and the left hand
    of the next do not hold the same fork.
    """

    def fit(left: str, right: str) -> bool:
        return not (left in HAS_RIGHT and right in HAS_LEFT)

    found = 0
    for last in "tre":
        ways = {mood: int(fit(last, mood)) for mood in "tle"}
        for _ in range(size - 2):
            ways = {mood: sum(n for left, n in ways.items() if fit(left, mood)) for mood in "tle"}
        found += sum(n for left, n in ways.items() if fit(left, last))
    return found
