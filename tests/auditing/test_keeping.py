"""An audit leaves a record: what it said is shown again by the commands that show runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from paramedic.diagnosis import diagnose
from paramedic.rules.catalogue import all_rules, select
from paramedic.serve.tail import Tail
from workshop import Workshop


def write_data(path: Path, bad: int) -> None:
    """Rows whose class follows from a column; some of them hold NaN."""
    chance = np.random.default_rng(0)
    x = chance.normal(size=(200, 3))
    y = (x[:, 0] > 0).astype(np.int64)
    x[:bad, 1] = np.nan
    np.savez(path, x=x, y=y)


def test_an_audit_is_reported_and_listed_like_a_run(warm_shop: Workshop) -> None:
    write_data(warm_shop.folder / "train.npz", bad=7)
    audited = warm_shop.paramedic("audit", "train.npz", "--label", "y", "--json", "out.json")
    assert audited.code == 1 and audited.codes[0] == "PM105", audited.stdout
    [record] = warm_shop.records()
    assert audited.found["run"]["id"] == record.parent.name

    again = warm_shop.paramedic("report", "--json", "out.json", "--html", "page.html")
    assert again.code == 1 and again.found["findings"] == audited.found["findings"]
    assert again.found["rules"] == audited.found["rules"] and again.found["run"]["data"] == audited.found["run"]["data"]
    page = (warm_shop.folder / "page.html").read_text()
    assert "The samples" in page and "Distributions" in page and "PM105" in page
    assert audited.stdout.splitlines()[-3:] == again.stdout.splitlines()[-3:]

    listed = warm_shop.paramedic("runs").stdout.splitlines()
    assert "sick PM105" in listed[1] and "train.npz" in listed[1] and " now " in listed[1]
    entry = json.loads((warm_shop.folder / ".paramedic" / "journal.jsonl").read_text().splitlines()[-1])
    assert entry["kind"] == "audit" and entry["run"] == record.parent.name

    chosen = diagnose(record.parent, select(chosen=["PM304"]))
    assert (chosen.verdict, chosen.findings, chosen.clear) == ("healthy", (), ("PM304",))
    tail = Tail(record.parent, all_rules(), {})
    assert "train.npz:x · audited · 200 samples" in tail.look()["state"] and "Distributions" in tail.report()
