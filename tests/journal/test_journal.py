"""`paramedic journal`: notes, what enters itself, and assumptions that a run contradicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from inside import call, refused
from paramedic.findings import Diagnosis, Finding, LossCurve, RunFacts, Where
from paramedic.journal import book
from paramedic.journal.assumptions import check, is_checkable
from workshop import TRAIN, Workshop


def judged(
    *, steps: int = 600, lowest: float = 0.4, codes: tuple[str, ...] = (), clear: tuple[str, ...] = ()
) -> Diagnosis:
    """A run whose loss falls in a straight line from 1, with these findings."""
    values = tuple(1 - (1 - lowest) * step / (steps - 1) for step in range(steps))
    curve = LossCurve(label="train.py:3", steps=tuple(range(steps)), values=values)
    where = Where(file="train.py", line=3)
    findings = tuple(
        Finding(code=c, name="n", severity="error", what="w", why="", remedy="", where=where) for c in codes
    )
    facts = RunFacts(id="r", record="r", steps=steps, losses=(curve,))
    return Diagnosis(verdict="sick", findings=findings, clear=clear, abstained=(), crashed=(), run=facts)


@pytest.mark.parametrize(
    ("text", "run", "holds"),
    [
        ("loss falls below 0.3 by step 500", judged(lowest=0.4), False),
        ("loss falls below 0.5 by step 600", judged(lowest=0.4), True),
        ("loss falls below 0.5 by step 300", judged(lowest=0.4), False),
        ("Training loss < 0.3 within 1,000 steps", judged(lowest=0.4), None),
        ("the loss gets under 5e-1", judged(lowest=0.4), True),
        ("validation loss drops below 0.3", judged(), None),
        ("labels are balanced", judged(codes=("PM305",)), False),
        ("labels are balanced", judged(clear=("PM305",)), True),
        ("The labels are well balanced.", judged(), None),
        ("train and val do not overlap", judged(codes=("PM307",)), False),
        ("inputs are normalised", judged(codes=("PM301",)), False),
        ("bigger is better", judged(codes=("PM305",)), None),
    ],
)
def test_assumptions_are_checked_where_a_run_can_tell(text: str, run: Diagnosis, holds: bool | None) -> None:
    assert check(text, run).holds is holds
    assert is_checkable(text) is (text != "bigger is better")


def test_notes_come_out_by_day_as_markdown(tmp_path: Path) -> None:
    assert "is empty" in call(tmp_path, "journal").stdout
    assert "note written" in call(tmp_path, "journal", "warmup\nhelps \x1b[31m").stderr
    assert "cannot be checked" in call(tmp_path, "journal", "--assume", "bigger is better").stderr
    assert "cannot" not in call(tmp_path, "journal", "--assume", "labels are balanced").stderr
    runs = tmp_path / ".paramedic" / "runs"
    book.add(runs, book.Entry(kind="note", text="long ago", time=1_000_000.0))
    shown = call(tmp_path, "journal").stdout
    assert shown.startswith("# Journal\n\n## 1970-01-1") and "\x1b" not in shown
    assert shown.count("## ") == 2 and "**note** warmup helps" in shown
    assert "wrote" in call(tmp_path, "journal", "--out", "journal.md").stderr
    assert "**assumption** labels are balanced" in (tmp_path / "journal.md").read_text()


def test_a_spoilt_line_costs_that_line_only(tmp_path: Path) -> None:
    call(tmp_path, "journal", "first")
    file = book.file_of(tmp_path / ".paramedic" / "runs")
    file.write_text("nonsense\n[]\n{}\n" + '{"kind": "note", "text": 3}\n' + file.read_text())
    assert [entry.text for entry in book.read(tmp_path / ".paramedic" / "runs")] == ["first"]


def test_a_note_about_a_run_that_is_not_there(tmp_path: Path) -> None:
    assert refused(call(tmp_path, "journal", "--run", "nothing", "text"))


def test_runs_enter_themselves_and_contradict_what_was_assumed(warm_shop: Workshop) -> None:
    script = TRAIN + "import paramedic\ntrain(12, softmax=True)\nparamedic.note('from code')\n"
    warm_shop.write("train.py", script)
    call(warm_shop.folder, "journal", "--assume", "loss falls below 0.01 by step 10")
    first = warm_shop.run("train.py")
    warm_shop.write("train.py", script.replace("lr=0.1", "lr=0.2"))
    second = warm_shop.run("train.py")
    said = 'your assumption "loss falls below 0.01 by step 10" does not hold: the lowest loss up to step'
    assert said in first.stderr and said not in second.stderr, "an assumption that was contradicted is settled"
    shown = call(warm_shop.folder, "journal").stdout
    kinds = [line.split("**")[1] for line in shown.splitlines() if line.startswith("- ")]
    assert kinds == ["assumption", "note", "run", "outcome", "note", "run"]
    assert "PM502 softmax-before-cross-entropy (train.py:" in shown
    assert "-    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)" in shown and "lr=0.2)" in shown
    ids = [line.split("(run ")[1][:22] for line in shown.splitlines() if "**note**" in line]
    assert ids == [record.parent.name for record in warm_shop.records()]


def test_an_audit_enters_itself(tmp_path: Path) -> None:
    rows = "\n".join(f"{n % 7},{n * n % 11},{n % 2}" for n in range(60))
    (tmp_path / "data.csv").write_text(f"a,b,label\n{rows}\n")
    call(tmp_path, "audit", "data.csv", "--label", "label", "--quiet")
    (entry,) = book.read(tmp_path / ".paramedic" / "runs")
    assert entry.kind == "audit" and "60 samples" in entry.text and "data.csv" in entry.script
