"""Dijkstra's philosophers at a round table: each needs two forks, and each fork lies between two plates."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import Below, Map, Model, action, configuration, invariant, reachable, require

Philosopher = Annotated[int, Below("PHILOSOPHERS")]
Fork = Annotated[int, Below("PHILOSOPHERS")]


class Mood(Enum):
    """What a philosopher is about."""

    THINKING = 0
    REACHING = 1  # with the first fork in hand
    EATING = 2


class DiningPhilosophers(Model):
    """Everyone takes the fork with the lower number first, so that nobody waits in a circle."""

    PHILOSOPHERS: ClassVar[int] = 5

    mood: Map[Philosopher, Mood] = Map(Mood.THINKING)
    holder: Map[Fork, Philosopher | None] = Map(None)

    def left(self, philosopher: Philosopher) -> Fork:
        return philosopher

    def right(self, philosopher: Philosopher) -> Fork:
        return (philosopher + 1) % self.PHILOSOPHERS

    def first(self, philosopher: Philosopher) -> Fork:
        return min(self.left(philosopher), self.right(philosopher))

    def second(self, philosopher: Philosopher) -> Fork:
        return self.left(philosopher) + self.right(philosopher) - self.first(philosopher)

    def is_free(self, fork: Fork) -> bool:
        return self.holder[fork] is None

    @action
    def take_first(self, philosopher: Philosopher) -> None:
        require(self.mood[philosopher] is Mood.THINKING and self.is_free(self.first(philosopher)))
        self.holder[self.first(philosopher)] = philosopher
        self.mood[philosopher] = Mood.REACHING

    @action
    def take_second(self, philosopher: Philosopher) -> None:
        require(self.mood[philosopher] is Mood.REACHING and self.is_free(self.second(philosopher)))
        self.holder[self.second(philosopher)] = philosopher
        self.mood[philosopher] = Mood.EATING

    @action
    def put_down(self, philosopher: Philosopher) -> None:
        require(self.mood[philosopher] is Mood.EATING)
        self.holder[self.left(philosopher)] = None
        self.holder[self.right(philosopher)] = None
        self.mood[philosopher] = Mood.THINKING

    @invariant
    def neighbours_never_eat_together(self) -> bool:
        return not any(
            mood is Mood.EATING and self.mood[self.right(philosopher)] is Mood.EATING
            for philosopher, mood in self.mood.items()
        )

    @invariant
    def who_eats_holds_both_forks(self) -> bool:
        return all(
            mood is not Mood.EATING
            or (self.holder[self.left(philosopher)] == philosopher == self.holder[self.right(philosopher)])
            for philosopher, mood in self.mood.items()
        )

    @invariant
    def who_thinks_holds_no_fork(self) -> bool:
        return all(
            holder is None or self.mood[holder] is not Mood.THINKING for holder in self.holder.values()
        )

    @reachable
    def two_eat_at_once(self) -> bool:
        return sum(mood is Mood.EATING for mood in self.mood.values()) == 2

    @reachable
    def all_but_one_have_a_fork_in_hand(self) -> bool:
        return sum(mood is Mood.THINKING for mood in self.mood.values()) == 1


@configuration(holds=True)
class FourPhilosophers(DiningPhilosophers):
    """The smallest table at which two may eat at once."""

    PHILOSOPHERS = 4


@configuration(holds=True)
class NinePhilosophers(DiningPhilosophers):
    """A table with room for four who eat."""

    PHILOSOPHERS = 9
