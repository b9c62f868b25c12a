"""z3 and brute force on the class agree: on random obligations, whether refuted and by which values first."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from bad_model import module_of
from falsework.definition import definition_of
from falsework.proofs import Proof, prove_obligation
from random_obligations import MOST, brute_force, module_text


def proofs_of(module: ModuleType) -> Iterator[tuple[type, Proof]]:
    for cls in [cls for name, cls in vars(module).items() if name.startswith("Random")]:
        definition = definition_of(cls)
        yield cls, prove_obligation(definition, definition.obligations[0], 60)


def agree(tmp_path: Path, seed: int, count: int) -> Counter[str]:
    """How often each word was said; every one of them is what brute force finds."""
    words: Counter[str] = Counter()
    module = module_of(tmp_path / "made.py", module_text(seed, count), f"made_{seed}")
    for cls, proof in proofs_of(module):
        definition = definition_of(cls)
        found = brute_force(definition, definition.obligations[0], module.Colour)
        told = f"seed {seed}, {cls.__name__}: z3 {proof.word} {proof.text}, brute force {found}"
        words[proof.word] += 1
        if proof.word == "REFUTED":
            assert proof.refutation is not None, told
            assert proof.refutation.smallest, told
            read = proof.refutation.values
            total = sum(abs(v) if isinstance(v, int) else list(module.Colour).index(v) for v in read.values())
            if found.least is None:
                assert total > MOST, told
            else:
                # What the obligation does not read is in no counterexample: brute force has 0 there.
                assert dict(read) == {name: found.least[name] for name in read}, told
        else:
            assert proof.word in ("PROVED", "VACUOUS"), told
            assert found.least is None, told
            # A premise that is never true makes it vacuous though its assumptions may be true.
            assert found.assumed <= (proof.word == "PROVED" or "premise" in proof.text), told
    return words


def test_z3_finds_what_brute_force_finds(tmp_path: Path) -> None:
    words = agree(tmp_path, 1, 20)
    assert min(words[word] for word in ("PROVED", "REFUTED", "VACUOUS")) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
def test_z3_finds_what_brute_force_finds_in_many(tmp_path: Path, seed: int) -> None:
    words = agree(tmp_path, seed, 80)
    assert words["REFUTED"] > 20
