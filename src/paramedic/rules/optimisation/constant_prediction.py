"""PM209."""

from collections import Counter
from collections.abc import Iterator

from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import by_place


@rule("PM209", "constant-prediction", severity="warning", needs=["loss_call"], causes=["PM207"], symptom=True)
def check(run: Run, *, spread: float = 1e-4, fewest: int = 30) -> Iterator[Finding]:
    """The outputs hardly depend on the inputs.

    ## Why it hurts
    Whatever goes in, the same comes out: the model has collapsed, or something before the output removes the
    signal.

    ## What to try first
    Compare the outputs for two very different inputs layer by layer. Usual reasons: a learning rate that killed all
    units, a normalisation right before a mean over the same axis, inputs that are constant, a loss whose best
    answer is the mean.

    ## When this is wrong
    When the task really is constant.

    ## Options
    `spread`: standard deviation over the samples of a batch, relative to the outputs' size; `fewest`: steps to be
    seen.
    """
    calls = [call for call in run.events("loss_call", phase="train") if call.get("values")]
    if run.steps < fewest:
        raise Abstain(f"only {run.steps} steps; {fewest} are needed")
    for group in by_place(calls).values():
        late = [call for call in group if call.step >= min(run.steps // 4, 64)]
        if len(late) < 2 or any(call["values"]["rows"] < 4 for call in late) or not group[0]["input"]["requires_grad"]:
            continue
        if len(group[0]["input"]["shape"]) < 2 and group[0]["function"] not in _ELEMENTWISE:
            continue
        ratios = [
            call["values"]["row_spread"]
            / max(abs(call["values"]["input_max"]), abs(call["values"]["input_min"]), 1e-12)
            for call in late
        ]
        if max(ratios) > spread or late[-1]["values"]["target_std"] == 0:
            continue
        guessed: Counter[int] = Counter()
        for event in run.events("labels", phase="train")[-10:]:
            guessed.update({int(k): v for k, v in event["guessed"].items()})
        yield Finding(
            what=f"the outputs are the same for every sample of a batch (spread {max(ratios):.1e} of their size) "
            f"in the last {len(late)} examined steps",
            why="the model no longer passes on any information about its input",
            remedy="find the layer after which all samples look alike: print the standard deviation over the batch",
            where=late[0].where,
            evidence=(
                Evidence(name="relative_spread", value=max(ratios), limit=f"> {spread:g}"),
                Evidence(name="classes_predicted", value=len(guessed), limit="≥ 2")
                if guessed
                else Evidence(name="examined_calls", value=len(late)),
            ),
            confidence=0.9,
        )


_ELEMENTWISE = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits")
