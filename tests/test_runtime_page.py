"""docs/runtime.md: its examples run one after the other, on a file in a test's folder."""

import re
from pathlib import Path

from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail import Recorded
from falsework.runtime.trail.verify import verify

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "runtime.md").read_text(encoding="utf-8")
STORES, TRAIL = (
    PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0] for name in ("Stores", "Audit trail")
)


def example(section: str) -> str:
    (block,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return str(block)


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    exec(compile(example(STORES), "docs/runtime.md", "exec"), {"path": path})  # noqa: S102  the page is ours
    with SqliteStore(path) as store:
        names: dict[str, object] = {"store": store}
        exec(compile(example(TRAIL), "docs/runtime.md", "exec"), names)  # noqa: S102  likewise
        assert isinstance(names["answer"], Recorded)
        assert verify(store).is_clean
