"""The program of a nursery: it has imported all that an order needs, and works on each in a child."""

from reliability import soak
from reliability.nursery import keep
from reliability.orders import FUSES, work

if __name__ == "__main__":
    FUSES[True] = lambda order, place: soak.Dice(order, soak.Diary(soak.diary_of(place)))
    keep(work)
