"""PM413."""

import ast
from collections.abc import Iterator

from paramedic.record.facts import (
    Asked,
    CuttingView,
    GraphBatch,
    Loader,
    ModuleCall,
    NormalisedAcrossSamples,
    Optimizer,
    StepAsked,
)
from paramedic.record.facts.model import Mixing
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import Places, edited_at
from paramedic.rules.support import at, shape, why_not
from paramedic.static.history import Link
from paramedic.static.program import arguments_at, called, own_nodes, program
from paramedic.static.signs import name_of


@rule("PM413", "batch-mixing", severity="error", needs=[Asked], causes=["PM207", "PM209", "PM313", "PM315"])
def check(run: Run, *, tolerance: float = 1e-4) -> Iterator[Finding]:
    """The output for one sample depends on the other samples of its batch, or on its position among them.

    Tested on a copy of the model in eval mode: by replacing the second half of a batch and comparing the outputs for
    the first half, and by passing the same samples in reverse order.

    ## Why it hurts
    A module treats the batch dimension as the sequence. torch's recurrent and attention modules expect (time, batch,
    features) unless `batch_first=True`. Or a reshape cuts across samples, or `F.normalize(x, dim=0)` divides each
    column by its norm over the batch instead of each sample by its own. The model learns from relations between
    unrelated samples, and its output for a sample changes with the rest of the batch. Or samples are sorted by length
    inside the model and never restored: each output is compared with the label of another sample. Or several graphs
    are joined to one, but their edges still count the nodes from 0: all edges are between nodes of the first graphs.

    ## What to try first
    `batch_first=True`, or swap the first two dimensions before and after. `x.reshape(len(x), -1)` keeps samples intact;
    swap axes with `transpose`, not `reshape`. Add the number of nodes before it to the edges of each graph.

    ## When this is wrong
    Models that compare the samples of a batch on purpose. Modules with `batch_first=False` that get the batch in their
    first dimension, reshapes that cut up the batch, and norms taken over it are errors; other causes are a note, and
    only if a loader shuffles the samples and each has its own target. If the model treats the second dimension as the
    batch throughout, a loader's batch size must show that it is the first.

    ## Options
    `tolerance`: relative change of an output that still counts as rounding.
    """
    joined = list(_first_graphs_only(run))
    yield from joined
    if joined:
        return
    astray = [event for event in run.facts(Asked) if event.row and (event.row.astray or 0) > 1]
    if astray:
        yield _in_other_rows(astray[0])
        return
    yield from _row(run, tolerance)
    asked = [(event, event.mixing) for event in run.facts(Asked) if event.mixing]
    if not asked:
        raise Abstain(why_not(run) or "no model could be probed with replaced samples")
    given = {loader.batch_size for loader in run.facts(Loader)}
    cuts, across = run.facts(CuttingView), run.facts(NormalisedAcrossSamples)
    for event, mixing in asked:
        if not mixing.gap > tolerance:
            continue
        lengths = [op for op in across if op.shape[0] == event.size]
        if event.batch_first is not False and lengths:
            yield _length(event, mixing.gap, lengths[0], tolerance)
            return
        if event.batch_first is not False and not cuts:
            found = list(_somehow(run, event, mixing, tolerance))
            yield from found
            if found:
                return
            continue
        if mixing.apart and event.size not in given:
            raise Abstain("samples may lie along the second dimension, and no loader shows the batch size")
        if event.batch_first is not False:
            yield _cut(event, mixing.gap, cuts[0], tolerance)
            return
        name = f"{event.module}.{mixing.module}"
        if event.size not in given and _takes_one_sequence(run, name):
            raise Abstain("a single sequence is passed at a time, and no loader shows that its positions are samples")
        yield Finding(
            what=f"outputs of {event.module} change by {mixing.gap:.1%} when other samples of the batch "
            f"are replaced, first after {name}",
            why=f"{event.mixed_by} has batch_first=False and treats the {event.size} samples as time steps",
            remedy="pass batch_first=True when building it",
            where=at(event, event.built_at),
            evidence=(Evidence(name="change", value=round(mixing.gap, 5), limit=f"≤ {tolerance:g}"),),
            confidence=0.95,
        )
        return


def _first_graphs_only(run: Run, fewest: int = 4, share: float = 0.5) -> Iterator[Finding]:
    """In every batch, only the first graphs have edges, however the samples are shuffled."""
    sizes = {loader.batch_size for loader in run.facts(Loader)}
    looks = [look for look in run.facts(GraphBatch) if look.graphs in {*look.answers, *sizes}]  # else perhaps no graphs
    if len(looks) < fewest or any(look.graphs < fewest or look.last + 1 > share * look.graphs for look in looks):
        return
    first = looks[0]
    yield Finding(
        what=f"all edges of a batch are between nodes of its first {first.last + 1} graphs; the other "
        f"{first.graphs - first.last - 1} have none",
        why="the edges of each graph count its nodes from 0, but in the batch they come after those of other graphs",
        remedy="add an offset to the edges of each graph: the number of nodes of the graphs before it",
        **_joined_at(run, first),
        evidence=(Evidence(name="graphs_with_edges", value=first.reached, limit=f"{first.graphs}"),),
        confidence=0.95,
    )


def _joined_at(run: Run, event: GraphBatch) -> Places:
    """Where the loader's collate function joins the edges side by side; else where the model is called."""
    code = program(run)
    loaders = [loader.where for loader in run.facts(Loader)]
    names = {name_of(node) for where in loaders for node in arguments_at(code, where, ("DataLoader",), 6, "collate_fn")}
    for scope in code.scopes():
        if scope.function is not None and {scope.name, scope.owner.name if scope.owner else None} & names:
            calls = [node for node in own_nodes(scope.body) if isinstance(node, ast.Call)]
            joins = [call for call in calls if called(call) in ("cat", "concat", "concatenate", "hstack")]
            if joins:
                side = next((call for call in joins if len(call.args) + len(call.keywords) > 1), joins[0])
                return edited_at(event.where, Link(side.lineno, side, scope, "called"))
    return edited_at(event.where, None)


def _somehow(run: Run, event: Asked, mixing: Mixing, tolerance: float) -> Iterator[Finding]:
    """No known cause.

    Rows must be independent samples: a loader shuffles them, each has its own target, and one optimizer trains
    everything. A norm without running statistics uses those of the batch, intended or not.
    """
    shuffled = {loader.batch_size for loader in run.facts(Loader) if loader.sampler == "RandomSampler"}
    alone = len(run.facts(Optimizer)) == 1 and "Norm" not in (event.mixed_by or "")
    steps = [step for step in run.facts(StepAsked) if any(t.name in step.loaded and t.kind for t in step.targets)]
    beside = any(event.size in sizes[1:] for step in steps for sizes in step.answers)  # samples against samples
    if mixing.apart or mixing.gap < 10 * tolerance or event.size not in shuffled or not steps or beside or not alone:
        return
    reordered = event.row is not None and event.row.astray is not None  # asked alone, samples get the same answers
    if mixing.site is None or reordered:
        return
    yield Finding(
        what=f"outputs of {event.module} change by {mixing.gap:.1%} when other samples of the batch are replaced",
        why="this line computes a sample's value from the other samples of its batch, so predictions change with the "
        "rest of the batch",
        remedy="compute along the features or the sequence: dim=-1 or dim=1 instead of dim=0",
        where=at(event, mixing.site),
        severity="note",  # statistics of a batch may be meant
        evidence=(Evidence(name="change", value=round(mixing.gap, 5), limit=f"≤ {tolerance:g}"),),
        confidence=0.85,
    )


def _in_other_rows(event: Asked) -> Finding:
    """Passed one by one, the samples get the same outputs, but in a batch these are in a different order."""
    assert event.row is not None
    return Finding(
        what=f"outputs of {event.module} are in the wrong rows: for {event.row.astray} of 8 samples, the output they "
        "get "
        "alone is in the row of another sample",
        why="the model reorders the samples, so outputs are compared with the labels of others",
        remedy="restore the order before returning: out[order.argsort()]; or "
        "pack_padded_sequence(enforce_sorted=False)",
        where=at(event, event.row.site),
        evidence=(Evidence(name="answers_in_other_rows", value=event.row.astray or 0, limit="0"),),
        confidence=0.96,
    )


def _row(run: Run, tolerance: float) -> Iterator[Finding]:
    """Something is added per row, such as positions along the batch. Row order must be arbitrary, as with shuffling."""
    shuffled = {loader.batch_size for loader in run.facts(Loader) if loader.sampler == "RandomSampler"}
    for event in run.facts(Asked):
        found, mixed = event.row, event.mixing
        if not found or not mixed or mixed.gap > tolerance:
            continue
        if event.size not in shuffled and event.present is None:  # rows of tokens are sequences of their own
            continue
        if found.gap > 10 * tolerance:
            yield Finding(
                what=f"outputs of {event.module} change by {found.gap:.1%} when the same samples are in a different "
                "order: they depend on the row of the batch",
                why="something that differs per row is mixed in, such as positions counted along the batch",
                remedy="count positions along the sequence: pe[: x.size(1)], or arange(x.size(1)), for (batch, time)",
                where=at(event, found.site),
                evidence=(Evidence(name="change", value=round(found.gap, 5), limit=f"≤ {10 * tolerance:g}"),),
                confidence=0.93,
            )
            return


def _takes_one_sequence(run: Run, name: str) -> bool:
    """(time, 1, features), or (time, features): meant for a single sequence."""
    given = [call.inputs[0].shape for call in run.facts(ModuleCall) if call.module == name and call.inputs]
    return bool(given) and all(len(sizes) == 2 or sizes[1] == 1 for sizes in given)


def _cut(event: Asked, gap: float, cut: CuttingView, tolerance: float) -> Finding:
    """A reshape inside the model that does not keep samples intact."""
    return Finding(
        what=f"outputs of {event.module} change by {gap:.1%} when other samples of the batch are "
        f"replaced: {cut.function} turns {shape(cut.from_)} into {shape(cut.to)}",
        why="it regroups the values without moving an axis, so rows now contain parts of several samples",
        remedy="keep the batch first, x.reshape(len(x), -1), or swap axes with transpose or permute",
        where=cut.where,
        evidence=(
            Evidence(name="change", value=round(gap, 5), limit=f"≤ {tolerance:g}"),
            Evidence(name="reshaped_to", value=shape(cut.to), limit=f"({cut.from_[0]}, …)"),
        ),
        confidence=0.92,
    )


def _length(event: Asked, gap: float, op: NormalisedAcrossSamples, tolerance: float) -> Finding:
    """Vectors are normalised along the wrong axis."""
    return Finding(
        what=f"outputs of {event.module} change by {gap:.1%} when other samples of the batch are "
        f"replaced: F.normalize runs over dimension 0 of {shape(op.shape)}",
        why="it divides each column by its norm over the batch, but each sample should have norm 1",
        remedy="F.normalize(x, dim=-1), or along the feature axis",
        where=op.where,
        evidence=(Evidence(name="change", value=round(gap, 5), limit=f"≤ {tolerance:g}"),),
        confidence=0.93,
    )
