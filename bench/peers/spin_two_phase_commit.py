"""Two-phase commit for SPIN: one process, an option for each step, the state in as few bits as can be.

MANAGERS: prints the model. A manager has two bits of `stage`: 0 works, 1 is prepared, 2 has committed,
3 has aborted.
"""

import sys


def steps(managers: int) -> list[tuple[str, str]]:
    """Guard and effect of every step."""
    everyone = (1 << managers) - 1
    found = [
        (f"orders == 0 && heard == {everyone}", "orders = 1"),
        ("orders == 0", "orders = 2"),
    ]
    for manager in range(managers):
        bit, first, both = 1 << manager, 1 << 2 * manager, 3 << 2 * manager
        found += [
            (f"orders == 0 && (votes & {bit})", f"heard = heard | {bit}"),
            (f"(stage & {both}) == 0", f"stage = stage | {first}; votes = votes | {bit}"),
            (f"(stage & {both}) == 0", f"stage = stage | {both}; assert(AGREE)"),
            ("orders == 1", f"stage = (stage & {~both}) | {first << 1}; assert(AGREE)"),
            ("orders == 2", f"stage = stage | {both}; assert(AGREE)"),
        ]
    return found


def model(managers: int) -> str:
    """The whole Promela text."""
    lows = sum(1 << 2 * manager for manager in range(managers))
    highs = f"(stage >> 1 & {lows})"
    lines = [
        f"#define AGREE (({highs} & stage) == 0 || ({highs} & ~stage) == 0)",
        "int stage;",
        "short heard, votes;",
        "byte orders; /* 1: commit, 2: abort */",
        "active proctype system() {",
        "end: do",
        *(f"  :: d_step {{ {guard} -> {effect} }}" for guard, effect in steps(managers)),
        "  od",
        "}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(model(int(sys.argv[1])))
