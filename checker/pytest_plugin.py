"""Models in a user's pytest file: one line a model: its check, configurations, twins, machine."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from falsework.check import Result
    from falsework.language import Model
    from falsework.prove_contract import ProofContract
    from falsework.twin_contract import Contract

_RESULTS = pytest.StashKey[dict[tuple[str, str, bool], Any]]()


@dataclass(frozen=True)
class ModelTests:
    """The tests of one model, made where they are collected, so that its twins may follow in the file."""

    model: type[Model]
    twins: tuple[ModuleType, ...]
    line: int

    def __call__(self) -> None:
        """Only pytest runs these; without the plugin it warns that it cannot."""
        raise pytest.UsageError("model_tests needs the plugin: pytest -p falsework.pytest_plugin")


def model_tests(model: type[Model], *twins: ModuleType) -> ModelTests:
    """The tests of the model; the modules that hold its twins follow it, for only what is imported is tested.

    Raises InputError for what is no model, and for a twin or a configuration.
    """
    from falsework.errors import InputError
    from falsework.language import Model, role_of

    asked: object = model
    if not (isinstance(asked, type) and issubclass(asked, Model) and asked is not Model):
        name = getattr(asked, "__name__", repr(asked))
        raise InputError(f"model_tests({name}): that is no model; name a subclass of Model")
    if (role := role_of(model)) is not None:
        raise InputError(
            f"model_tests({model.__name__}): a {role.kind} is tested with its model; name the model"
        )
    for module in twins:
        found: object = module
        if not isinstance(found, ModuleType):
            raise InputError(f"model_tests({model.__name__}, {found!r}): what follows is a module of twins")
    return ModelTests(model, twins, sys._getframe(1).f_lineno)


# --- collecting ------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option: how far a check may look."""
    group = parser.getgroup("falsework")
    group.addoption(
        "--falsework-max-states",
        type=int,
        metavar="N",
        help="a model's check that needs more states than this is INCOMPLETE, and fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Results are shared by the tests of one run: many twins have the same clean model."""
    most = config.getoption("--falsework-max-states")
    if most is not None and most < 1:
        raise pytest.UsageError(f"--falsework-max-states {most}: write a number of states, 1 or more")
    config.stash[_RESULTS] = {}


def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str, obj: object
) -> list[pytest.Item] | None:
    """A variable that holds the tests of a model becomes one item a question."""
    if not isinstance(obj, ModelTests) or not getattr(collector, "funcnamefilter", lambda _: True)(name):
        return None
    return [
        ModelItem.from_parent(collector, name=f"{name}[{case}]", tests=obj, kind=kind, asked=asked)
        for kind, case, asked in _cases(obj)
    ]


def _cases(tests: ModelTests) -> Iterator[tuple[str, str, type[Model]]]:
    from falsework.definition import definition_of
    from falsework.errors import DefinitionError
    from falsework.naming import configurations_of, twins_of

    try:
        definition = definition_of(tests.model)
        explorable, obliged = definition.explorable, bool(definition.obligations)
    except DefinitionError:
        explorable, obliged = True, False  # the check says what is wrong
    if explorable:
        yield "check", "check", tests.model
    if obliged:
        yield "prove", "prove", tests.model
    for cls in configurations_of(tests.model):
        yield "configuration", f"configuration {cls.__name__}", cls
    twins = twins_of(tests.model)
    for cls in twins:
        yield "twin", f"twin {cls.__name__}", cls
    if not twins:
        yield "twins", "twins", tests.model
    if explorable:
        yield "machine", "machine", tests.model


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A mistake in a model that shows while its file is imported is told without a traceback."""
    report = yield
    excinfo = getattr(getattr(report, "call", None), "excinfo", None)
    if excinfo is not None and type(excinfo.value).__module__ == "falsework.errors":
        report.longrepr = str(excinfo.value)
    return report


# --- running ---------------------------------------------------------------------------------------------


class NotAsDeclared(Exception):
    """A question about a model that was not answered with a pass; its text is the report."""


class ModelItem(pytest.Item):
    """One question about a model."""

    def __init__(self, *, tests: ModelTests, kind: str, asked: type[Model], **options: Any) -> None:
        super().__init__(**options)
        self.tests = tests
        self.kind = kind
        self.asked = asked

    def runtest(self) -> None:
        """Passes where the answer is a pass; a model that cannot be run fails with its placed error."""
        from falsework.check import Failure
        from falsework.errors import FalseworkError
        from falsework.report_text import failure_details, failure_line

        ask = {
            "check": self._check,
            "prove": self._prove,
            "twin": self._bent,
            "configuration": self._bent,
            "machine": self._machine,
        }
        try:
            ask.get(self.kind, self._no_twins)()
        except FalseworkError as problem:
            failure = Failure(self.asked.__name__, problem)
            told = "\n\n".join(filter(None, (failure_line(failure), failure_details(failure))))
            raise NotAsDeclared(told) from None

    def reportinfo(self) -> tuple[Path, int, str]:
        """The line of the test file that asks."""
        return self.path, self.tests.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report and nothing else, except where falsework itself failed."""
        if isinstance(excinfo.value, NotAsDeclared):
            return str(excinfo.value)
        excinfo.traceback = excinfo.traceback.cut(path=__file__)
        return super().repr_failure(excinfo, style)

    def _answer(self, cls: type[Model], every: bool = True) -> Result:
        from falsework.accounting import DEFAULT_MAX_STATES
        from falsework.check import check
        from falsework.definition import definition_of

        known = self.config.stash[_RESULTS]
        definition = definition_of(cls)
        key = (definition.path, definition.digest, every)
        if key not in known:
            most = self.config.getoption("--falsework-max-states") or DEFAULT_MAX_STATES
            known[key] = check(cls, max_states=most, every=every)
        result: Result = known[key]
        return result

    def _check(self) -> None:
        result = self._answer(self.asked, every=False)
        if not result.verdict.passes:
            raise NotAsDeclared(_report(result))

    def _prove(self) -> None:
        from falsework.proofs import prove
        from falsework.report_document import render
        from falsework.report_prove import prove_document

        proofs = prove(self.asked)
        if not proofs.verdict.passes:
            raise NotAsDeclared(render(prove_document(self.asked.__name__, [proofs])))

    def _bent(self) -> None:
        """A twin or a configuration: what it does, and what is proved of it."""
        from falsework.definition import definition_of
        from falsework.proofs import prove
        from falsework.prove_contract import judge_obligations, with_obligations
        from falsework.twin_contract import judge_configuration, judge_twin

        definition = definition_of(self.asked)
        proved = judge_obligations(self.asked, self.kind, prove) if definition.obligations else None
        if not definition.explorable and proved is not None:
            _kept(proved)
            return
        judge = judge_twin if self.kind == "twin" else judge_configuration
        contract = judge(self.asked, self._answer)
        if proved is not None:
            with_obligations(contract, proved)
        _kept(contract)

    def _no_twins(self) -> None:
        pytest.skip(f"{self.asked.__name__} has no twin: nothing shows that its invariants can be broken")

    def _machine(self) -> None:
        pytest.importorskip("hypothesis", reason="pip install 'falsework[hypothesis]' to draw walks")
        from hypothesis.stateful import run_state_machine_as_test

        from falsework.machine import Refuted, machine

        try:
            run_state_machine_as_test(machine(self.asked))
        except Refuted as found:
            raise NotAsDeclared(str(found)) from None


def _report(result: Result) -> str:
    from falsework.report_text import details, headline

    text = "\n\n".join(filter(None, (headline(result), details(result))))
    return text.replace("--max-states", "--falsework-max-states")  # the option's name here


def _kept(contract: Contract | ProofContract) -> None:
    """Raises NotAsDeclared with every problem, and with the counterexamples to what was not declared so."""
    from falsework.report_text import counterexample_text
    from falsework.twin_contract import Contract
    from falsework.verdict import Verdict

    if not contract.problems:
        return
    word = "NOT AS DECLARED" if contract.verdict is Verdict.VIOLATED else contract.verdict.value
    lines = [f"{word}  {contract.kind} {contract.cls.__name__}"]
    lines += [f"  {problem.word}: {problem.text}" for problem in contract.problems]
    blocks = ["\n".join(lines)]
    told = dict.fromkeys(problem.about for problem in contract.problems if problem.about)
    for name in told:
        if isinstance(contract, Contract) and name in contract.result.counterexamples:
            found = contract.result.counterexamples[name]
            blocks.append(f"{name}\n\n{counterexample_text(contract.result, found)}")
    raise NotAsDeclared("\n\n".join(blocks))
