"""Options of a rule hold for its audit as for its run, and come from the same settings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

import paramedic
from paramedic.audit.sources import open_source
from paramedic.auditing.examine import examine
from paramedic.config import load_config, rule_options
from paramedic.findings import Finding
from paramedic.rules.catalogue import all_rules
from paramedic.rules.rule import Check, Rule

AUDITING = [rule for rule in all_rules() if rule.on_audits is not None and rule.code.startswith("PM")]
WITHOUT = ("PM105", "PM316")  # one NaN, one index out of range: there is no threshold
each_rule = pytest.mark.parametrize("rule", AUDITING, ids=[rule.code for rule in AUDITING])


def options_of(check: Check | None) -> dict[str, Any]:
    assert check is not None
    return dict(check.__kwdefaults__ or {})


def with_settings(folder: Path, code: str, options: dict[str, Any]) -> None:
    lines = "".join(f"{name} = {value!r}\n" for name, value in options.items())
    (folder / "pyproject.toml").write_text(f"[tool.paramedic.rules.{code}]\n{lines}")


@each_rule
def test_every_option_of_an_audit_is_taken_from_the_settings(rule: Rule, tmp_path: Path) -> None:
    given = {name: 2 * value for name, value in options_of(rule.on_audits).items()}
    assert bool(given) is (rule.code not in WITHOUT)
    heard: dict[str, Any] = {}

    def check(audit: object, **options: Any) -> Iterator[Finding]:
        heard.update(options)
        return iter(())

    check.__kwdefaults__ = options_of(rule.on_audits)
    part = "check" if rule.reads == "audit" else "in_data"
    with_settings(tmp_path, rule.code, given)
    sources = {"train": open_source((np.zeros((4, 2)), np.zeros(4)))}
    examine(sources, [replace(rule, **{part: check})], options=rule_options(load_config(tmp_path)))  # type: ignore[arg-type]
    assert heard == given


@each_rule
def test_every_option_of_an_audit_is_used(rule: Rule) -> None:
    assert rule.on_audits is not None
    tree = ast.parse(textwrap.dedent(inspect.getsource(rule.on_audits)))
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assert set(options_of(rule.on_audits)) <= read


@each_rule
def test_an_option_of_run_and_audit_has_one_default(rule: Rule) -> None:
    if rule.in_data is None:
        return
    run, audit = options_of(rule.check), options_of(rule.in_data)
    assert {name: run[name] for name in run.keys() & audit.keys()} == {
        name: audit[name] for name in run.keys() & audit.keys()
    }


# Data in which a rule finds something, and an option with which it does not.

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.normal(size=(200, 4)), np.arange(200) % 2
SMOOTH = np.cumsum(np.cumsum(RANDOM.normal(size=(32, 12, 12, 3)), axis=1), axis=2).astype(np.float32)


class Changing(Dataset[Any]):
    def __len__(self) -> int:
        return 30

    def __getitem__(self, index: int) -> Any:
        return torch.full((4,), float(index)) + torch.randn(4), index % 2


class OneIsLarger(Dataset[Any]):
    def __len__(self) -> int:
        return 40

    def __getitem__(self, index: int) -> Any:
        return torch.ones(3, 9 if index == 7 else 8, 8), index % 2


def plain(x: Any, y: Any) -> TensorDataset:
    return TensorDataset(torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(y))


def with_copies() -> Any:
    return (X, Y), (np.concatenate([X[:5], RANDOM.normal(size=(95, 4))]), np.arange(100) % 2)


DATA: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "PM301": (lambda: ((X * [1, 1, 1, 1e4], Y),), {"deviation": 1e9}),
    "PM302": (lambda: ((X, X @ np.arange(4) * 1e4),), {"scale": 1e9}),
    "PM303": (lambda: ((np.ones((30, 4)), Y[:30]),), {"samples": 31}),
    "PM304": (lambda: ((X, np.where(np.arange(200) == 3, 99, np.arange(200) % 3)),), {"samples": 201}),
    "PM305": (lambda: ((X, np.where(np.arange(200) < 10, 1, 0)),), {"ratio": 100.0}),
    "PM306": (lambda: (DataLoader(plain(X, np.sort(Y)), batch_size=8),), {"purity": 1.1}),
    "PM307": (with_copies, {"copies": 0.5}),
    "PM308": (lambda: ((np.concatenate([X, X[:30]]), np.concatenate([Y, Y[:30]])),), {"share": 0.5}),
    "PM313": (lambda: (plain(SMOOTH.reshape(32, 3, 12, 12), Y[:32]),), {"rougher": 1e9}),
    "PM315": (lambda: (TensorDataset(torch.randint(3, 9, (40, 16)) * (torch.arange(16) < 4)),), {"share": 0.99}),
    "PM317": (lambda: (plain(X, Y), Changing()), {"looks": 1}),
    "PM318": (lambda: ((X, Y), (X[:60] * 100 + RANDOM.normal(size=(60, 4)), Y[:60])), {"times": 1e9}),
    "PM320": (lambda: (OneIsLarger(),), {"samples": 41}),
    "PM321": (lambda: ((np.exp(2 * X), Y),), {"distance": 1e12}),
    "PM323": (lambda: ((X, Y), (X[:50] + 1, np.where(np.arange(50) < 5, 7, Y[:50]))), {"share": 0.5}),
    "PM324": (lambda: ((np.concatenate([X, Y[:, None]], axis=1), Y),), {"samples": 201}),
}


@pytest.mark.parametrize("code", DATA)
def test_an_option_changes_what_is_found(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made, options = DATA[code]
    data = made()
    before = paramedic.audit(*data, select=[code]).findings
    with_settings(tmp_path, code, options)
    after = paramedic.audit(*data, select=[code]).findings
    assert [finding.code for finding in before] == [code]
    assert [(finding.code, finding.severity) for finding in after] != [(code, before[0].severity)]
