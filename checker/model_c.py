"""The C source of one model: its instances, its predicates, and the numbers of what the core counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from falsework.accounting import PremiseKey
from falsework.emit_c import CBody, CPrinter, Words
from falsework.errors import Place
from falsework.lower import Instance, Lowered, Predicate
from falsework.source import deep

_HEAD = """/* Printed from {name}; every line of it can be printed again. */
#include "engine.h"

#define SOMETIMES static inline __attribute__((unused))
SOMETIMES int is(word w, word mask, word wanted) {{ return (w & mask) == wanted; }}
SOMETIMES int64_t floordiv(int64_t a, int64_t b) {{ return a / b - (a % b < 0); }}
SOMETIMES int64_t mod(int64_t a, int64_t b) {{ return a % b + (a % b < 0 ? b : 0); }}
SOMETIMES int64_t clamp(int64_t index, int64_t size) {{ return 0 <= index && index < size ? index : 0; }}
"""
EXPANDED = "const state *s, state *out, counts *c, int *on, noted note, void *context"
TOGETHER = 128
"""Steps in one function: a compiler's time rises faster than what it is given to compile at once."""


@dataclass
class Numbers:
    """What the core counts by number: properties, witnesses, places of cuts, and premises."""

    properties: list[str]
    witnesses: list[str]
    cuts: list[Place] = field(default_factory=list)
    premises: list[PremiseKey] = field(default_factory=list)

    def cut(self, place: Place) -> int:
        """The number of the bound at that place."""
        if place not in self.cuts:
            self.cuts.append(place)
        return self.cuts.index(place)

    def premise(self, key: PremiseKey) -> int:
        """The number of the premise."""
        if key not in self.premises:
            self.premises.append(key)
        return self.premises.index(key)


class ModelSource:
    """The text, with the numbers that its results are read by."""

    def __init__(self, lowered: Lowered) -> None:
        with deep():
            self._print(lowered)

    def _print(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self.pool = lowered.pool
        self.words = Words(lowered)
        self.printer = CPrinter(lowered, self.words)
        definition = lowered.definition
        self.numbers = Numbers(
            [p.name for p in definition.invariants], [p.name for p in definition.witnesses]
        )
        steps = [self.step(number, instance) for number, instance in enumerate(lowered.instances)]
        rest = [self.judge(), self.witnessed(), self.premises(), self.terminal(), self.expand()]
        self.text = "\n".join(
            [_HEAD.format(name=definition.path), *self.tables(), *steps, *rest, *self.sizes()]
        )

    def tables(self) -> list[str]:
        """The constant arrays."""
        rows = self.printer.tables.items()
        return [
            f"static const int64_t {name}[] = {{{', '.join(map(str, values))}}};" for values, name in rows
        ]

    def sizes(self) -> list[str]:
        """How many there are of everything that has a number."""
        count = len(self.lowered.instances)
        table = ", ".join(f"step_{i}" for i in range(count)) or "0"
        return [
            f"const step_function model_steps[] = {{{table}}};",
            f"const unsigned model_instances = {count};",
            f"const unsigned model_properties = {len(self.numbers.properties)};",
            f"const unsigned model_witnesses = {len(self.numbers.witnesses)};",
            f"const unsigned model_cuts = {len(self.numbers.cuts)};",
            f"const unsigned model_premises = {len(self.numbers.premises)};",
            "",
        ]

    # --- steps

    def step(self, number: int, instance: Instance) -> str:
        """One instance: what it decides, counts and changes."""
        self.printer.place = instance.action.place
        roots = [g.node for g in instance.guards] + [instance.outside, *instance.effects.values()]
        for judged in instance.steps:
            roots += [judged.fault, judged.holds, *(n for _, n in judged.sound)]
        body = CBody(self.printer, roots)
        for guard in instance.guards:
            condition = body.condition(guard.node)
            if guard.kind == "fault":
                body.lines.append(f"    if ({condition}) return FAULT;")
            elif guard.kind == "require":
                body.lines.append(f"    if (!({condition})) return OFF;")
            else:
                counted = f"c->cut[{number}]++; c->cuts[{self.numbers.cut(guard.place)}]++;"
                body.lines.append(f"    if (!({condition})) {{ {counted} return CUT; }}")
        body.lines.append(f"    c->fired[{number}]++;")
        if instance.outside is not self.pool.false:
            body.lines.append(f"    if ({body.condition(instance.outside)}) return OUTSIDE;")
        for code in instance.effects.values():
            body.need(code)
        self.printer.lets = body.lets
        body.lines += self.printer.after(instance.effects, instance.facts)
        self._ends(body, number, instance)
        head = f"static inline int step_{number}(const state *s, state *t, counts *c)"
        return f"/* {instance.label} */\n" + body.text(head)

    def _ends(self, body: CBody, number: int, instance: Instance) -> None:
        """The step invariants, and whether anything changed at all."""
        judged = [j for j in instance.steps if not j.decided]
        if judged:
            body.lines.append("    c->broken_count = 0;")
        for one in judged:
            self.printer.place = one.prop.place
            if one.fault is not self.pool.false:
                body.lines.append(f"    if ({body.condition(one.fault)}) c->at_fault = 1;")
            for key, node in one.sound:
                premise = self.numbers.premise(key)
                if node is not self.pool.false:
                    body.lines.append(f"    if ({body.condition(node)}) c->premises[{premise}]++;")
            if one.holds is not self.pool.true:
                broken = f"c->broken[c->broken_count++] = {self.numbers.properties.index(one.prop.name)};"
                body.lines.append(f"    if (!({body.condition(one.holds)})) {broken}")
        stays = instance.may_stay
        if stays:
            body.lines.append(f"    int same = same_state(s, t);\n    c->stayed[{number}] += same;")
        if judged:
            body.lines.append("    if (c->broken_count) return BROKEN;")
        body.lines.append("    return same ? STAYED : FIRED;" if stays else "    return FIRED;")

    def expand(self) -> str:
        """Every instance in turn, so many in a function."""
        every = range(len(self.lowered.instances))
        lines = [
            "static __attribute__((unused))",
            "void rest(int r, const state *s, const state *t, counts *c, noted note, void *context) {",
            "    if (r == FAULT) note(context, AT_FAULT, s);",
            "    if (r == OUTSIDE) note(context, DOMAIN_LEFT, s);",
            "    if (r != BROKEN) return;",
            "    int fault = 0;",
            "    for (int b = 0; b < c->broken_count; b++) note(context, c->broken[b], s);",
            "    int n = model_judge(t, c->broken, &fault);",
            "    for (int b = 0; b < n; b++) note(context, c->broken[b], s);",
            "    if (fault) note(context, AT_FAULT, s);",
            "}",
        ]
        some = [every[first : first + TOGETHER] for first in range(0, len(every), TOGETHER)]
        apart = "static" if len(some) == 1 else "static __attribute__((noinline))"
        for number, steps in enumerate(some):
            lines.append(f"{apart} state *expand_{number}({EXPANDED}) {{\n    int any = *on, r;")
            for step in steps:
                lines.append(f"    r = step_{step}(s, out, c);")
                lines.append("    if (r == FIRED) out++;")
                lines.append("    else if (r > STAYED) rest(r, s, out, c, note, context);")
                lines.append("    any |= r;")
            lines.append("    *on = any;\n    return out;\n}")
        lines.append(f"state *model_expand({EXPANDED}) {{")
        lines.append("    *on = 0; (void)s, (void)c, (void)note, (void)context;")
        lines += [f"    out = expand_{number}(s, out, c, on, note, context);" for number in range(len(some))]
        return "\n".join([*lines, "    return out;", "}"])

    # --- predicates

    def judge(self) -> str:
        """The state invariants, each by its number."""
        predicates = self.lowered.invariants
        body = CBody(self.printer, [n for p in predicates for n in (p.fault, p.holds)])
        body.lines.append("    int n = 0; (void)broken;")
        for predicate in predicates:
            self.printer.place = predicate.prop.place
            if predicate.fault is not self.pool.false:
                body.lines.append(f"    if ({body.condition(predicate.fault)}) *fault = 1;")
            if predicate.holds is not self.pool.true:
                broken = f"broken[n++] = {self.numbers.properties.index(predicate.prop.name)};"
                body.lines.append(f"    if (!({body.condition(predicate.holds)})) {broken}")
        body.lines.append("    (void)fault; return n;")
        return body.text("int model_judge(const state *s, int *broken, int *fault)")

    def witnessed(self) -> str:
        """Each witness by its number."""
        functions, cases = [], []
        for number, predicate in enumerate(self.lowered.witnesses):
            functions.append(self._answer(f"witness_{number}", predicate))
            cases.append(f"    if (witness == {number}) return witness_{number}(s);")
        head = "int model_witnessed(const state *s, unsigned witness) {\n    (void)s; (void)witness;"
        return "\n".join([*functions, head, *cases, "    return 0;", "}"])

    def _answer(self, name: str, predicate: Predicate) -> str:
        self.printer.place = predicate.prop.place
        body = CBody(self.printer, [predicate.fault, predicate.node])
        if predicate.fault is not self.pool.false:
            body.lines.append(f"    if ({body.condition(predicate.fault)}) return 2;")
        body.lines.append(f"    return ({body.condition(predicate.node)}) ? 1 : 0;")
        return body.text(f"static int {name}(const state *s)")

    def premises(self) -> str:
        """The true premises of the state invariants."""
        found = [
            (predicate.prop.place, *pair) for predicate in self.lowered.invariants for pair in predicate.sound
        ]
        body = CBody(self.printer, [node for *_, node in found])
        for place, key, node in found:
            self.printer.place = place
            premise = self.numbers.premise(key)
            if node is not self.pool.false:
                body.lines.append(f"    if ({body.condition(node)}) c->premises[{premise}]++;")
        body.lines.append("    (void)c;")
        return body.text("void model_count_premises(const state *s, counts *c)")

    def terminal(self) -> str:
        """Whether the system may stay: the first answer but no of the terminal predicates, in order."""
        functions, calls = [], []
        for number, predicate in enumerate(self.lowered.terminals):
            functions.append(self._answer(f"terminal_{number}", predicate))
            calls.append(f"    if ((r = terminal_{number}(s))) return r;")
        head = "int model_terminal(const state *s) {\n    int r = 0; (void)s; (void)r;"
        return "\n".join([*functions, head, *calls, "    return 0;", "}"])
