"""The codes slice against a table copied by hand from the rules, arm by arm."""

import pytest

from falsework.errors import Disabled
from falsework.models.recoverable_invocation.records_codes import (
    Code,
    Fate,
    Position,
    Positions,
)

# A row a position, a column a fate: the code that the rules name, "!" where they ask for the hard alert, and
# "r" before it where they let the writer try again first. Each row names its rules.
FATES = [fate for fate in Fate if fate is not Fate.FENCED]
TABLE = {
    # Primitive policy 19, 20-22 (three sources and the retention's), 23, 24-25, 36, 37
    Position.INTENT: "D C Q Q Q D! I I D! D D rI",
    # Primitive policy 31, 40, 28, 29, 28, 36, 37
    Position.OUTCOME: "D O O! O! O! D! rO rO D! D D rO",
    # refuse step 3.7, 3.8, 3.3, 3.5, 3.3, and the one read-back of 3.6
    Position.REFUSAL: "D F F F F D! F F D! D D F",
    # resolve 3, 27, 24, 26, 24, and the empty read-back of 26
    Position.RESOLUTION: "D C Q Q Q D! S S D! D D S",
    # reconcile step 3.18, 3.20, 3.16, 3.17, 3.16, 3.17
    Position.SWEEP: "D B E E E D! rN rN D! D D rN",
}
WORDS = {
    "D": Code.DONE,
    "C": Code.INVALID_CREDENTIAL,
    "Q": Code.INVALID_REQUEST,
    "I": Code.RECORDING_FAILURE_INTENT,
    "O": Code.RECORDING_FAILURE_OUTCOME,
    "F": Code.RECORDING_FAILURE_REFUSAL,
    "S": Code.RECORDING_FAILURE_RESOLUTION,
    "B": Code.BARRED,
    "E": Code.OUTCOME_UNRECORDABLE,
    "N": Code.NEXT_RUN,
}
CELLS = [
    (position, fate, cell)
    for position, row in TABLE.items()
    for fate, cell in zip(FATES, row.split(), strict=True)
]


def written(position: Position, fate: Fate) -> Positions:
    """The model where the write has met its fate and all is known that a reader can know."""
    model = Positions()
    model.begin(position)
    model.write(fate)
    if not model.settled:
        model.settle()
    if model.must_read_back():
        model.read_back(reachable=True)
    return model


@pytest.mark.parametrize("position, fate, cell", CELLS, ids=str)
def test_a_writer_answers_what_the_rules_say(position: Position, fate: Fate, cell: str) -> None:
    told = written(position, fate).respond()
    assert (told.code, told.alert) == (WORDS[cell.strip("r!")], cell.endswith("!"))


@pytest.mark.parametrize("position, fate, cell", CELLS, ids=str)
def test_a_writer_tries_again_where_the_rules_let_it(position: Position, fate: Fate, cell: str) -> None:
    model = written(position, fate)
    if cell.startswith("r"):
        model.retry()
    else:
        with pytest.raises(Disabled):
            model.retry()


@pytest.mark.parametrize("position", Position)
def test_a_fenced_out_write_lands_on_the_arm_of_a_failure(position: Position) -> None:
    # journal fence 3 and 4: the position's existing arm, and for a run the act that it leaves open.
    assert written(position, Fate.FENCED).respond() == written(position, Fate.STEP_2).respond()
