"""PM422."""

from collections.abc import Iterator

from paramedic.findings import Where
from paramedic.record.facts import Contract, ModuleCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import shape

WRITTEN = {"annotation": "annotated", "contract": "declared"}  # meant to be checked, so that breaking them is an error


@rule("PM422", "shape-contract-broken", severity="error", coverage=[ModuleCall])
def check(run: Run) -> Iterator[Finding]:
    """forward(), or a function with a contract, received or returned a shape that contradicts its own declaration.

    It reads `@paramedic.shapes("B T -> B C")` on any function; annotations in the notation of jaxtyping, `x:
    Float[Tensor, "batch time 80"]`, and torchtyping, `x: TensorType["batch", "time", 80]`; shapes in the docstring, `x:
    (batch, time, 80)`; and comments after a parameter, a return or a module call, `x = self.conv(x)  # (batch, 16,
    height, width)`.

    ## Why it hurts
    Torch broadcasts and reshapes without complaint, so a transposed or squeezed tensor often runs through. The code
    that declares the shape relies on it.

    ## What to try first
    Compare the shape here with the declared one and fix the caller, or correct the declaration.

    ## When this is wrong
    When the declaration is out of date. For the same reason, one in a docstring or a comment is only a note.
    """
    for event in run.facts(Contract):
        declared = "(" + ", ".join(event.declared) + ")"
        place = "what it returns" if event.name == "return" else event.name
        written = WRITTEN.get(event.how, "documented")
        owner = event.function or f"{event.class_}.forward"
        file, line = event.forward[:2] if event.name == "return" else (event.where.file, event.where.line)
        yield Finding(
            what=f"{owner}: {place} is {written} as {declared} and is {shape(event.got)}: {event.broken}",
            why="later code relies on the declared shape, and torch broadcasts over the difference",
            remedy=f"pass {declared}, or correct the declaration",
            where=Where(file=file, line=line, module=event.module, step=event.step),
            severity="error" if event.how in WRITTEN else "note",
            evidence=(Evidence(name="shape", value=shape(event.got), limit=declared),),
            confidence=0.9 if event.how in WRITTEN else 0.6,
        )
