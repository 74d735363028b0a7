"""PM411."""

from collections.abc import Iterator

from paramedic.record.facts import Model, Untied
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import many

HOW = {
    "loaded": "load_state_dict(assign=True) put a separate tensor in each place",
    "assigned": "a new Parameter was put in one of the two places",
    "replaced": "both modules were replaced by new ones with separate weights",
    "converted": "only their data was shared, and converting the model gave each Parameter separate data",
}


@rule("PM411", "untied-weights", severity="warning", coverage=[Model])
def check(run: Run) -> Iterator[Finding]:
    """Tied weights have come apart and are trained separately.

    Two places of the model shared one tensor, as the embedding and the output layer of a language model often do. Then
    a load, an assignment, a conversion or new modules (a larger vocabulary) gave each its own.

    ## Why it hurts
    The model is no longer the one that was designed: it has more parameters, two copies that drift apart, and often one
    of them lacks the loaded values.

    ## What to try first
    Tie them again as the last thing before building the optimizer: `model.head.weight = model.embed.weight`. Share the
    Parameter itself, not its `.data`.

    ## When this is wrong
    An equal copy assigned to one of the places is assumed to be intended. Silence other cases on the line with `#
    paramedic: ignore[PM411]`.
    """
    for event in run.facts(Untied):
        first, second = event.names
        yield Finding(
            what=f"{first} and {second} were one tensor; since this line they are two, and both are trained",
            why=HOW[event.how],
            remedy=f"tie them again after this line, before building the optimizer: {first} = {second}",
            where=event.where,
            evidence=(Evidence(name="values", value=many(2 * event.numel, "value"), limit=f"{event.numel:,}"),),
            confidence=0.9,
        )
