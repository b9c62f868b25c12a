"""The engines by name, and which one `auto` takes: small models at once, larger ones compiled."""

from __future__ import annotations

from dataclasses import replace

from falsework.accounting import Bounds, Progress, Stop, Tally
from falsework.definition import Definition
from falsework.errors import InputError, NoCompiler, Refused
from falsework.explore import explore

ENGINES = ("auto", "explore", "fast", "native")
PROBE = 100_000
"""States that `auto` lets `fast` reach before it compiles the model; about what compiling costs."""

Answered = tuple[Tally, str, str]
"""The tally, the engine that made it, and why it was that one."""


def search(
    definition: Definition,
    wanted: str,
    bounds: Bounds,
    progress: Progress | None,
    *,
    threads: int | None = None,
) -> Answered:
    """The search by the engine of that name; raises InputError, Refused, NoCompiler or EngineFailed.

    The threads are those of `native`; None is one for each processor.
    """
    if wanted not in ENGINES:
        raise InputError(f"no engine {wanted!r}; write one of: {', '.join(ENGINES)}")
    from falsework.fast import fast
    from falsework.lower import lower

    try:
        lower(definition)  # whatever the engine: some mistakes in a definition take intervals to see
    except Refused as refusal:
        if wanted in ("fast", "native"):
            raise
        if wanted == "auto":
            why = f"fast refuses the model: {refusal.line}"
            return _explore(definition, bounds, progress), "explore", why
    if wanted == "explore":
        return _explore(definition, bounds, progress), "explore", "asked for"
    if wanted == "fast":
        return fast(definition, bounds, progress), "fast", "asked for"
    if wanted == "native":
        from falsework.native import native

        return native(definition, bounds, progress, threads=threads), "native", "asked for"
    return _auto(definition, bounds, progress, threads)


def _auto(definition: Definition, bounds: Bounds, progress: Progress | None, threads: int | None) -> Answered:
    from falsework.fast import fast

    tally = fast(definition, replace(bounds, max_states=min(PROBE, bounds.max_states)), progress)
    tally.bounds = bounds
    if tally.stop is None or tally.stop.bound == "max-depth" or bounds.max_states <= PROBE:
        return tally, "fast", "the default"
    full = tally.stop.bound == "memory"
    del tally  # a probe's stop is no result, and its memory is needed
    from falsework.native import native

    why = "the same memory holds more states" if full else f"there are more than {PROBE:,} states"
    try:
        return native(definition, bounds, progress, threads=threads), "native", why
    except (NoCompiler, Refused) as problem:
        why = f"native is not to be had: {str(problem).splitlines()[0]}"
        return fast(definition, bounds, progress), "fast", why


def _explore(definition: Definition, bounds: Bounds, progress: Progress | None) -> Tally:
    """The reference search; what it may hold in memory is looked at after each level."""
    if bounds.memory_mb is None:
        return explore(definition, bounds, progress)
    from falsework.fast import resident_mb

    limit = bounds.memory_mb

    def look(tally: Tally, waiting: int) -> None:
        if progress is not None:
            progress(tally, waiting)
        if waiting and resident_mb() > limit:
            tally.stop = Stop("memory", limit, waiting)

    return explore(definition, bounds, look)
