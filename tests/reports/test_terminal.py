"""What a user reads on the terminal, checked word by word at two widths."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from diagnoses import CLIP, CRASH, HEALTHY, INCONCLUSIVE, RUN, SICK, SOFTMAX, STUCK, note
from paramedic.findings import Diagnosis, Evidence, Finding, Progress, Where
from paramedic.reports.screen import speaks_unicode
from paramedic.reports.terminal import render

GOLDEN = Path(__file__).parent / "golden"


def one(finding: Finding) -> Diagnosis:
    return replace(SICK, findings=(finding,))


@pytest.mark.parametrize("width", [80, 40])
def test_sick_reads_exactly_like_this(width: int) -> None:
    assert render(SICK, width=width) == (GOLDEN / f"sick-{width}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 40])
def test_everything_reads_exactly_like_this(width: int) -> None:
    assert render(SICK, width=width, verbose=2) == (GOLDEN / f"sick-vv-{width}.txt").read_text(encoding="utf-8")


def test_healthy_says_what_was_looked_at() -> None:
    assert render(HEALTHY) == (
        "Verdict: healthy. No known fault found in 120 steps. 38 rules clear, 2 do not\n"
        "apply, 1 saw too little (-v says why). Overhead 0.9 s for the first look.\n"
    )


def test_healthy_says_where_the_loss_began_and_ended() -> None:
    run = replace(HEALTHY.run, progress=Progress(first=1.612, last=0.1234, guessing=1.55, learnt=True))
    assert "No known fault found in 120 steps. Loss 1.612 → 0.1234 (guessing 1.55). " in render(
        replace(HEALTHY, run=run), width=200
    )


def test_a_run_that_learnt_nothing_is_not_called_healthy() -> None:
    progress = Progress(first=2.31, last=2.3, guessing=2.3, learnt=False)
    open = replace(HEALTHY, verdict="inconclusive", reason=progress.trouble)
    text = render(replace(open, run=replace(HEALTHY.run, progress=progress)), width=300)
    assert text.startswith("Verdict: not learning. It did not learn: the loss went from 2.31 to 2.3; guessing")
    assert "healthy" not in text and "paramedic diagnose" in text
    told = replace(HEALTHY.run, progress=progress, command="python train.py --epochs 3")
    assert render(replace(open, run=told)).endswith("\nNext: paramedic diagnose train.py --epochs 3\n")


def test_a_run_that_was_interrupted_is_not_told_to_be_fixed() -> None:
    run = replace(HEALTHY.run, steps=3, exit_code=130)
    text = render(replace(INCONCLUSIVE, reason="only 3 optimizer steps seen", run=run), width=300)
    assert "It was interrupted (Ctrl-C): let it run for longer." in text and "Fix" not in text


def test_a_record_elsewhere_is_named_by_the_shorter_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = replace(SICK, run=replace(RUN, record=str(tmp_path / ".paramedic/runs/train-7")))
    there = replace(SICK, run=replace(RUN, record=str(tmp_path / "kept/train-7")))
    assert "More: paramedic report train-7 --html" in render(here)
    assert "More: paramedic report kept/train-7 --html" in render(there)


def test_a_long_line_of_source_is_shown_whole() -> None:
    line = "loss = F.cross_entropy(" + ", ".join(f"argument_{n}=value_{n}" for n in range(20)) + ")"
    shown = render(replace(SICK, run=replace(RUN, source={"train.py:41": line})))
    quoted = [row.partition("│ ")[2] for row in shown.splitlines() if "│ " in row]
    assert " ".join(quoted) == line and len(quoted) > 3


def test_healthy_with_notes_does_not_claim_that_there_was_nothing() -> None:
    text = render(replace(HEALTHY, findings=(note(1),)), width=200)
    assert text.splitlines()[0] == "• PM701 small-matter-1: matter 1 is worth knowing (train.py:2)"
    assert text.splitlines()[-1].startswith(
        "Verdict: healthy. No known fault found in 120 steps, 1 note. 38 rules clear"
    )


@pytest.mark.parametrize(
    ("diagnosis", "words"),
    [
        (INCONCLUSIVE, "No optimizer step was seen. Run the part that trains"),
        (
            replace(INCONCLUSIVE, reason="only 3 optimizer steps seen", run=replace(RUN, steps=3, notices=())),
            "Only 3 optimizer steps seen. Run it for more steps",
        ),
        (
            replace(
                INCONCLUSIVE,
                reason="the script ended with ValueError at train.py:3",
                run=replace(RUN, exit_code=1, notices=()),
            ),
            "The script ended with ValueError at train.py:3. Fix what ended the script (exit code 1)",
        ),
    ],
)
def test_inconclusive_says_why_and_what_would_help(diagnosis: Diagnosis, words: str) -> None:
    assert render(diagnosis, width=300).startswith(f"Verdict: inconclusive. {words}")


@pytest.mark.parametrize("diagnosis", [SICK, HEALTHY, INCONCLUSIVE])
@pytest.mark.parametrize("verbose", [-1, 0, 1, 2])
def test_the_verdict_is_the_last_paragraph(diagnosis: Diagnosis, verbose: int) -> None:
    last = render(diagnosis, verbose=verbose).rstrip("\n").split("\n\n")[-1]
    assert last.startswith(f"Verdict: {diagnosis.verdict}.")


def test_quiet_is_the_verdict_alone() -> None:
    assert render(SICK, verbose=-1, width=300).count("\n") == 1


@pytest.mark.parametrize("width", [24, 40, 60, 80, 120])
@pytest.mark.parametrize("verbose", [0, 1])
def test_no_line_is_wider_than_the_terminal(width: int, verbose: int) -> None:
    lines = render(SICK, width=width, verbose=verbose).splitlines()
    assert max(len(line) for line in lines if not line.startswith("  paramedic report")) <= width


def test_the_next_command_is_never_broken() -> None:
    command = "paramedic report train-7 --html report.html"
    assert f"More: {command}\n" in render(SICK)
    assert f"More:\n  {command}\n" in render(SICK, width=40), "a terminal wraps it by itself, and it can be pasted"


@pytest.mark.parametrize("verbose", [0, 2])
def test_no_colour_codes_unless_asked(verbose: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in render(SICK, verbose=verbose)


def test_colour_only_adds_to_the_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.text import Text

    monkeypatch.setenv("NO_COLOR", "1")  # the caller has decided already
    coloured = render(SICK, color=True)
    assert "\x1b[1;31m✗" in coloured
    assert Text.from_ansi(coloured).plain.rstrip("\n") == render(SICK).rstrip("\n")


def test_a_consequence_is_one_entry_under_its_cause() -> None:
    text = render(SICK, width=200)
    head, rest = text.split("▲ PM604")
    assert "  so     PM207 loss-not-decreasing: the training loss went from 2.303 to 2.301 in 120 steps\n" in head
    assert STUCK.remedy not in text and "PM207" not in rest


def test_verbose_shows_the_consequence_in_full_and_its_cause() -> None:
    text = render(SICK, verbose=1, width=200)
    assert "▲ PM207 loss-not-decreasing" in text and STUCK.remedy in text
    assert "  from   PM502, which probably explains this\n" in text


@pytest.mark.parametrize("cause", ["PM999", "PM207"])
def test_a_consequence_without_a_listed_cause_is_not_lost(cause: str) -> None:
    assert STUCK.remedy in render(one(replace(STUCK, consequence_of=cause)), width=200)


def test_a_chain_of_consequences_folds_under_the_first_cause() -> None:
    last = replace(CLIP, consequence_of="PM207")
    text = render(replace(SICK, findings=(SOFTMAX, STUCK, last)), width=200)
    assert text.count("\n  so     ") == 2 and text.count("\n  more   ") == 1


def test_evidence_waits_for_verbose() -> None:
    assert "row sum" not in render(SICK)
    text = render(SICK, verbose=1)
    assert "  seen   row sum: 1   (limit 1 ± 0.001)\n" in text
    assert "last loss: NaN   (limit 2.303 × 0.95)\n" in text and "largest norm: inf   (limit 1.0)\n" in text


def test_lists_and_mappings_are_small_tables() -> None:
    counts = Evidence(name="labels_of_batches", value={"cat": 12, "dog": 3_000}, limit="")
    ids = Evidence(name="copies", value=[[1, 20], [300, 4]], limit="")
    text = render(one(replace(SOFTMAX, evidence=(counts, ids))), verbose=1)
    assert "  seen   labels of batches\n           cat  12\n           dog  3,000\n" in text
    assert "         copies\n           1    20\n           300  4\n" in text


def test_at_most_five_notes_and_they_come_after_the_alarms() -> None:
    text = render(replace(SICK, findings=(*(note(n) for n in range(7)), CLIP)))
    lines = text.splitlines()
    assert [line[:7] for line in lines if line.startswith("•")] == [
        "• PM700",
        "• PM701",
        "• PM702",
        "• PM703",
        "• PM704",
    ]
    assert "  and 2 more notes (-v)" in lines
    assert text.index("PM604") < text.index("• PM700")


def test_verbosity_of_what_was_not_checked() -> None:
    plain, verbose, everything = (render(SICK, verbose=level, width=300) for level in (0, 1, 2))
    assert "no DataLoader is used" not in plain and "2 do not apply, 1 saw too little (-v says why)" in plain
    assert "  - no DataLoader is used: PM306 PM701\n" in verbose and "(-v says why)" not in verbose
    assert "KeyError: 'shape'" in verbose and "Traceback" not in verbose and "PM601" not in verbose
    assert CRASH.traceback.splitlines()[1].strip() in everything and "PM101 PM402 PM601" in everything


def test_the_rank_is_named_when_there_are_several() -> None:
    finding = replace(CLIP, where=replace(CLIP.where, rank=3))
    assert "rank" not in render(one(finding))
    assert "rank 3" in render(replace(one(finding), run=replace(RUN, ranks=4)))


def test_a_finding_without_a_place_has_no_where() -> None:
    assert "where" not in render(one(replace(CLIP, where=Where())))


def test_names_from_the_script_cannot_steer_the_terminal_or_the_markup() -> None:
    nasty = "net.\x1b[2J[bold]x[/bold] :smile: \x07\u202e"
    text = render(one(replace(CLIP, what=nasty)))
    assert "[bold]x[/bold] :smile:" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_ascii_terminals_get_ascii_only() -> None:
    text = render(SICK, unicode=False, verbose=1)
    assert text.isascii()
    heads = [line.split()[:2] for line in text.splitlines() if line[:1] in "x!-" and line]
    assert heads == [["x", "PM502"], ["!", "PM207"], ["!", "PM604"], ["-", "PM706"]]
    assert "(limit 1 +/- 0.001)" in text


@pytest.mark.parametrize(("encoding", "able"), [("utf-8", True), ("ascii", False), ("cp1252", False)])
def test_the_stream_decides_about_ascii(encoding: str, able: bool) -> None:
    assert speaks_unicode(TextIOWrapper(BytesIO(), encoding=encoding)) is able


def test_many_lines_in_a_remedy_keep_their_indent() -> None:
    text = render(one(replace(CLIP, remedy="first this\nthen that")))
    assert "  try    first this\n         then that\n" in text


@pytest.mark.parametrize(
    ("record", "word"),
    [(".paramedic/runs/train-7", "train-7"), ("elsewhere/train-7", "elsewhere/train-7"), ("my runs/7", "'my runs/7'")],
)
def test_the_next_command_can_be_pasted(record: str, word: str) -> None:
    text = render(replace(SICK, run=replace(RUN, record=record)), width=200)
    assert f"\nMore: paramedic report {word} --html report.html\n" in text
