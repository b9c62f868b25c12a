"""One check as text: the verdict line, and under it the counterexamples, the findings and the coverage."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from falsework.accounting import Stop
from falsework.check import ERROR_WORDS, Counterexample, Failure, Finding, Result, premise_place
from falsework.class_checks import overridden
from falsework.definition import Definition, Property
from falsework.domains import MapOf, spell
from falsework.errors import DefinitionError, Place, Refused
from falsework.judge import step_arguments
from falsework.language import deadlock, role_of, values_stay_in_domain
from falsework.naming import subject_of
from falsework.report_reason import Reason, false_conjunct, false_guard, statement_text
from falsework.report_table import trace_table
from falsework.source import annotations_of, function_place, name_line
from falsework.trace import Trace, instances
from falsework.verdict import Verdict

_RAISE = {"max-states": "--max-states", "max-depth": "--max-depth", "memory": "--memory"}
_GUARDS_SHOWN = 6
_STEPS_AGAIN = 40
_TOLD = ("ERROR", "VACUOUS")  # whose first line holds the finding itself
_LEVELS_SHOWN = 40
_CONSTANTS_TOLD = 8  # more than these would hide the answer that stands behind them


def number_of(count: int, noun: str, plural: str = "") -> str:
    """`1 state`, `81 states`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def constants_text(definition: Definition) -> str:
    """`WORKERS=2 GRANTS=3`; of many, those that the model itself has otherwise, and how many it has so."""
    told = dict(definition.constants)
    if len(told) > _CONSTANTS_TOLD:
        model = subject_of(definition.cls)
        told = {name: value for name, value in told.items() if getattr(model, name, None) != value}
    as_there = len(definition.constants) - len(told)
    rest = [f"and {as_there} as {subject_of(definition.cls).__name__} has them"] if as_there else []
    return " ".join([*(f"{name}={_constant(value)}" for name, value in told.items()), *rest])


def _constant(value: object) -> str:
    return str(value) if isinstance(value, bool) else spell(value)


def subject(result: Result) -> str:
    """The model's name and its configuration's: `Lease [ThreeWorkers]`."""
    return subject_text(result.definition, result.configuration)


def subject_text(definition: Definition, configuration: str) -> str:
    """The model's name with its configuration's in brackets, if it has one."""
    name = next((twin.__name__ for twin in _twins_in(definition)), subject_of(definition.cls).__name__)
    return f"{name} [{configuration}]" if configuration else name


# --- the verdict line ---------------------------------------------------------------------------------------


def headline(result: Result) -> str:
    """One line: the verdict, what was checked with which constants, and what the answer rests on."""
    verdict, tally = result.verdict, result.tally
    who = "  ".join(filter(None, (subject(result), constants_text(result.definition))))
    if verdict is Verdict.VIOLATED:
        name, steps = min(result.broken.items(), key=lambda item: item[1])
        constants = constants_text(result.definition)
        more = len(result.broken) - 1
        parts = [f"{subject(result)}.{name}", f"in {number_of(steps, 'step')}", constants]
        parts.append(f"and {number_of(more, 'more property', 'more properties')} broken" if more else "")
        return "  ".join(filter(None, (verdict.value, *parts)))
    if verdict is Verdict.HOLDS:
        return (
            f"{verdict.value}  {who}   {number_of(tally.states, 'state')}, {_all(result)} · {_rest(result)}"
        )
    if verdict is Verdict.HOLDS_WITHIN:
        bounds = (
            _cuts_text(result)
            if len(tally.cuts) > 2
            else ", ".join(
                f"{_bound_text(place)} cut {number_of(n, 'transition')}" for place, n in tally.cuts.items()
            )
        )
        return f"{verdict.value}  {who}   {bounds} · {number_of(tally.states, 'state')} · {_rest(result)}"
    if verdict is Verdict.INCOMPLETE and tally.stop is not None:
        return f"{verdict.value}  {who}   {stop_text(tally.stop)} · {_rest(result)}"
    return f"{verdict.value}  {who}   {_finding_line(result)}"


def _cuts_text(result: Result) -> str:
    place, most = max(result.tally.cuts.items(), key=lambda item: item[1])
    cuts = result.tally.cuts
    whole = f"{len(cuts)} bounds cut {number_of(sum(cuts.values()), 'transition')}"
    return f"{whole}, {_bound_text(place)} alone {most:,}"


def _all(result: Result) -> str:
    return "all of them" if result.tally.states != 1 else "the only one"


def _rest(result: Result) -> str:
    tally, definition = result.tally, result.definition
    asked = number_of(len(definition.invariants), "invariant")
    if definition.witnesses:
        asked += f", {number_of(len(definition.witnesses), 'witness', 'witnesses')}"
    depth = f"{number_of(tally.transitions, 'transition')} · depth {tally.depth}"
    return f"{depth} · {asked} · {result.engine}, {tally.seconds:.2f} s"


def stop_text(stop: Stop) -> str:
    """What stopped the search, and how much it left."""
    unit = " MB" if stop.bound == "memory" else ""
    left = number_of(stop.unexpanded, "state")
    if not stop.chosen:
        return f"ended by {stop.ended} with {left} known and not looked at"
    return f"stopped by {_RAISE[stop.bound]} {stop.limit}{unit} with {left} not looked at"


def _bound_text(place: Place) -> str:
    return f"{statement_text(place) or 'a bound'} at {place}"


def _finding_line(result: Result) -> str:
    telling = [finding for finding in result.findings if finding.word != "bound-cut"]
    worst = sorted(telling, key=lambda finding: finding.word not in ERROR_WORDS)
    more = f", and {len(worst) - 1} more" if len(worst) > 1 else ""
    return f"{worst[0].word}: {worst[0].text}{more}"


def failure_line(failure: Failure) -> str:
    """The verdict line of a model that could not be run."""
    return f"{failure.verdict.value}  {failure.name}   {failure_word(failure)}: {failure_text(failure)}"


def failure_word(failure: Failure) -> str:
    """definition-error M…, refused P…, or bad-input."""
    error = failure.error
    if isinstance(error, DefinitionError):
        return f"definition-error {error.code}"
    return f"refused {error.code}" if isinstance(error, Refused) else "bad-input"


def failure_text(failure: Failure) -> str:
    """What was found, in one line."""
    error = failure.error
    return error.found if isinstance(error, (DefinitionError, Refused)) else str(error).partition("\n")[0]


def failure_details(failure: Failure) -> str:
    """Where it was found and what to write instead."""
    error = failure.error
    if not isinstance(error, (DefinitionError, Refused)):
        return "\n".join(str(error).splitlines()[1:])
    place = [f"the place   {_with_source(error.place)}"] if error.place else []
    return "\n".join([*place, f"write       {error.write}"])


# --- the details --------------------------------------------------------------------------------------------


def details(result: Result, *, width: int = 100, verbose: bool = False) -> str:
    """All under the verdict line; the empty text where a pass needs no more words."""
    blocks = []
    several = len(result.tally.violations) > 1
    for name, found in sorted(result.counterexamples.items(), key=lambda item: item[1].violation.steps):
        head = f"{name}  in {number_of(found.violation.steps, 'step')}\n\n" if several else ""
        blocks.append(head + counterexample_text(result, found, width))
    findings = [finding for finding in result.findings if finding.word != "bound-cut"]
    if len(findings) == 1 and result.verdict.value in _TOLD and findings[0].place is not None:
        blocks.append(f"the place   {_with_source(findings[0].place)}")  # the first line says the rest
    elif findings:
        blocks.append("\n".join(_finding_text(result, finding) for finding in findings))
    blocks += [_fault_text(result, width)] if result.tally.fault is not None else []
    if result.verdict is Verdict.INCOMPLETE and result.tally.stop is not None:
        blocks.append(stop_advice(result.tally.stop))
    if verbose:
        blocks.append(coverage_text(result))
    elif result.why.startswith("fast refuses"):
        blocks.append(_engine_text(result))
    blocks.append(result.declared)
    return "\n\n".join(filter(None, blocks))


def refusal_line(name: str, refusal: Refused) -> str:
    """Said before a search that takes long for a reason which the model's author can mend."""
    return f"falsework: {name} is executed on the class, which is far slower: {refusal.line}"


def _engine_text(result: Result) -> str:
    why, _, write = result.why.partition("; write: ")
    return f"engine: {result.engine} ({why})" + (f"\n  write: {write}" if write else "")


def stop_advice(stop: Stop) -> str:
    """What that says of the rest, and how to get further."""
    if not stop.chosen:
        asked = "If the system ended it for want of memory, --memory MB stops it in time."
        return (
            f"The compiled search was ended by {stop.ended} and the figures are those of its last word.\n"
            "No verdict was reached. "
            + (asked if stop.bound == "signal" else "Make the model smaller: -D NAME=VALUE.")
        )
    option = _RAISE[stop.bound]
    smaller = ", or make the model smaller: -D NAME=VALUE" if stop.bound != "max-depth" else ""
    return (
        f"{number_of(stop.unexpanded, 'state')} had been reached and not looked at when "
        f"{option} {stop.limit} stopped the search.\n"
        "No violation was found before; that says nothing of the rest."
        f" Raise {option}{smaller}."
    )


def _finding_text(result: Result, finding: Finding) -> str:
    where = f"\n  {_with_source(finding.place)}" if finding.place is not None else ""
    word = f"{result.verdict.value.lower()}: " if finding.word in ERROR_WORDS else ""
    return f"{word}{finding.word}  {finding.text}{where}"


def _with_source(place: Place) -> str:
    text = statement_text(place)
    return f"{place}   {text}" if text else str(place)


def _fault_text(result: Result, width: int) -> str:
    from falsework.trace import replay

    fault = result.tally.fault
    assert fault is not None
    steps = fault.trace.steps
    definition = result.definition
    where = f"in {fault.at}" if fault.at else "in the last step" if steps else "in the start"
    done = Trace(fault.trace.start, steps if fault.at else steps[:-1])
    try:
        last = "" if fault.at or not steps else str(steps[-1])
        table = trace_table(definition, replay(definition, done), width, last)
    except Exception as problem:  # noqa: BLE001  a start that faults has no states to show
        return f"the fault happens {where}; no state can be shown ({type(problem).__name__})"
    return f"{table}\n\nthe fault happens {where}, after {number_of(len(done), 'step')}"


# --- counterexamples ----------------------------------------------------------------------------------------


def counterexample_text(result: Result, found: Counterexample, width: int = 100) -> str:
    """The table of changed cells, the failing conjunct with what it read, the twin, and how to replay it."""
    lines = [trace_table(result.definition, found.taken, width), ""]
    lines += reason_lines(result.definition, found)
    lines += twin_lines(result.definition)
    lines.append(f"again          {again(result, found.violation.trace)}")
    return "\n".join(lines)


def again(result: Result, trace: Trace) -> str:
    """The command that executes the trace again; of a long one, the commands that keep it in a file."""
    model = result.command or result.definition.path
    first = next(iter(result.tally.violations.values()), None)
    if len(trace) > _STEPS_AGAIN and first is not None and first.trace == trace:
        return f"falsework check {model} --save trace.json; falsework replay trace.json"
    return trace_command(model, trace)


def trace_command(model: str, trace: Trace) -> str:
    """The command that executes the trace of the model so named."""
    steps = " ".join(map(str, (*([trace.start] if trace.start else []), *trace.steps)))
    return f"falsework replay {model} {shlex.quote(steps)}"


def reason_lines(definition: Definition, found: Counterexample) -> list[str]:
    """Why the property is broken at the end of the counterexample, each line with its word at the left."""
    name, last = found.violation.name, found.taken[-1]
    if name == values_stay_in_domain:
        cell = (found.violation.outside or last.outside).replace("answer = ", "the answer ")
        variable = next((v for v in definition.variables if cell.startswith(v.name)), None)
        domain = f"   {variable.place}   {variable.name}: {_domain(variable.domain)}" if variable else ""
        return [f"the value      {cell}{domain}"]
    if name == deadlock:
        return ["no action is enabled there:", *(f"  {line}" for line in _false_guards(definition, found))]
    prop = next(p for p in definition.invariants if p.name == name)
    reason = reason_of(definition, prop, found)
    lines = [f"the invariant  {reason.place}   {reason.text}"]
    if reason.through:
        lines.append(f"               in {', '.join(reason.through)} of {prop.name}")
    lines += [f"               {reading}" for reading in reason.readings]
    return lines


def _domain(domain: object) -> str:
    return str(domain.value) if isinstance(domain, MapOf) else str(domain)


def reason_of(definition: Definition, prop: Property, found: Counterexample) -> Reason:
    """Why the property is false at the end of the counterexample."""
    last = found.taken[-1]
    known: dict[str, object] = {}
    if prop.kind == "step":
        action = next(a for a in definition.actions if a.name == last.label.action)
        known = step_arguments(action, last.label, last.answer, found.taken[-2].state)
    return false_conjunct(definition, prop, last.state, known)


def _false_guards(definition: Definition, found: Counterexample) -> Iterator[str]:
    state = found.taken[-1].state
    labels = [(action, label) for action in definition.actions for label in instances(definition, action)]
    for action, label in labels[:_GUARDS_SHOWN]:
        reason = false_guard(definition, action, state, label)
        if reason is not None:
            read = f"   ({', '.join(reason.readings)})" if reason.readings else ""
            yield f"{label}  {reason.place}   {reason.text}{read}"
    if len(labels) > _GUARDS_SHOWN:
        yield f"… and {len(labels) - _GUARDS_SHOWN} more instances"


def twin_lines(definition: Definition) -> list[str]:
    """What the twin overrides, and where; nothing for a model that is no twin."""
    lines = []
    for twin in _twins_in(definition)[:1]:
        for name in overridden(twin):
            above = next(k for k in twin.__mro__[1:] if name in vars(k) or name in annotations_of(k))
            lines.append(
                f"the twin       {_place_of(twin, name)}   {name} overrides {_place_of(above, name)}"
            )
    return lines


def _twins_in(definition: Definition) -> list[type]:
    return [k for k in definition.cls.__mro__ if (role := role_of(k)) is not None and role.kind == "twin"]


def _place_of(cls: type, name: str) -> Place:
    value = vars(cls).get(name)
    if callable(value) and hasattr(value, "__code__"):
        return function_place(value)
    return name_line(cls, name)


# --- coverage -----------------------------------------------------------------------------------------------


def coverage_text(result: Result) -> str:
    """Per action, premise, bound and witness, how often it counted."""
    tally = result.tally
    rows = [["action", "enabled", "fired", "self-loops", "cut"]]
    rows += [
        [name, *(f"{n:,}" for n in (c.enabled, c.fired, c.self_loops, c.cut))]
        for name, c in tally.coverage.items()
    ]
    blocks = ["\n".join(aligned(rows))]
    if tally.premises:
        found = [[key[0], str(premise_place(key)), f"{times:,}"] for key, times in tally.premises.items()]
        blocks.append("\n".join(aligned([["premise of", "at", "true"], *found])))
    if tally.cuts:
        cuts = [[str(place), f"{times:,}"] for place, times in tally.cuts.items()]
        blocks.append("\n".join(aligned([["bound", "cut"], *cuts])))
    if tally.witnesses:
        met = [
            [name, "not reached" if n is None else number_of(n, "step")]
            for name, n in tally.witnesses.items()
        ]
        blocks.append("\n".join(aligned([["witness", "reached in"], *met])))
    shown = tally.levels[:_LEVELS_SHOWN]
    levels = " ".join(map(str, shown)) + (" …" if len(tally.levels) > len(shown) else "")
    blocks.append(f"states first reached in 0, 1, … steps: {levels}")
    blocks.append(_engine_text(result))
    return "\n\n".join(blocks)


def aligned(rows: list[list[str]], *, gap: str = "  ") -> list[str]:
    """The rows with their columns under each other: texts to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    numeric = [
        len(rows) > 1 and all(row[i].replace(",", "").isdigit() for row in rows[1:])
        for i in range(len(rows[0]))
    ]
    return [
        gap.join(
            cell.rjust(w) if right else cell.ljust(w)
            for cell, w, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in rows
    ]
