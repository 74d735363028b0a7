"""The sixteen planted bugs: who finds them, who names them, and who objects to the healthy twins."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.testing import peers
from benchmarks.testing.bugs import BUGS, Planted
from paramedic.testing import (
    CheckFailed,
    assert_all_move,
    assert_batch_independent,
    assert_data_ok,
    assert_learns,
    assert_no_nan,
)


def ours(case: Planted) -> tuple[list[str], list[str]]:
    """The assertions that fail, and the codes that they name; the wordy causes count as named by their words."""
    step = (case.model, case.loss, case.batch)
    checks: dict[str, Callable[[], Any]] = {
        "data_ok": lambda: assert_data_ok(case.data),
        "learns": lambda: assert_learns(*step, optimizer=case.optimizer),
        "all_move": lambda: assert_all_move(*step, optimizer=case.optimizer),
        "no_nan": lambda: assert_no_nan(*step, optimizer=case.optimizer),
        "batch_independent": lambda: assert_batch_independent(case.model, case.batch[0]),
    }
    failed, codes = [], []
    for name, check in checks.items():
        try:
            check()
        except CheckFailed as failure:
            failed.append(name)
            codes += [cause.code or cause.what for cause in failure.causes[:2]]
    return failed, list(dict.fromkeys(codes))


def table() -> tuple[list[str], dict[str, dict[str, int]]]:
    """Markdown rows, and the counts."""
    others = peers.installed()
    rows = [
        "| bug | paramedic | named | " + "".join(f"{peer} | " for peer in others),
        "|---|---|---|" + "---|" * len(others),
    ]
    counts = {name: {"found": 0, "named": 0, "false": 0} for name in ("paramedic", *others)}
    for bug in BUGS:
        cells = []
        for sick in (True, False):
            torch.manual_seed(0)
            failed, codes = ours(bug.make(sick))
            if sick:
                named = [code for code in codes if code in bug.codes or (bug.words and bug.words in code)]
                counts["paramedic"]["found"] += bool(failed)
                counts["paramedic"]["named"] += bool(named)
                first = named[0] if named else "–"
                cells += [", ".join(failed) or "–", first if first.startswith("PM") else "in words"]
            else:
                counts["paramedic"]["false"] += bool(failed)
        for peer in others:
            for sick in (True, False):
                torch.manual_seed(0)
                case = bug.make(sick)
                objections = peers.ask(peer, case.model, case.batch[0], case.batch[1], case.loss, case.optimizer)
                if sick:
                    counts[peer]["found"] += bool(objections)
                    cells.append(", ".join(objections) or "–")
                else:
                    counts[peer]["false"] += bool(objections)
        rows.append(f"| {bug.name} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    return rows, counts


warnings.simplefilter("ignore")
