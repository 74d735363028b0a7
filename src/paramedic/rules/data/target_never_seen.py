"""PM323."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.record.facts import Labels, Tokens
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at, target_history
from paramedic.rules.support import labels_made_at, listed
from paramedic.static.attributes import padding_is_end
from paramedic.static.history import Link
from paramedic.static.program import program, statement_at

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split


@rule("PM323", "target-never-seen", severity="warning", needs=[Tokens, Labels])
def check(run: Run, *, fewest: int = 6) -> Iterator[Finding]:
    """The end-of-sequence token is never a label, so the model does not learn to stop.

    The padding has the same id as the end token, and all labels with that id are ignored.

    ## Why it hurts
    The loss looks normal, but nothing teaches the model to end a sequence. Generation runs to its limit.

    ## What to try first
    Use a separate padding id, or mask labels by the attention mask instead of by the id.

    ## When this is wrong
    When all rows are padded to one more than the longest sequence with an id that is used only for padding.

    ## Options
    `fewest`: fewest batches seen. In an audit: `share`: share of val, of classes that train lacks, from which on they
    are reported; `chance`: the probability of a random split that leaves a class out of val.
    """
    batches = [event for event in run.facts(Tokens, phase="train") if event.rows > 1]
    if len(batches) < fewest:
        raise Abstain("too few batches of token ids were seen")
    values = {event.value for event in batches}
    padded = all(event.longest > 1 and not event.inside for event in batches)
    ending = padded and (all(event.shortest == 1 for event in batches) or _last_label_left_out(run, batches))
    counts: Counter[int] = Counter()
    left_out = 0
    for event in run.facts(Labels, phase="train"):
        counts.update({int(label): count for label, count in event.counts.items()})
        left_out += event.left_out
    if not ending or len(values) != 1 or not left_out or sum(counts.values()) < 50:
        return
    value = values.pop()
    if counts[value]:
        return
    call = run.facts(Labels, phase="train")[0]
    yield Finding(
        what=f"every sequence ends with id {value}, which is also the padding id, and no label is ever {value}",
        why="the end token is masked out of the labels together with the padding",
        remedy="use a separate padding id, or mask the labels with the attention mask",
        **edited_at(labels_made_at(run, call, "left_out"), padding_is_end(program(run)) or _left_out_at(run, call)),
        evidence=(
            Evidence(name="labels_with_the_end_token", value=0, limit="> 0"),
            Evidence(name="labels_left_out", value=left_out),
        ),
        confidence=0.85,
    )


def _left_out_at(run: Run, call: Labels) -> Link | None:
    """Where labels are compared with the padding and masked: `labels[labels == PAD] = -100`, `masked_fill`."""
    made = target_history(run, call, "cross_entropy")
    statements = [(link, statement_at(link.scope, link.line)) for link in made]
    compared = [link for link, statement in statements if statement is not None and _compares(statement)]
    return compared[0] if compared else None


def _moves(node: ast.AST) -> bool:
    """`ids[:, 1:]`, in the user's own source."""
    slices = [inner for inner in ast.walk(node) if isinstance(inner, ast.Slice)]
    return any(isinstance(part.lower, ast.Constant) and part.lower.value == 1 for part in slices)


def _compares(statement: ast.stmt) -> bool:
    chosen = [node.slice for node in ast.walk(statement) if isinstance(node, ast.Subscript)]
    chosen += [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return any(isinstance(inner, ast.Compare) for node in chosen for inner in ast.walk(node))


def _last_label_left_out(run: Run, batches: list[Tokens]) -> bool:
    """The inputs lack the last position of each row, and in every row one more label is masked.

    The longest row then has no padding among its inputs: the masked label was a token.
    """
    labels = run.facts(Labels, phase="train")
    if not labels or not any(_moves(link.node) for link in target_history(run, labels[0], "cross_entropy")):
        return False  # models of libraries move the labels themselves, and leave out one more place of each row
    left_out = {event.step: event.left_out for event in labels}
    known = [event for event in batches if event.step in left_out]
    if len(known) < len(batches) / 2 or any(event.shortest for event in batches):
        return False
    return all(left_out[event.step] == event.padding + event.rows for event in known)


# In an audit: the data itself, before any training.
FEWEST = 3
PER_CLASS = 30
MOST_CLASSES = 1000


def in_data(audit: Audit, *, share: float = 0.01, chance: float = 1e-4) -> Iterator[Finding]:
    """A class in val that train lacks, and an end that no label tells, is a warning; a gap in the numbers is a note."""
    import numpy as np

    from paramedic.audit.dense_labels import is_dense, never_seen

    train = audit.train.sketch.target
    endless = list(_never_ends(audit.train))
    yield from endless
    if is_dense(audit):
        yield from never_seen(audit, share)
        return
    if endless:
        return
    if audit.task.kind != "classification" or train.labels is None:
        raise Abstain("this is not a classification task")
    values = np.unique(train.labels)
    if audit.val is not None and audit.val.sketch.target.labels is not None:
        yield from _only_in_val(audit.train, audit.val, share)
        yield from _never_in_val(audit.train, audit.val, chance)
    whole = not train.names and values.dtype.kind in "iu" and values[0] == 0 and len(values) > 2
    if not whole or len(values) > MOST_CLASSES:
        return
    gaps = [int(v) for v in np.setdiff1d(np.arange(int(min(values[-1], 10_000)) + 1), values)]
    if gaps and len(gaps) < 0.2 * len(values) and audit.train.size > PER_CLASS * len(values):
        yield Finding(
            what=f"no sample of train has the label {listed([str(v) for v in gaps])}, but labels go up to {values[-1]}",
            why="the model has an output that is never trained, or these samples were lost",
            remedy="renumber the classes without gaps, or find the missing samples",
            evidence=(Evidence(name="missing_labels", value=len(gaps), limit="0"),),
            confidence=0.7,
            severity="note",
            split="train",
        )


def _never_ends(train: Split) -> Iterator[Finding]:
    """The collate function masks labels by the id of the padding, which is that of the end."""
    from paramedic.audit.models.endings import masked_ending

    ending = masked_ending(train.source.origin, train.source.ignored)
    if ending is None:
        return
    yield Finding(
        what=f"every sequence of train ends with id {ending}, which is also the padding id, and no label is ever "
        f"{ending}",
        why="the end token is masked out of the labels together with the padding, so the model never learns to stop",
        remedy="use a separate padding id, or mask the labels by the lengths of the sequences (or the attention mask)",
        evidence=(Evidence(name="labels_with_the_end_token", value=0, limit="> 0"),),
        confidence=0.93,
        severity="warning",
        split="train",
    )


def _only_in_val(train: Split, val: Split, share: float) -> Iterator[Finding]:
    import numpy as np

    known = _named(train)
    labels = val.sketch.target.labels
    assert labels is not None
    names = val.sketch.target.names
    shown = list(names) if names else None
    keys = [shown[int(v)] if shown else v.item() for v in np.unique(labels)]
    strange = [key for key in keys if key not in known]
    codes = [names[key] if shown else key for key in strange]
    hit = np.isin(labels, codes)
    samples = val.sketch.target.samples[hit].tolist()
    if len(samples) < max(FEWEST, share * val.size):
        return
    yield Finding(
        what=f"{len(samples):,} samples of val have a class that train lacks: {listed([repr(k) for k in strange])}",
        why="the model cannot learn it; usually the data was sorted by class when it was split",
        remedy="shuffle before splitting, or stratify by class (train_test_split(..., stratify=y))",
        evidence=(Evidence(name="classes_only_in_val", value=len(strange), limit="0"),),
        confidence=0.95,
        split="val",
        samples=tuple(samples),
    )


def _never_in_val(train: Split, val: Split, chance: float) -> Iterator[Finding]:
    """Classes that a random split would almost certainly have put into val."""
    import numpy as np

    labels = train.sketch.target.labels
    assert labels is not None
    known, names = _named(val), list(train.sketch.target.names)
    values, counts = np.unique(labels, return_counts=True)
    left = train.size / (train.size + val.size)  # the chance of a sample to stay in train
    certain = counts * np.log(left) < np.log(chance / len(values))
    missing = [v for v, sure in zip(values.tolist(), certain, strict=True) if sure and _key(v, names) not in known]
    if not missing or len(missing) > len(values) / 2 or val.size < PER_CLASS or len(values) > MOST_CLASSES:
        return
    shown = [repr(_key(v, names)) for v in missing]
    yield Finding(
        what=f"no sample of val has the class {listed(shown)}, which {int(counts[np.isin(values, missing)].sum()):,} "
        "samples of train have",
        why="validation cannot show whether it was learnt; usually the data was sorted by class when it was split",
        remedy="shuffle before splitting, or stratify by class (train_test_split(..., stratify=y))",
        evidence=(Evidence(name="classes_never_in_val", value=shown[:20], limit="none"),),
        confidence=0.9,
        split="val",
        columns=(val.source.label,) if val.source.label else (),
    )


def _key(label: object, names: list[str]) -> object:
    return names[int(str(label))] if names else label


def _named(split: Split) -> set[object]:
    import numpy as np

    target = split.sketch.target
    if target.names:
        return set(target.names)
    return set(np.unique(target.labels).tolist()) if target.labels is not None else set()
