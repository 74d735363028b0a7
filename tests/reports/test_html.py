"""The page: complete without JavaScript and network, and safe with whatever names a script uses."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest

from diagnoses import CLIP, HEALTHY, INCONCLUSIVE, RULES, RUN, SICK, SOFTMAX, STUCK
from page import Page
from paramedic.findings import Diagnosis, LossCurve
from paramedic.reports.axes import value_axis
from paramedic.reports.chart import draw, thin_out
from paramedic.reports.html import PAGE, render

NASTY = '</script><img src=x onerror="alert(1)">'


def page(diagnosis: Diagnosis) -> Page:
    return Page(render(diagnosis, rules=RULES))


def curve(*values: float) -> LossCurve:
    return LossCurve(label="train.py:44", steps=tuple(range(len(values))), values=values)


def test_everything_is_there_without_javascript() -> None:
    text = page(SICK).text
    for finding in SICK.findings:
        for words in (finding.code, finding.name, finding.what, finding.why, finding.remedy):
            assert words in text
    for words in (
        "1 error, 2 warnings, 1 note; 3 rules clear, 2 do not apply, 1 saw too little, 1 crashed. "
        "Overhead 60 ms for the first look, then 0.3 % of each step.",
        "train.py:41 in train module net.head (Softmax)",
        "41 loss = F.cross_entropy(net(x), y)",
        "row sum 1 1 ± 0.001",
        "last loss NaN 2.303 × 0.95",
        "no DataLoader is used PM306 PM701",
        "PM999 KeyError: 'shape' Traceback (most recent call last):",
        "Why it hurts",
        "Caveat the probe memory failed",
        "net: MLP, 85,002 parameters (85,002 trainable)",
        "2023-11-14 22:13 UTC",
        "python 3.11.7, torch 2.7.0",
        "train.py:44 120 2.4 2.281 at step 119 2.4 at step 0 2.281 5, first at step 60",
    ):
        assert words in text, words


@pytest.mark.parametrize(("diagnosis", "word"), [(HEALTHY, "✓ Healthy"), (INCONCLUSIVE, "? Inconclusive")])
def test_the_other_verdicts(diagnosis: Diagnosis, word: str) -> None:
    text = page(diagnosis).text
    assert word in text and "PM306" in text and "Findings" not in text
    assert diagnosis.reason.capitalize() in text


def test_nothing_is_loaded() -> None:
    html = render(SICK, rules=RULES)
    found = Page(html)
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", html)
    assert found.all("src") == [] and found.count("link") == 0
    assert all(link.startswith("#") for link in found.all("href"))
    policy = next(content for content in found.all("content") if "default-src" in content)
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_every_link_leads_somewhere_and_ids_are_unique() -> None:
    twice = replace(CLIP, where=replace(CLIP.where, step=50))
    found = page(replace(SICK, findings=(*SICK.findings, twice)))
    ids = found.all("id")
    assert len(ids) == len(set(ids)) and {"PM502", "PM207", "PM604", "PM604-2", "PM706"} <= set(ids)
    assert {link[1:] for link in found.all("href")} <= set(ids)
    assert {word for words in found.all("aria-labelledby") for word in words.split()} <= set(ids)
    assert "#PM604-2" in [a["href"] for tag, a in found.tags if tag == "a" and a.get("class", "").startswith("marker")]


def test_names_from_the_script_are_only_text() -> None:
    nasty = replace(
        SOFTMAX,
        what=NASTY,
        where=replace(SOFTMAX.where, module=NASTY, file=NASTY, function=NASTY),
        evidence=(replace(SOFTMAX.evidence[0], name=NASTY, value=NASTY, limit=NASTY),),
    )
    run = replace(
        RUN,
        script=NASTY,
        notices=(NASTY,),
        models=(NASTY,),
        losses=(replace(RUN.losses[0], label=NASTY),),
        source={f"{NASTY}:41": NASTY},
    )
    found = page(replace(SICK, findings=(nasty, STUCK), run=run))
    assert found.count("img") == 0 and not any("onerror" in attributes for _, attributes in found.tags)
    assert found.count("script") == 2 and len(found.scripts) == 2
    assert found.text.count(NASTY) >= 10


def test_markup_in_a_rules_documentation_is_only_text() -> None:
    found = page(SICK)
    assert "<script>alert(1)</script>" in found.text and "alert(1)" not in "".join(found.scripts)


def test_a_file_name_that_is_not_utf8_does_not_cost_the_report() -> None:
    render(replace(SICK, run=replace(RUN, script="tr\udc80.py")), rules=RULES).encode("utf-8")


def test_the_catalogue_is_the_default_source_of_documentation() -> None:
    assert "✓</span> Healthy" in render(HEALTHY)


def test_the_documentation_appears_once_per_rule() -> None:
    found = page(replace(SICK, findings=(SOFTMAX, replace(SOFTMAX, what="and again"))))
    assert found.text.count("Why it hurts") == 1


def test_the_whole_page_is_small() -> None:
    steps = 20_000
    losses = tuple(replace(curve(*(1 / (s + 1) for s in range(steps))), label=f"loss {n}") for n in range(7))
    assert len(render(replace(SICK, run=replace(RUN, losses=())), rules=RULES)) < 40_000
    assert len(render(replace(SICK, run=replace(RUN, losses=losses)), rules=RULES)) < 300_000


def test_it_does_not_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = render(SICK, rules=RULES)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("USER", "somebody-secret")
    assert render(SICK, rules=RULES) == before and "somebody-secret" not in before


def test_landmarks_headings_and_severity_in_words() -> None:
    found = page(SICK)
    tags = [tag for tag, _ in found.tags]
    assert {"main", "header", "footer", "h1"} <= set(tags) and tags.count("main") == tags.count("h1") == 1
    assert found.all("href")[0] == "#main"
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for words in ("✗ PM502", "▲ PM604", "• PM706", "error · step 0", "warning · step 1,120"):
        assert words in found.text


def luminance(color: str) -> float:
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["text", "muted", "link", "error", "warning", "note", "healthy"])
@pytest.mark.parametrize("ground", ["ground", "card", "sunk"])
def test_contrast(theme: int, ink: str, ground: str) -> None:
    css = (PAGE / "page.css").read_text(encoding="utf-8")
    colors = {name: pair for name, *pair in re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", css)}
    a, b = sorted((luminance(colors[ink][theme]), luminance(colors[ground][theme])))
    assert (b + 0.05) / (a + 0.05) >= 4.5


def test_the_curve_has_gaps_and_marks_where_it_is_not_finite() -> None:
    chart = draw([curve(3.0, 2.0, math.nan, 1.0, math.inf, 2.0, 3.0)], [])
    assert chart is not None
    line = chart.lines[0]
    assert len(line.pieces) == 2 and len(line.dots) == 1
    assert [text for _, text in line.bad] == ["NaN at step 2", "inf at step 4"]


def test_findings_are_vertical_lines_at_their_step() -> None:
    at = replace(CLIP, where=replace(CLIP.where, step=5))
    far = replace(CLIP, where=replace(CLIP.where, step=99))
    chart = draw([curve(*range(11))], [("PM502", SOFTMAX), ("PM604", at), ("PM604-2", far)])
    assert chart is not None
    assert [(marker.label, marker.step) for marker in chart.markers] == [("PM502", "0"), ("PM604", "5")]
    left, middle = (marker.at for marker in chart.markers)
    assert chart.x_ticks[0].at == left == 0 and middle == 500


def test_many_findings_leave_room_for_the_curve() -> None:
    crowd = [(f"PM{n}", replace(CLIP, code=f"PM{n}", where=replace(CLIP.where, step=n))) for n in range(100, 160)]
    chart = draw([curve(*range(10_000))], crowd)
    assert chart is not None and chart.top < 120 and len(chart.markers) == 60


@pytest.mark.parametrize(
    ("values", "log"), [((1.0, 99.0), False), ((0.5, 51.0), True), ((0.0, 1000.0), False), ((-1.0, 1000.0), False)]
)
def test_the_axis_is_logarithmic_beyond_a_factor_of_100(values: tuple[float, ...], log: bool) -> None:
    assert value_axis(values, 100, 0).log is log


@pytest.mark.parametrize(
    "values",
    [
        (2.30251, 2.30259),
        (0.0, 0.0),
        (7.0,),
        (5e-324, 1e299),
        (-1e299, 1e299),
        (1e-7, 3.0),
        (1e6, 1.1e6),
    ],
)
def test_ticks_tell_values_apart_and_lie_on_the_axis(values: tuple[float, ...]) -> None:
    ticks = value_axis(values, 100, 0).ticks
    labels = [tick.label for tick in ticks]
    assert len(labels) >= 2 and len(set(labels)) == len(labels)
    assert all(0 <= tick.at <= 100 for tick in ticks)


@pytest.mark.parametrize("values", [(), (math.nan,), (math.inf, -math.inf, 1e308)])
def test_curves_without_a_drawable_value_do_not_break_the_page(values: tuple[float, ...]) -> None:
    found = page(replace(SICK, run=replace(RUN, losses=(curve(*values),))))
    assert found.count("polyline") == 0


def test_thinning_keeps_the_spike_the_gap_and_the_ends() -> None:
    points = [(step, 1.0) for step in range(100_000)]
    points[777] = (777, 9.0)
    points[778] = (778, -9.0)
    points[50_001] = (50_001, math.nan)
    kept = thin_out(points)
    assert len(kept) < 1000 and kept == sorted(kept, key=lambda point: point[0])
    assert {points[0], points[777], points[778], points[50_001], points[-1]} <= set(kept)
    assert thin_out(points[:400]) == points[:400]


def test_the_end_of_a_long_run_is_drawn_as_finely_as_its_beginning() -> None:
    """A record has ever fewer points per step, the longer the run is."""
    steps = [*range(10_000), *range(10_000, 1_000_000, 250)]
    kept = [step for step, _ in thin_out([(step, math.sin(step)) for step in steps])]
    assert sum(step >= 500_000 for step in kept) > 0.4 * len(kept)


def test_the_pointer_reads_the_drawn_values() -> None:
    labels, readings = json.loads(page(SICK).scripts[-1])
    assert labels == ["train.py:44", "val.py:9"] and len(readings[0]) == 120
    assert readings[0][60][1:] == ["60", "NaN"] and readings[1][-1] == [1000.0, "119", "2.25"]


def test_several_curves_have_a_legend_and_the_rest_is_counted() -> None:
    many = tuple(replace(curve(*range(20 - n)), label=f"loss {n}") for n in range(9))
    text = page(replace(SICK, run=replace(RUN, losses=many))).text
    assert "loss 6" in text and "loss 7" not in text and "2 shorter curves not drawn." in text
