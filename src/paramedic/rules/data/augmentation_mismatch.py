"""PM317."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from paramedic.record.facts import (
    Batch,
    EvalForward,
    ExchangedTransform,
    Forward,
    Loader,
    Mirrors,
    StoredRows,
    TrainForward,
)
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import caller, edited_at, model_input_history, outermost, target_history
from paramedic.static.history import Link
from paramedic.static.program import program
from paramedic.static.signs import mirrors

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split


_HELD_OUT = ("val", "test", "dev", "eval", "hold")
_READERS = ("__getitem__", "__getitems__", "__iter__")  # of samples
_DECLARED = ("tta", "augment", "noisy", "corrupt", "perturb")


@rule("PM317", "augmentation-mismatch", severity="warning", coverage=[Forward])
def check(run: Run) -> Iterator[Finding]:
    """Random augmentation where it should not be, applied to images but not to their targets, or written into the data.

    The first batch of an evaluation has the same labels in every epoch, but different inputs. Or some masks fit their
    images only when mirrored, while the others fit as they are. Or the evaluation transform was assigned to the one
    dataset object that both parts of a split share. Or reading a sample changes what the dataset stores: `row =
    self.x[i]` is a view, and `row += noise` writes into `self.x`.

    ## Why it hurts
    The metric is noisy and too low, and a drop in it looks like overfitting. Typical cause: a dataset object with a
    random transform is split, so the validation part inherits the transform. A mask flipped independently of its image
    is a wrong label, and the model learns to be unsure. Noise written into the stored samples adds up from epoch to
    epoch until nothing of them is left.

    ## What to try first
    Make two dataset objects, one with and one without the random transform, and split both by the same indices. Draw
    once per sample, and apply the same transform to the image and its target. Augment a copy: `self.x[i].clone()`.

    ## When this is wrong
    Test-time augmentation and corrupted test sets: say so in the name of the loader ("tta", "noisy").

    ## Options
    In an audit: `samples`: how many are read again; `looks`: how often each of them.
    """
    yield from _mirrored(run)
    yield from _overwritten(run)
    yield from _shared_object(run)
    if not run.facts(Batch):
        raise Abstain("no DataLoader is used")
    trained = {event.loader for event in run.facts(TrainForward)}
    evaluated = {event.loader for event in run.facts(EvalForward)} - trained - {None}
    loaders = [loader for loader in run.facts(Loader) if loader.number in evaluated]
    judged = 0
    for loader in loaders:
        if loader.iterable or loader.sampler != "SequentialSampler":
            continue
        firsts = [b for b in run.facts(Batch) if b.loader == loader.number and b.place == 0]
        judged += len(firsts) > 1
        changing = _changing(firsts)
        if changing is None or any(word in (loader.variable or "").lower() for word in _DECLARED):
            continue
        yield Finding(
            what=f"the first evaluation batch of {loader.variable or loader.dataset} has the same labels "
            f"in {len(firsts)} epochs, but {changing} different versions of the inputs",
            why="a random transform is applied to the evaluation data, so two evaluations of the same model disagree",
            remedy="use a second dataset object without the random transform for evaluation, with the same indices",
            where=loader.where,
            evidence=(Evidence(name="versions_of_the_inputs", value=changing, limit="1"),),
            confidence=0.92,
        )
    if not judged:
        raise Abstain("no evaluation loader was read twice in the same order")


def _overwritten(run: Run, *, share: float = 0.25, fewest: int = 8) -> Iterator[Finding]:
    """Samples that change whenever they are read. A cache changes once, and other code may change what nobody reads."""
    looks: dict[tuple[int, str], list[StoredRows]] = defaultdict(list)
    for look in run.facts(StoredRows):
        looks[(look.loader, look.attribute)].append(look)
    for (_, attribute), found in looks.items():
        again = [look for look in found if look.epoch > 0]
        read = sum(look.read for look in again)
        if not again or read < fewest or any(look.others for look in found):
            continue
        if any(look.changed < share * look.read for look in again):
            continue
        changed = sum(look.changed for look in again)
        yield Finding(
            what=f"reading a sample changes it for good: {changed:,} of {read:,} samples in self.{attribute} had "
            "changed when they were read again",
            why="what is taken out of the array is a view of it, and the augmentation writes into it in place, so it "
            "adds up from epoch to epoch",
            remedy=f"augment a copy: self.{attribute}[i].clone() (NumPy: .copy())",
            where=again[0].where,
            evidence=(Evidence(name="samples_changed_by_reading", value=changed, limit="0"),),
            confidence=0.95,
        )
        return


def _shared_object(run: Run) -> Iterator[Finding]:
    """`val_set.dataset.transform = …` after random_split: `train_set.dataset` is the same object."""
    events = run.facts(ExchangedTransform)
    trained = {event.loader for event in run.facts(TrainForward)}
    evaluated = {event.loader for event in run.facts(EvalForward)} - trained
    for event in events:
        alike = {other.loader for other in events if other.object == event.object}
        others = {e.object for e in events if e.attribute == event.attribute} - {event.object}
        through = event.through
        if others or not (alike & trained and alike & evaluated) or len(through) > 1:
            continue  # exchanged again and again, as each part needs it
        if any(word in through[0].lower() for word in _HELD_OUT):
            yield Finding(
                what=f"{event.attribute} was assigned through {through[0]}.dataset, so training uses it as well",
                why="the parts of a split share one dataset object, so training lost its own transform",
                remedy="make two dataset objects, one per transform, and a Subset of each with the same indices",
                where=event.where,
                evidence=(Evidence(name="dataset_objects", value=1, limit="2"),),
                confidence=0.94,
            )
            return


def _mirrored(run: Run, *, share: float = 0.15, fewest: int = 48) -> Iterator[Finding]:
    """Several kinds must clearly occur: images that are always upside down are a different matter."""
    looks = run.facts(Mirrors, phase="train")
    straight = sum(look.straight for look in looks)
    axes = {axis for look in looks for axis in look.mirrored}
    flipped = {axis: sum(look.mirrored.get(axis, 0.0) for look in looks) for axis in sorted(axes)}
    wrong = sum(flipped.values())
    if straight + wrong < fewest or wrong < share * (straight + wrong):
        return
    kinds = sum(count >= share / 2 * wrong for count in flipped.values())  # an object may look the same in two ways
    if straight < share * (straight + wrong) and kinds < 4:
        return
    # Targets of other samples fit in any way by chance, one way as often as another.
    even = max(straight, *flipped.values()) < 2.5 * (straight + wrong) / (1 + len(flipped))
    if even and straight + wrong < 2 * sum(look.strangers for look in looks):
        return
    axis = max(flipped, key=lambda name: flipped[name])
    turned = "turned" if "turn" in axis or kinds > 3 else "mirrored"
    how = "mirrored or turned" if kinds > 3 else f"{turned} ({axis})"
    yield Finding(
        what=f"{wrong:.0f} of {straight + wrong:.0f} targets fit their image clearly better when {how}",
        why=f"the image was {turned} and its target was not, or the two were {turned} independently",
        remedy="draw once per sample: if random.random() < 0.5: image, target = image.flip(-1), target.flip(-1)",
        **edited_at(looks[0].where, _turning(run, looks[0])),
        evidence=(Evidence(name="share_of_mirrored_targets", value=round(wrong / (straight + wrong), 3), limit="0"),),
        confidence=0.92,
    )


def _turning(run: Run, look: Mirrors) -> Link | None:
    """Where the target is flipped separately from its image; if it never is, where the image is flipped.

    If one helper flips both, it is right, and the line that calls it twice is to be edited.
    """
    classes = program(run).classes
    target = [link for link in target_history(run, look, "") if mirrors(link.node, classes)]
    calls = [call for call in run.facts(TrainForward) if call.where.file == look.where.file]
    inputs = model_input_history(run, calls[0].where) if calls else []
    picture = [link for link in inputs if mirrors(link.node, classes)]
    if not target and not picture:
        return None
    link = (target or picture)[0]
    method = link.scope.function.name if link.scope.function is not None else ""
    if target and method not in _READERS and any(same.where == link.where for same in picture):
        return caller(link)
    return outermost(link)


def _changing(firsts: list[Batch]) -> int | None:
    """How many versions of the inputs came with the same labels; None unless more than one."""
    if len(firsts) < 2:
        return None
    tensors = [tensor for batch in firsts for tensor in batch.tensors if tensor.hash is not None]
    versions: dict[str, set[str | None]] = {}
    for tensor in tensors:
        versions.setdefault(tensor.path, set()).add(tensor.hash)
    kinds = {tensor.path: tensor for tensor in tensors}
    labels = [p for p, t in kinds.items() if "int" in t.dtype and len(t.shape) == 1 and t.values and t.values.std > 0]
    inputs = [p for p, t in kinds.items() if "float" in t.dtype and len(t.shape) > 1]
    if not labels or not inputs or any(len(versions[path]) > 1 for path in labels):
        return None
    if len({tuple(kinds[path].shape) for path in inputs}) < len(inputs):
        return None  # several views of each sample, as contrastive learning wants them in an evaluation, too
    most = max(len(versions[path]) for path in inputs)
    return most if most > 1 else None


# In an audit: the data itself, before any training.
def in_data(audit: Audit, *, samples: int = 8, looks: int = 3) -> Iterator[Finding]:
    """The same index is read several times."""
    if audit.task.kind == "segmentation":
        yield from _masks_left_behind(audit, samples)
    split = audit.val
    if split is None or not split.source.fed or not split.size:
        raise Abstain("no validation Dataset was given")
    dataset = _indexed(split)
    if dataset is None:
        raise Abstain("the validation data is a stream, so the same sample cannot be read twice")
    changing = [index for index in split.sketch.indices[:samples].tolist() if _changes(dataset, index, looks)]
    if changing:
        yield _finding(split, changing)


def _masks_left_behind(audit: Audit, samples: int) -> Iterator[Finding]:
    from paramedic.audit.models.flips import turned_alone

    for split in audit.splits:
        dataset = _indexed(split)
        looked = split.sketch.indices[:samples].tolist() if dataset is not None else []
        turned = {index: how for index in looked if (how := turned_alone(dataset, index)) is not None}
        if turned:
            how = next(iter(turned.values()))
            yield Finding(
                what=f"images of {split.name} are mirrored {how}: {split.samples(list(turned))}",
                why="half of the masks are in the wrong place, so the model learns to blur or to predict nothing",
                remedy="pass image and mask to the same transform (torchvision.transforms.v2, tv_tensors.Mask)",
                evidence=(Evidence(name="mirrored_alone", value=len(turned), limit="0"),),
                confidence=0.95,
                split=split.name,
                samples=tuple(turned),
            )


def _indexed(split: Split) -> Any:
    """The dataset behind a split, if its samples can be read again; else None."""
    if not split.source.fed:
        return None
    dataset = getattr(split.source.origin, "dataset", None) if split.source.kind == "loader" else split.source.origin
    return dataset if hasattr(dataset, "__getitem__") else None


def _changes(dataset: Any, index: int, times: int) -> bool:
    import numpy as np

    from paramedic.audit.sources.samples import take_apart
    from paramedic.audit.sources.torch_data import as_before

    try:
        with as_before():
            looks = [take_apart(dataset[index], None) for _ in range(times)]
    except Exception:
        return False  # a sample that fails is PM320's business
    if not all(np.array_equal(np.asarray(looks[0][1]), np.asarray(look[1])) for look in looks[1:]):
        return False  # made up anew each time, answer and all: synthetic data, not augmented data
    return any(not _equal(looks[0][0], look[0]) for look in looks[1:])


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    import numpy as np

    return set(one) == set(other) and all(
        np.array_equal(
            np.asarray(one[name]), np.asarray(other[name]), equal_nan=np.asarray(one[name]).dtype.kind == "f"
        )
        for name in one
    )


def _finding(split: Split, changing: list[int]) -> Finding:
    return Finding(
        what=f"validation samples change each time they are read: {split.samples(changing)}",
        why="a random transform is applied to the validation data, so two evaluations of the same model disagree",
        remedy="use a second dataset object without the random transform for validation, with the same indices",
        evidence=(Evidence(name="changing", value=len(changing), limit="0"),),
        confidence=0.92,
        split=split.name,
        samples=tuple(changing),
    )
