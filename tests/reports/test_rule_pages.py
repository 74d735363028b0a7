"""`paramedic explain`, `paramedic rules` and the generated documentation."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnoses import RULES, softmax_rule, stuck_rule
from paramedic.reports.catalogue import explain, markdown_index, markdown_page, table
from paramedic.rules.rule import rule


@rule("XY101", "foreign-matter", severity="note")
def foreign_rule(run: object, *, limit: float | None = None, strict: bool = True) -> Iterator[None]:
    """Something of another package."""
    yield from ()


def test_explain_reads_like_this() -> None:
    lines = explain(softmax_rule).splitlines()
    assert lines[:5] == [
        "✗ PM502 softmax-before-cross-entropy                                       error",
        "  Probabilities reach a loss that expects logits.",
        "",
        "Why it hurts",
        "  `F.cross_entropy` applies log-softmax itself. Given probabilities, it squeezes",
    ]
    assert "    probabilities = model(x).softmax(dim=1)" in lines
    assert "  - return the output of the last `Linear` layer, without softmax" in lines
    assert "  - a call of a loss function of torch" in lines
    assert "    # paramedic: ignore[PM502]" in lines


@pytest.mark.parametrize("width", [40, 60, 100])
def test_prose_fits_and_code_stays_whole(width: int) -> None:
    lines = explain(softmax_rule, width=width).splitlines()
    code = "    probabilities = model(x).softmax(dim=1)"
    assert code in lines and all(len(line) <= width for line in lines if line != code)


def test_options_can_be_pasted_into_a_settings_file() -> None:
    text = explain(softmax_rule)
    start = text.index("[tool.paramedic")
    settings = tomllib.loads(text[start : text.index("\n\n", start)])
    assert settings["tool"]["paramedic"]["rules"]["PM502"] == {"tolerance": 0.001, "reductions": ["mean"]}


def test_an_option_without_default_is_a_comment() -> None:
    assert "    # limit = ...\n    strict = true\n" in explain(foreign_rule)
    assert "| `limit` | unset |" in markdown_page(foreign_rule)


def test_colour_only_on_request() -> None:
    assert "\x1b[" not in explain(softmax_rule) + table(RULES)
    assert "\x1b[" in explain(softmax_rule, color=True) and "\x1b[" in table(RULES, color=True)


def test_table_groups_by_family() -> None:
    assert table((*RULES, foreign_rule)) == (
        "optimisation\n"
        "▲ PM207 loss-not-decreasing           The training loss | shows no improvement.\n"
        "\n"
        "loss and objective\n"
        "✗ PM502 softmax-before-cross-entropy  Probabilities reach a loss that expects\n"
        "                                      logits.\n"
        "\n"
        "other rules (XY)\n"
        "• XY101 foreign-matter                Something of another package.\n"
        "\n"
        "3 rules: ✗ error, ▲ warning, • note. More: paramedic explain CODE\n"
    )


def test_narrow_table_puts_the_summary_below() -> None:
    assert "✗ PM502 softmax-before-cross-entropy\n    Probabilities reach a loss that\n" in table(RULES, width=40)


def test_the_page_holds_the_case_scripts(tmp_path: Path) -> None:
    (tmp_path / "sick.py").write_text('"""```"""\nprint("sick")\n')
    page = markdown_page(softmax_rule, case=tmp_path)
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert headings == [
        "# PM502 softmax-before-cross-entropy",
        "## Why it hurts",
        "## What to try first",
        "## When this is wrong",
        "## Options",
        "## Sick",
    ]
    assert '````python\n"""```"""\nprint("sick")\n````' in page
    assert "**error** · loss and objective" in page and "| `tolerance` | `0.001` |" in page


def test_a_page_without_case_or_options() -> None:
    assert markdown_page(stuck_rule).endswith("## Options\n\nThis rule has no options.\n")


def test_index_links_every_rule() -> None:
    index = markdown_index(RULES)
    assert "## Loss and objective" in index
    assert (
        "| [PM207](PM207.md) | loss-not-decreasing | warning | The training loss \\| shows no improvement. |" in index
    )
