"""`python -m benchmarks.testing [planted] [cases] [shapes]`: the assertions and shapes beside other packages'."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

HERE = Path(__file__).parent
PARTS = ("planted", "cases", "shapes")


def write(part: str, text: str) -> None:
    """Each part has a section of its own in RESULTS.md."""
    path = HERE / "RESULTS.md"
    old = path.read_text() if path.exists() else "# Tests and shapes\n"
    head, mark = f"\n## {part}\n", "\n## "
    before, found, after = old.partition(head)
    rest = after.partition(mark)
    tail = mark + rest[2] if found and rest[1] else ""
    path.write_text(before.rstrip("\n") + "\n" + head + "\n" + text.strip() + "\n" + tail)


def planted() -> None:
    from benchmarks.testing.planted import table

    rows, counts = table()
    lines = [
        f"- {name}: {c['found']} of 16 found"
        + (f", {c['named']} named" if name == "paramedic" else "")
        + f"; {c['false']} of the 16 healthy twins fail"
        for name, c in counts.items()
    ]
    words = "Digits of scikit-learn, batches of 32, each bug beside its healthy twin. Cells list the checks that fail."
    write("Sixteen planted bugs", "\n".join([words, "", *rows, "", *lines]))


def main() -> None:
    torch.set_num_threads(1)
    for part in sys.argv[1:] or PARTS:
        if part == "planted":
            planted()
        elif part == "cases":
            from benchmarks.testing.cases import report

            write("Sick and healthy programs", report())
        elif part == "shapes":
            from benchmarks.testing.shapes import report as shapes

            write("Totals of shapes", shapes())
        else:
            raise SystemExit(f"unknown part {part}: one of {', '.join(PARTS)}")


if __name__ == "__main__":
    main()
