"""PM513."""

import ast
from collections.abc import Iterator

from paramedic.findings import Where
from paramedic.record.facts import Asked, GivenTarget, Loader, Shift
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import always_given, at, by_place, labels_made_at
from paramedic.static.program import own_nodes, program


@rule("PM513", "label-shift", severity="error", causes=["PM207"])
def check(run: Run, *, share: float = 0.95, tolerance: float = 1e-4, various: float = 0.5) -> Iterator[Finding]:
    """Sequence labels are shifted twice, not at all, or placed where the input already shows them.

    Applies to next-token labels and to forecasts of a series: not shifted, the target is the last value of the window.

    ## Why it hurts
    Shifted twice (by the dataset and again by the model), the model learns to predict the token after the next. Not
    shifted, a causal model only has to copy its input: the loss falls to zero and nothing is learnt.

    ## What to try first
    Shift in one place only: `logits[:, :-1]` against `ids[:, 1:]`. Most library models shift internally and expect
    `labels = input_ids`.

    ## When this is wrong
    A head that should predict the token after the next, alongside one that predicts the next, is not reported. Nor are
    unshifted labels of a model that sees the whole sequence, as in an autoencoder, or that does not see the token at
    the position it predicts, as a policy that is also fed its past actions.

    ## Options
    `share`: share of labels that must match the shifted input; `tolerance`: what counts as no influence of later
    inputs; `various`: share of a batch's targets that must differ from each other to be values of a series.
    """
    looks = [event for event in run.facts(GivenTarget) if event.sequence and event.various > various]
    if not run.facts(Shift) and not looks:
        raise Abstain("no labels were compared with the sequence they belong to")
    yield from _last_step(looks)
    yield from _visible(run, share)
    groups = by_place(run.facts(Shift))
    means = {
        place: {key: sum(e.agreement[key] for e in events) / len(events) for key in "012"}
        for place, events in groups.items()
        if len(events) > 1
    }
    right = any(found["1"] > share for found in means.values())
    futures = [e.future for e in run.facts(Asked) if e.future is not None]
    presents = [e.present for e in run.facts(Asked) if e.present is not None]
    copies = bool(futures) and all(value <= tolerance for value in futures) and min(presents, default=0) > tolerance
    for place, found in means.items():
        if right or max(found["0"], found["2"]) <= share or min(found["0"], found["2"]) > 0.9:
            continue
        twice = found["2"] > share
        if not twice and not copies:
            continue
        event = groups[place][0]
        made = _shifted_at(run, event) if twice else event.where
        elsewhere = made != event.where
        yield Finding(
            what=f"{found['2' if twice else '0']:.0%} of the labels are the input "
            + (
                "two positions later: they were shifted twice"
                if twice
                else "at the same position: they were not shifted"
            ),
            why="the model learns to predict the token after the next"
            if twice
            else "the model sees the token it should predict, so it just copies the input",
            remedy=f"labels = input_ids: the loss of the model that {event.line} trains shifts them itself"
            if elsewhere
            else "shift in one place only: logits[:, :-1] against ids[:, 1:]",
            where=made,
            evidence=(Evidence(name="places", value=2 if twice else 0, limit="1"),),
            confidence=0.93,
        )


def _shifted_at(run: Run, event: Shift) -> Where:
    """Where labels are shifted before the model gets them, if the function that computes the loss does not do it."""
    made, code = labels_made_at(run, event, "shifted"), program(run)
    scope = code.scope(event.where.file, event.where.line)
    if made != event.where or scope is None or any(map(_shifts, own_nodes(scope.body))):
        return made
    sites = [loader.labels_at.shifted for loader in run.facts(Loader) if loader.labels_at and loader.labels_at.shifted]
    return at(event, sites[0] if sites else None)


def _shifts(node: ast.AST) -> bool:
    """`[1:]`, `[:-1]`."""
    return isinstance(node, ast.Slice) and (_is_number(node.lower, "1") or _is_number(node.upper, "-1"))


def _is_number(node: ast.expr | None, text: str) -> bool:
    return node is not None and ast.unparse(node) == text


def _visible(run: Run, share: float, fewest: int = 4) -> Iterator[Finding]:
    """Masked language modelling the wrong way round: the loss is computed where the input is not masked."""
    for events in by_place(run.facts(Shift)).values():
        looks = [e.hidden for e in events if e.hidden and e.hidden.inside > 0.5]
        copied = all(event.agreement["0"] > share for event in events)
        if len(looks) < max(fewest, len(events)) or not copied or len({look.value for look in looks}) > 1:
            continue
        if all(look.same > share and not look.as_label for look in looks):
            yield Finding(
                what=f"all labels that count equal the input at the same position, and the ignored positions contain "
                f"id {looks[0].value:.0f}, which is never a label",
                why="the loss is computed where the token is visible, and ignored where it is masked",
                remedy="invert the selection: labels[~masked] = -100, so that only masked positions count",
                where=events[0].where,
                evidence=(Evidence(name="labels_in_the_input", value=1.0, limit="masked places only"),),
                confidence=0.94,
            )


def _last_step(looks: list[GivenTarget], fewest: int = 5) -> Iterator[Finding]:
    found = always_given(looks, fewest)
    if found is None:
        return
    given, batches = found
    yield Finding(
        what=f"the target equals the last of the {given.columns} steps in the model's input, "
        f"in {batches} of {batches} batches",
        why="the model only has to copy what it sees; the target must be one step later",
        remedy="take the step after the window: y = series[i + size] for x = series[i : i + size]",
        where=given.where,
        evidence=(Evidence(name="places", value=0, limit="≥ 1"),),
        confidence=0.92,
    )
