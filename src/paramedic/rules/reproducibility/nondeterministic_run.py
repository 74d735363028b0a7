"""PM901."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Loader, Seed, Trial
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.experiments import Lab, at


@rule("PM901", "nondeterministic-run", severity="warning", needs=[Trial])
def check(run: Run, *, tolerance: float = 1e-6) -> Iterator[Finding]:
    """Two runs of the same script, started from the same random state, diverge.

    ## Why it hurts
    Improvements and regressions cannot be distinguished from chance, and a failure cannot be reproduced.

    ## What to try first
    Set the seeds of python, numpy and torch, give DataLoaders a generator and a worker_init_fn, and call
    torch.use_deterministic_algorithms(True) to find operations that differ from run to run.

    ## When this is wrong
    Often acceptable: it is a note unless the script asks for determinism and does not get it.

    ## Options
    `tolerance`: smallest relative difference of a loss that counts.
    """
    lab = Lab(run)
    again = lab.get("again")
    if again is None:
        raise Abstain("the script was not run twice")
    pairs = list(zip(lab.base.data.values, again.data.values, strict=False))
    step = next((i for i, (a, b) in enumerate(pairs) if abs(a - b) > tolerance * max(abs(a), abs(b), 1e-12)), None)
    if step is None:
        return
    first, second = pairs[step]
    seeds = run.facts(Seed)
    backward = run.first(Backward)
    workers = any(loader.workers for loader in run.facts(Loader))
    likely = "data drawn from an unseeded random generator" if step == 0 else "operations whose order varies"
    likely = "DataLoader workers" if workers else likely
    yield Finding(
        what=f"two runs from the same start diverge: at step {step} the loss is {first:.6g} in one and {second:.6g} "
        "in the other",
        why=f"most likely {likely}" + ("" if seeds else "; the script sets no seed"),
        remedy="seed the data generators; torch.use_deterministic_algorithms(True) then names the rest",
        where=at(backward),
        evidence=(Evidence(name="first step that differs", value=step, limit="none"),),
        confidence=0.9,
        severity="note",
    )
