"""What became of a model's obligations, as a document: one item each, with what refutes or empties it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from falsework.check import Failure
from falsework.domains import spell
from falsework.obligations import ALL_ZERO
from falsework.posed import arguments, helper_values
from falsework.proofs import REFUTED, Proof, Proofs, Refutation
from falsework.prove_contract import ProofContract, values_text
from falsework.report_check import item_of
from falsework.report_document import Document, Item, Remark, Status
from falsework.report_reason import Reason, false_answer
from falsework.report_text import aligned, number_of, subject_text
from falsework.tracefile import encoded
from falsework.twin_contract import AS_DECLARED, gravest
from falsework.verdict import Verdict, combine

_STATUS: dict[Verdict, Status] = {
    Verdict.HOLDS: "pass",
    Verdict.VIOLATED: "fail",
    Verdict.VACUOUS: "error",
    Verdict.INCOMPLETE: "error",
    Verdict.ERROR: "error",
}


Outcome = Proofs | ProofContract | Failure


def prove_document(asked: str, outcomes: Sequence[Outcome], declared: str = "") -> Document:
    """What `prove` prints: one item an obligation, a configuration or a twin; the gravest decides."""
    verdict = combine(outcome.verdict for outcome in outcomes)
    items: list[Item] = []
    words: list[str] = []
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            items.append(item_of(outcome))
            words.append(outcome.verdict.value)
            continue
        if isinstance(outcome, ProofContract):
            items.append(_bent(outcome))
            words.append(items[-1].word)
            continue
        items += [_item(outcome, proof) for proof in outcome.proofs] or [_nothing(outcome)]
        words += [proof.word for proof in outcome.proofs] or [Verdict.VACUOUS.value]
    told = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    asked_of = number_of(len(words), "question" if AS_DECLARED.upper() in words else "obligation")
    parts = [f"{asked_of}: {told}", declared]
    return Document(
        "prove", asked, verdict.value, verdict.exit_code, tuple(items), " · ".join(filter(None, parts))
    )


def _bent(contract: ProofContract) -> Item:
    """A configuration or a twin: what it refutes and where it departs, or why that is not as declared."""
    name = f"{contract.kind} {contract.cls.__name__}"
    place = contract.proofs.definition.place
    lines = [f"{obligation}  at {values}" for obligation, values in contract.broken.items()]
    lines += list(contract.departures.values())[:1]
    problems = [f"{problem.word}: {problem.text}" for problem in contract.problems]
    word = gravest(contract.problems).upper()
    return Item(
        name,
        _STATUS[contract.verdict],
        word,
        f"{word}  {name}",
        "\n".join(f"  {line}" for line in (*problems, *lines)),
        place,
        tuple(Remark(p.word.replace(" ", "-").lower(), p.text, place) for p in contract.problems),
        data={"refutes": contract.broken},
    )


def _nothing(proofs: Proofs) -> Item:
    name = subject_text(proofs.definition, proofs.configuration)
    text = f"{name} declares no obligation, so nothing was asked of z3"
    return Item(
        name, "error", Verdict.VACUOUS.value, f"VACUOUS  {name}   no-obligation: {text}",
        place=proofs.definition.place, remarks=(Remark("no-obligation", text, proofs.definition.place),),
    )  # fmt: skip


def _item(proofs: Proofs, proof: Proof) -> Item:
    name = f"{subject_text(proofs.definition, proofs.configuration)}.{proof.obligation.name}"
    remarks: tuple[Remark, ...] = ()
    if not proof.verdict.passes:
        text = values_text(proof.refutation.values) if proof.refutation is not None else proof.text
        remarks = (Remark(proof.word.replace(" ", "-").lower(), f"{name}: {text}", proof.place),)
    return Item(
        name,
        _STATUS[proof.verdict],
        proof.word,
        f"{proof.word}  {name}   {_headline(proof)}".rstrip(),
        details_of(proofs, proof),
        proof.place,
        remarks,
        data={"proof": _data(proofs, proof)},
        seconds=proof.seconds,
    )


def _headline(proof: Proof) -> str:
    if proof.refutation is not None:
        return f"at {values_text(proof.refutation.nonzero(proof.open)) or ALL_ZERO}"
    if proof.text:
        return proof.text
    parameters = len(proof.obligation.parameters)
    counted = ((len(proof.open) - parameters, "figure"), (parameters, "parameter"))
    told = " and ".join(number_of(number, noun) for number, noun in counted if number)
    return f"for all values of {told}" if told else "nothing in it is left open"


def _data(proofs: Proofs, proof: Proof) -> dict[str, Any]:
    found = proof.refutation
    return {
        "model": proofs.definition.path,
        "configuration": proofs.configuration or None,
        "obligation": proof.obligation.name,
        "open": {each.name: str(each.range) for each in proof.open},
        "text": proof.text,
        "counterexample": None
        if found is None
        else {
            "values": {name: encoded(value) for name, value in found.values.items()},
            "smallest": found.smallest,
        },
        "contradiction": [{"text": part.text, "place": str(part.place)} for part in proof.parts],
        "seconds": round(proof.seconds, 3),
    }


# --- the text under a headline ------------------------------------------------------------------------------


def details_of(proofs: Proofs, proof: Proof) -> str:
    """The counterexample with all that it leads to, or the conditions that clash; empty for a pass."""
    if proof.word == REFUTED and proof.refutation is not None:
        return "\n".join(_refuted(proofs, proof, proof.refutation))
    if proof.parts:
        rows = [[part.text, str(part.place)] for part in proof.parts]
        return "\n".join(["never true together:", *(f"  {line}" for line in aligned(rows, gap="   "))])
    return "" if proof.verdict.passes or proof.place is None else f"the place   {proof.place}"


def _refuted(proofs: Proofs, proof: Proof, found: Refutation) -> Iterator[str]:
    total = sum(map(_size, found.values.values()))
    known = (
        f"the least there is, of total {total}" if found.smallest else "z3 did not prove that none is smaller"
    )
    named = found.nonzero(proof.open)
    yield f"the counterexample, {known}"
    rows = [[name, _shown(value)] for name, value in named.items()]
    yield from (f"  {line}" for line in aligned(rows, gap="   ")) if rows else ()
    if left := [name for name in found.values if name not in named]:
        yield f"  and 0: {', '.join(left)}"
    helpers = helper_values(proofs.definition, proof.obligation, found.values)
    helpers = [(call, value) for call, value in helpers if value is not None]
    if helpers:
        yield "what it leads to"
        yield from (f"  {line}" for line in aligned([[call, _shown(v)] for call, v in helpers], gap="   "))
    given = arguments(proofs.definition, proof.obligation, found.values)
    reason = false_answer(proofs.definition.cls, proof.obligation.function, given)
    yield from _reason_lines(reason or Reason(proof.obligation.name, proof.obligation.place))
    yield f"to declare it  {declaration(proof, named)}"


def _reason_lines(reason: Reason) -> Iterator[str]:
    through = f"  in {' in '.join(reversed(reason.through))}" if reason.through else ""
    yield f"false          {reason.text}{through}   {reason.place}"
    if reason.readings:
        yield f"where          {'; '.join(reason.readings)}"


def declaration(proof: Proof, named: Mapping[str, Any]) -> str:
    """What `breaks` says of it, to be pasted: what is 0 goes without saying."""
    return f'breaks={{Model.{proof.obligation.name}: "{values_text(named) or ALL_ZERO}"}}'


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, bool) else spell(value)


def _size(value: Any) -> int:
    return abs(value) if isinstance(value, int) else list(value.__class__).index(value)
