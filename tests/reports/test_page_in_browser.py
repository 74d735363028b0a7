"""The report in a real browser: nothing on the console, readable on a phone, with the keyboard and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from browser import Browser
from diagnoses import RULES, SICK
from paramedic.reports import pictures
from paramedic.reports.html import render
from recording import Recording


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    recording = Recording(tmp_path / "run")
    recording.steps(60, bad=(41,))
    folder = recording.end()
    run = replace(SICK.run, record=str(folder))
    page = render(replace(SICK, run=run), rules=RULES, pictures=pictures.of_record(folder))
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    found = Browser(tmp_path / "profile")
    found.open((tmp_path / "report.html").as_uri())
    yield found
    found.close()


def test_the_report(browser: Browser) -> None:
    browser.resize(1200)
    reading = "document.querySelector('#{}-figure .reading').innerText"
    browser.value("document.querySelector('#loss-figure .plot').focus()")
    for _ in range(3):
        browser.press("ArrowRight")
    assert "train.py:44: 2.398 at step 2" in browser.value(reading.format("loss"))

    browser.value("document.querySelector('#gradients-figure .cells').focus()")
    for key in ("ArrowRight", "ArrowDown"):
        browser.press(key)
    assert browser.value(reading.format("gradients")) == "body.bias: about 0.012 at step 0"
    place = browser.value(
        "(() => { const e = document.querySelector('#gradients-figure .cells'); e.scrollIntoView();"
        " const b = e.getBoundingClientRect(); return [b.left + b.width * 41.5 / 60, b.top + 5]; })()"
    )
    browser.point(*place)
    assert browser.value(reading.format("gradients")) == "body.weight: not finite at step 41"

    assert browser.violations() == []
    browser.value("document.getElementById('theme').click()")
    assert browser.value("document.documentElement.dataset.theme") == "dark"
    for width in (390, 320):
        browser.resize(width, dark=True)
        assert browser.violations() == []
        assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.pages_printed().startswith(b"%PDF")
    assert browser.complaints == []
