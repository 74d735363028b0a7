"""PM419."""

import re
from collections.abc import Iterator, Mapping, Sequence

from paramedic.record.facts import Asked, Model
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.rules.support import at, why_not
from paramedic.static.history import Link
from paramedic.static.program import program
from paramedic.static.reads import read_at


@rule("PM419", "ignored-input", severity="warning", needs=[Asked])
def check(run: Run) -> Iterator[Finding]:
    """An input of the model has no influence on its output.

    Tested twice on a copy of the model, in train and in eval mode: the input was permuted between the samples, and the
    output did not change by a single bit. An output that depends on no input at all is PM209.

    ## Why it hurts
    Information that should be used is not: a variable overwritten in `forward`, a branch that was never connected, a
    factor that is always zero.

    ## What to try first
    Follow the argument through `forward`.

    ## When this is wrong
    An argument that exists only for the interface: start its name with an underscore. If a whole batch is passed as a
    dictionary or a tuple, the model may take what it needs: its parts are not judged.
    """
    rounds: dict[str | None, list[tuple[Asked, Mapping[str, bool]]]] = {}
    for event in run.facts(Asked):
        if event.ignored is not None:
            rounds.setdefault(event.module, []).append((event, event.ignored))
    if not any(len(events) > 1 for events in rounds.values()):
        raise Abstain(why_not(run) or "no model could be probed twice")
    for answers in rounds.values():
        paths = set.intersection(*({path for path, idle in ignored.items() if idle} for _, ignored in answers))
        first = answers[0][0]
        if all(path in paths for path in answers[0][1]):
            continue  # the output depends on nothing: dead or saturated units, an illness of its own
        for path in sorted(paths) if len(answers) > 1 else ():
            name = _name(path, first.names)
            if name is not None and not name.startswith("_"):
                lost = (first.lost or {}).get(path)
                yield Finding(
                    what=f"the output of {first.module} does not depend on its input {name!r}",
                    why=f"permuting it between the {first.size} samples of a batch changed nothing, in "
                    f"{len(answers)} rounds",
                    remedy=f"use what line {lost[3]} made of {name!r}: this line overwrites it before it is used"
                    if lost
                    else f"follow {name!r} through forward(): it is overwritten, dropped or multiplied by zero",
                    **edited_at(at(first, lost), None if lost else _read(run, first, name)),
                    evidence=(Evidence(name="change_of_the_output", value=0.0, limit="> 0"),),
                    confidence=0.88,
                )


def _read(run: Run, event: Asked, name: str) -> Link | None:
    """The statement of the model's forward() that reads the argument, to no effect."""
    models = [model for model in run.facts(Model) if model.name == event.module]
    return read_at(program(run), models[0].class_, "forward", name) if models else None


def _name(path: str, names: Sequence[str]) -> str | None:
    """'[0][1]' is the second positional argument, "[1]['mask']" a keyword argument; None: a part of one."""
    positional = re.fullmatch(r"\[0\]\[(\d+)\]", path)
    if positional:
        number = int(positional.group(1))
        return names[number] if number < len(names) else path
    keyword = re.fullmatch(r"\[1\]\['(\w+)'\]", path)
    return keyword.group(1) if keyword else None
