"""How philosophers starve or fight."""

from __future__ import annotations

from falsework.language import deadlock, require, twin
from falsework.models.classics.dining_philosophers import DiningPhilosophers, Fork, Mood, Philosopher


# Shortest: while a fork lies free its philosopher may take it, so all five must have been taken, one a step.
@twin(breaks={deadlock: 5})
class AllReachLeftFirst(DiningPhilosophers):
    """Everyone takes the left fork first, until all hold one and wait for the other."""

    def first(self, philosopher: Philosopher) -> Fork:
        return self.left(philosopher)


# Shortest: one takes both forks and a neighbour takes one of them away; both eat after two takes of each.
@twin(
    breaks={
        DiningPhilosophers.who_eats_holds_both_forks: 3,
        DiningPhilosophers.neighbours_never_eat_together: 4,
    }
)
class ForksAreSnatched(DiningPhilosophers):
    """A philosopher takes a fork without looking whether it lies on the table."""

    def is_free(self, fork: Fork) -> bool:
        return True


# Shortest: take_first, take_second, put_down of one philosopher.
@twin(breaks={DiningPhilosophers.who_thinks_holds_no_fork: 3})
class OneForkStaysInHand(DiningPhilosophers):
    """A philosopher puts the left fork down and goes on thinking with the right one in hand."""

    def put_down(self, philosopher: Philosopher) -> None:
        require(self.mood[philosopher] is Mood.EATING)
        self.holder[self.left(philosopher)] = None
        self.mood[philosopher] = Mood.THINKING
