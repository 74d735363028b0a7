"""From data to a verdict: what `audit/` measures is judged by the rules, and reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.auditing.report import Report


def audit(
    train: object,
    val: object = None,
    task: str | None = None,
    *,
    label: str | None = None,
    sample: int | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Report:
    """Examine data before training on it. `print(paramedic.audit(train_loader, val_loader))` shows the verdict.

    `train` and `val` may be Datasets, DataLoaders (read through their own transforms and collate function), tensors or
    arrays, pairs (inputs, targets) of them, pandas or polars frames, datasets of Hugging Face, or paths of files and
    folders. A DatasetDict, or a dict with the keys "train" and "validation", holds both.
    """
    from paramedic.audit.sources import open_source
    from paramedic.audit.sources.hugging_face import splits_in
    from paramedic.auditing.examine import examine
    from paramedic.auditing.report import Report
    from paramedic.config import load_config, rule_options
    from paramedic.rules.catalogue import select as select_rules

    config = load_config()
    rules = select_rules(chosen=select or config.select, ignored=ignore or config.ignore)
    train, val = (splits_in(train) or (train, val)) if val is None else (train, val)
    sources = {"train": open_source(train, label=label, sample=sample)}
    if val is not None:
        known = sources["train"]
        sources["val"] = open_source(val, label=label or known.label or None, sample=sample, like=known)
    found, diagnosis = examine(sources, rules, task=task, options=rule_options(config), show_progress=True)
    return Report(diagnosis=diagnosis, audit=found)
