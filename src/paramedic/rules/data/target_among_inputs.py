"""PM324."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.record.facts import GivenTarget, Loader, Trial
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.experiments import Lab, at
from paramedic.rules.support import always_given

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit
    from paramedic.audit.models.copies import Copy


@rule("PM324", "target-among-inputs", severity="error")
def check(run: Run, *, fewest: int = 5, various: float = 0.5) -> Iterator[Finding]:
    """A column of the inputs is the target itself.

    A run sees it if it is the last column, where files usually keep the target; `paramedic diagnose` checks all
    columns. `paramedic audit` also finds a code of the class, columns that rise or fall strictly with the target, row
    ids (`patient_id`) that reveal the class, and columns that only one class has values in (`days_in_collection`).

    ## Why it hurts
    The model learns to copy that column, looks excellent, and is useless when the target is not known.

    ## What to try first
    Drop that column. If it cannot be known before the target, it must not be an input.

    ## When this is wrong
    When the task is to copy a value. Only tables of at least two columns are judged, and only if the column equals the
    target in at least a hundred samples without exception.

    ## Options
    `fewest`: fewest batches seen; `various`: share of a batch's targets that must differ from each other: few different
    numbers are classes, which a column may tell. In an audit: `samples`: the fewest that are judged; `out_of_order`:
    share of neighbouring values that rounding may have exchanged in a column that rises with the target.
    """
    looks = [event for event in run.facts(GivenTarget) if not event.sequence and event.various > various]
    yield from _last_column(looks, fewest)
    if not run.facts(Trial):
        if not looks:
            raise Abstain("no table with one target value per sample was seen")
        return
    lab = Lab(run)
    answer = lab.tried["simple-models"].answer if "simple-models" in lab.tried else {}
    if not answer.get("task"):
        raise Abstain(answer.get("reason") or "no pairs of inputs and targets were recorded")
    column = answer.get("copy")
    if column is None:
        return
    loader = run.first(Loader)
    yield Finding(
        what=f"column {column} of the inputs equals the target in all {answer['samples']:,} samples",
        why="the model learns only to copy it, and it is not known for new data",
        remedy=f"remove column {column} from the inputs and retrain",
        where=at(loader),
        evidence=(
            Evidence(name="samples in which it equals the target", value=answer["samples"], limit="all of them"),
        ),
        confidence=0.9,
    )


def _last_column(looks: list[GivenTarget], fewest: int) -> Iterator[Finding]:
    found = always_given(looks, fewest)
    if found is None:
        return
    given, batches = found
    yield Finding(
        what=f"the last of the {given.columns} input columns equals the target in {batches} of {batches} batches",
        why="the model learns only to copy it, and it is not known for new data",
        remedy="drop the last column: x[:, :-1]; in a series, predict the step after the window",
        where=given.where,
        evidence=(Evidence(name="batches_in_which_they_agree", value=batches, limit="0"),),
        confidence=0.92,
    )


# In an audit: the data itself, before any training.


def in_data(audit: Audit, *, samples: int = 50, out_of_order: float = 0.002) -> Iterator[Finding]:
    """One finding for each such column."""
    from paramedic.audit.models.copies import copies

    found = copies(audit, samples, out_of_order)
    if found is None:
        raise Abstain("there is no table with one target value per sample")
    for copy in found:
        yield _finding(audit, copy)


def _finding(audit: Audit, copy: Copy) -> Finding:
    train = audit.train
    name = repr(copy.name) if copy.place is None else train.feature(copy.name, copy.place)
    plain = name.strip("'")
    drop = f"table.drop({plain!r})" if train.source.kind == "table" else f"drop column {plain}"
    return Finding(
        what=f"column {name} of train {copy.how} ({copy.samples:,} samples)",
        why="a model learns only to copy it, and it is not known for new data"
        if copy.certain
        else "it seems to be filled in once the class is known, and is not known for new data",
        remedy=f"{drop}, from both splits, unless it is really known before the target is",
        evidence=(Evidence(name="samples_without_exception", value=copy.samples, limit="0"),),
        confidence=0.93 if copy.certain else 0.85,
        severity="warning" if plain in train.source.left_out or not copy.certain else "error",  # who feeds row numbers?
        split="train",
        columns=(plain,),
    )
