"""PM317 in data: validation samples that change from one look to the next."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.models.flips import turned_alone
from paramedic.audit.sources.samples import take_apart
from paramedic.audit.sources.torch_data import as_before
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain

LOOKS = 3
SAMPLES = 8


@check("PM317")
def augmentation_mismatch(audit: Audit) -> Iterator[Finding]:
    """The same index is read several times."""
    if audit.task.kind == "segmentation":
        yield from _masks_left_behind(audit)
    split = audit.val
    if split is None or not split.source.fed or not split.size:
        raise Abstain("no validation Dataset was given")
    dataset = _indexed(split)
    if dataset is None:
        raise Abstain("the validation data is a stream, and cannot be read twice in the same place")
    changing = [index for index in split.sketch.indices[:SAMPLES].tolist() if _changes(dataset, index)]
    if changing:
        yield _finding(split, changing)


def _masks_left_behind(audit: Audit) -> Iterator[Finding]:
    for split in audit.splits:
        dataset = _indexed(split)
        looked = split.sketch.indices[:SAMPLES].tolist() if dataset is not None else []
        turned = {index: how for index in looked if (how := turned_alone(dataset, index)) is not None}
        if turned:
            how = next(iter(turned.values()))
            yield Finding(
                what=f"images of {split.name} are mirrored {how} at random, and their masks are not: "
                f"{split.samples(list(turned))}",
                why="every second mask lies where the object is not, so the model learns to blur or to give up",
                remedy="give image and mask to one transform together (torchvision.transforms.v2, tv_tensors.Mask)",
                evidence=(Evidence(name="mirrored_alone", value=len(turned), limit="0"),),
                confidence=0.95,
                split=split.name,
                samples=tuple(turned),
            )


def _indexed(split: Split) -> Any:
    """The dataset behind a split, if a sample of it can be read again; else None."""
    if not split.source.fed:
        return None
    dataset = getattr(split.source.origin, "dataset", None) if split.source.kind == "loader" else split.source.origin
    return dataset if hasattr(dataset, "__getitem__") else None


def _changes(dataset: Any, index: int) -> bool:
    try:
        with as_before():
            looks = [take_apart(dataset[index], None) for _ in range(LOOKS)]
    except Exception:
        return False  # a sample that fails is PM320's business
    if not all(np.array_equal(np.asarray(looks[0][1]), np.asarray(look[1])) for look in looks[1:]):
        return False  # made up anew each time, answer and all: synthetic data, not augmented data
    return any(not _equal(looks[0][0], look[0]) for look in looks[1:])


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return set(one) == set(other) and all(
        np.array_equal(
            np.asarray(one[name]), np.asarray(other[name]), equal_nan=np.asarray(one[name]).dtype.kind == "f"
        )
        for name in one
    )


def _finding(split: Split, changing: list[int]) -> Finding:
    return Finding(
        what=f"validation samples change each time they are read: {split.samples(changing)}",
        why="a random transform is at work on the validation data, so two evaluations of one model disagree",
        remedy="use a second dataset object without the random transform for validation, with the same indices",
        evidence=(Evidence(name="changing", value=len(changing), limit="0"),),
        confidence=0.92,
        split=split.name,
        samples=tuple(changing),
    )
