"""PM307 in data: the same samples in training and validation, exactly, nearly, or by index."""

from collections.abc import Iterator

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.audit.models.misses import coincide
from paramedic.audit.models.worth import leak_worth
from paramedic.audit.overlap import AGREEING, near_across, rich, same_rows, same_targets, shared
from paramedic.audit.owners import divided, worth
from paramedic.findings import Evidence, Finding, Severity
from paramedic.rules.rule import Abstain
from paramedic.rules.support import many

SHARE = 0.01
FEWEST = 3


@check("PM307")
def train_validation_overlap(audit: Audit) -> Iterator[Finding]:
    """An error where it spoils the validation; a note for single twins, and for tables with few possible rows."""
    if audit.val is None:
        raise Abstain("no validation data was given (--val)")
    size = audit.val.size
    by_index = same_rows(audit.train, audit.val)
    if by_index is not None and len(by_index.samples):
        whole = len(by_index.samples) >= size
        why = "both are parts of one dataset" + ("; a Subset's .dataset is the whole, not the part" if whole else "")
        yield _finding(audit, by_index.samples.tolist(), [], "by index", why, "error")
        return
    yield from _by_owner(audit)
    exact = shared(audit.train, audit.val)
    near = near_across(audit)
    samples = exact.samples.tolist() + list(dict.fromkeys(sample for sample, _ in near))
    if not samples:
        return
    pairs = list(zip(exact.samples.tolist(), exact.twins.tolist(), strict=True)) + near
    alike = same_targets(audit.train, audit.val, [(twin, sample) for sample, twin in near])
    other = alike is not None and alike < AGREEING and len(exact.samples) < len(samples) / 2
    serious = len(samples) >= FEWEST and len(samples) >= SHARE * size and not other
    chance = not rich(audit.train) or coincide(audit.train, audit.val)
    severity: Severity = "error" if serious and not chance else "note"
    how = "by content" if not near else ("nearly the same" if not len(exact.samples) else "the same or nearly so")
    why = "validation then measures memory, not learning"
    why = "with so few distinct values, rows coincide by chance" if chance else why
    why += f"; sample {pairs[0][0]} of val is sample {pairs[0][1]} of train, for example"
    why += f", but only {alike:.0%} of the pairs have one target: perhaps they are meant to differ" if other else ""
    worth = leak_worth(audit, samples) if severity == "error" else ""
    yield _finding(audit, samples, pairs, how, why + worth, severity)


def _by_owner(audit: Audit) -> Iterator[Finding]:
    """A note: whether new owners will come or the known ones, only the user knows."""
    assert audit.val is not None
    found = divided(audit.train, audit.val)
    if found is None:
        return
    part = len(found.samples) / max(audit.val.size, 1)
    yield Finding(
        what=f"{many(len(found.samples), 'sample')} of val ({part:.1%}) belong to a {found.column!r} that is in train "
        f"as well: {found.owners:,} of the {found.of:,} in val{worth(audit, found.column)}",
        why="a model may recognise them instead of learning the task",
        remedy="unless new data will be about the same ones, split by groups: "
        f"GroupShuffleSplit(test_size=0.2).split(x, groups=table[{found.column!r}]); --clean-val OUT leaves them out",
        evidence=(Evidence(name="share_of_known_owners", value=round(part, 4), limit="0"),),
        confidence=0.75,
        severity="note",
        split="val",
        samples=tuple(found.samples.tolist()),
    )


def _finding(
    audit: Audit, samples: list[int], pairs: list[tuple[int, int]], how: str, why: str, severity: Severity
) -> Finding:
    assert audit.val is not None
    part = len(samples) / max(audit.val.size, 1)
    return Finding(
        what=f"{many(len(samples), 'sample')} of val ({part:.1%}) {'is' if len(samples) == 1 else 'are'} also in train "
        f"({how}): {audit.val.samples(samples)}",
        why=why,
        remedy="remove them from val (--clean-val OUT writes it without them), or split by groups of equal samples",
        evidence=(
            Evidence(name="share_in_training", value=round(part, 4), limit=f"< {SHARE:g}"),
            Evidence(name="pairs", value=[list(pair) for pair in pairs[:20]]),
        ),
        confidence=0.97 if how in ("by index", "by content") else 0.9,
        severity=severity,
        split="val",
        samples=tuple(samples),
    )
