"""PM422."""

from collections.abc import Iterator

from paramedic.findings import Where
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import shape


@rule("PM422", "shape-contract-broken", severity="error", needs=["module_call"])
def check(run: Run) -> Iterator[Finding]:
    """forward() received or returned a shape that contradicts its own annotation.

    It reads annotations in jaxtyping's notation, `x: Float[Tensor, "batch time 80"]`, and shapes in the docstring, `x:
    (batch, time, 80)`.

    ## Why it hurts
    Torch broadcasts and reshapes without complaint, so a transposed or squeezed tensor often runs through. The code
    that declares the shape relies on it.

    ## What to try first
    Compare the shape here with the declared one and repair the caller; or correct the declaration.

    ## When this is wrong
    When the declaration is out of date. One in a docstring is only a note, for the same reason.
    """
    for event in run.events("contract"):
        declared = "(" + ", ".join(event["declared"]) + ")"
        place = "what it returns" if event["name"] == "return" else event["name"]
        written = "annotated" if event["how"] == "annotation" else "documented"
        file, line = event["forward"] if event["name"] == "return" else (event.where.file, event.where.line)
        yield Finding(
            what=f"{event['class']}.forward: {place} is {written} as {declared} and is {shape(event['got'])}: "
            f"{event['broken']}",
            why="code behind it relies on the declared shape; torch broadcasts over the difference",
            remedy=f"pass {declared}, or correct the declaration",
            where=Where(file=file, line=line, module=event.module, step=event.step),
            severity="error" if event["how"] == "annotation" else "note",
            evidence=(Evidence(name="shape", value=shape(event["got"]), limit=declared),),
            confidence=0.9 if event["how"] == "annotation" else 0.6,
        )
