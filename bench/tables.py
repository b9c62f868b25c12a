"""The arithmetic of a comparison and its table: medians, rates per CPU second, ratios round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from measure import Contender, Sample


@dataclass(frozen=True)
class Target:
    """What a job must reach: a least ratio to a rival, most CPU seconds of a process, or most bytes a state.

    `of` says what a ratio is of: the search's CPU, the process's, or the seconds that go by (`wall`).
    The last depend on what else the machine does: they are noted, and never missed.
    """

    text: str
    contender: str
    rival: str = ""
    least: float = 0.0
    most: float = 0.0
    of: str = "search"
    states: int = 0


@dataclass(frozen=True)
class Job:
    """Contenders that do the same, the first of which is ours; how much it is; and what is to be reached."""

    title: str
    contenders: tuple[Contender, ...]
    transitions: int
    targets: tuple[Target, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A target, the figure that was measured for it, and whether that reaches it."""

    target: Target
    figure: float | None
    met: bool

    def __str__(self) -> str:
        """One line."""
        if self.figure is None:
            return f"{self.target.text}: not measured, for {self.target.rival} is not here"
        unit = "×" if self.target.rival else " bytes" if self.target.states else " s"
        verdict = "noted" if self.target.of == "wall" else "met" if self.met else "MISSED"
        return f"{self.target.text}: {self.figure:.2f}{unit}, {verdict}"


Samples = dict[str, list[Sample]]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How many times ours theirs is: the median of the ratios within each round."""
    return median(their / our for our, their in zip(ours, theirs, strict=True))


def searches(samples: Sequence[Sample]) -> list[float]:
    """What the search alone took in each; the whole process where it does not say."""
    return [sample.cpu if sample.search is None else sample.search for sample in samples]


def measured(samples: Sequence[Sample], of: str) -> list[float]:
    """What a ratio is of."""
    if of == "search":
        return searches(samples)
    return [sample.wall if of == "wall" else sample.cpu for sample in samples]


def bytes_each(samples: Sequence[Sample], states: int) -> float:
    """The peak memory of the search's program, or else of the process, shared out to the states."""
    peaks = [sample.peak if sample.search_peak is None else sample.search_peak for sample in samples]
    return median(peaks) * (1 << 20) / states


def answers(job: Job, samples: Samples) -> list[Answer]:
    """What the run says of each target. A target whose rival was not run is neither met nor missed."""
    found = []
    for target in job.targets:
        ours = samples[target.contender]
        if not target.rival:
            each = target.states and bytes_each(ours, target.states)
            figure = each or median(sample.cpu for sample in ours)
            found.append(Answer(target, figure, figure <= target.most))
        elif target.rival in samples:
            figure = ratio(measured(ours, target.of), measured(samples[target.rival], target.of))
            found.append(Answer(target, figure, target.of == "wall" or figure >= target.least))
        else:
            found.append(Answer(target, None, False))
    return found


HEAD = ("", "version", "search, CPU s", "million/s", "process, CPU s", "million/s", "s", "peak, MB", "× CPU")


def table(job: Job, samples: Samples) -> str:
    """The job as markdown: medians, and in brackets the least and the most."""
    lines = [f"### {job.title}", "", _line(HEAD), _line(["---"] + ["---:"] * (len(HEAD) - 1))]
    ours = samples[job.contenders[0].name]
    for contender in job.contenders:
        mine = samples[contender.name]
        whole = [sample.cpu for sample in mine]
        alone = [sample.search for sample in mine if sample.search is not None]
        times = ratio([sample.cpu for sample in ours], whole)
        cells = [contender.name, contender.version]
        for seconds in (alone, whole):
            cells += [_spread(seconds), _rate(job.transitions, seconds)]
        cells += [f"{median(s.wall for s in mine):.2f}", f"{median(s.peak for s in mine):.0f}"]
        cells += [f"{times:.2f}"]
        lines.append(_line(cells))
    lines += ["", *(f"- {answer}" for answer in answers(job, samples))]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _spread(figures: Sequence[float]) -> str:
    return f"{median(figures):.2f} ({min(figures):.2f}–{max(figures):.2f})" if figures else "-"


def _rate(transitions: int, seconds: Sequence[float]) -> str:
    """Transitions per CPU second, in millions; of nothing generated, none."""
    return f"{transitions / median(seconds) / 1e6:.2f}" if seconds and transitions else "-"
