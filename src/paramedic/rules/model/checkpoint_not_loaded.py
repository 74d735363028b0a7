"""PM409."""

from collections.abc import Iterator

from paramedic.record.facts import AbsentFile, LeftInFile, Load, Overwritten
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.rules.support import at, listed, many
from paramedic.static.checkpoints import is_written, loads_what_was_asked_for
from paramedic.static.collecting import filtered_at
from paramedic.static.program import program


@rule("PM409", "checkpoint-not-loaded", severity="error")
def check(
    run: Run, *, least: float = 0.05, warn: float = 0.5, renamed: float = 0.5, alike: float = 0.5
) -> Iterator[Finding]:
    """load_state_dict loaded little or nothing, or the loaded weights were overwritten before training.

    With `strict=False`, keys that do not match are skipped silently: a prefix such as `module.` or `encoder.` is enough
    to skip all of them. A filter like `{k: v for k, v in state.items() if k in model_dict}` does the same. And an
    initialisation after loading, such as `self.apply(init_weights)`, overwrites the loaded values. A checkpoint that is
    requested but missing, and that the script does not write itself, is a note with its path.

    ## Why it hurts
    You think you are fine-tuning, but you are training from scratch.

    ## What to try first
    Look at the returned `missing_keys` and `unexpected_keys`; rename the prefix; load with `strict=True` if the
    checkpoint should be complete. Initialise first, then load.

    ## When this is wrong
    Adapters and checkpoints of single parts match little on purpose; nothing is reported if all given keys matched, or
    if a part matched and the rest, such as an autoencoder's decoder, fits nowhere in the model. New values in a part of
    what was loaded, such as a head, are assumed to be intended; so is noise that leaves them similar.

    ## Options
    `least`: share of the model's values below which it is an error; `warn`: below which it is a warning, if keys were
    also left over; `renamed`: share of the left-over (or of the missing) values for which a tensor of the same shape
    and last name must be on the other side; `alike`: the cosine with what was loaded below which a weight was
    overwritten.
    """
    yield from _absent(run)
    if not run.facts(Load):
        raise Abstain("no state dict was loaded")
    yield from _overwritten(run, alike)
    yield from _left_in_file(run, renamed)
    for event in run.facts(Load):
        if event.into != "model" or not event.keys or not event.given:
            continue
        share = event.matched_numel / max(event.numel, 1)
        unused = event.unexpected_count
        if event.matched == event.given:
            continue  # everything that was given was used
        unfilled = min(event.left_numel, event.numel - event.matched_numel)
        if event.matched and event.displaced_numel < renamed * unfilled:
            continue  # what was left over has no place here under any name: only a part was wanted
        if share > least and not (unused and share < warn):
            continue
        examples = listed([*event.unexpected[:2]]) or "none"
        wanted = listed(event.missing[:2]) or "none"
        yield Finding(
            what=f"load_state_dict matched {event.matched} of {event.keys} tensors "
            f"({share:.0%} of the values); {unused} given keys were left over",
            why=f"names do not match: given {examples}; expected {wanted}",
            remedy="rename the keys (strip or add the prefix) and load with strict=True",
            where=event.where,
            severity="error" if share <= least else "warning",
            evidence=(
                Evidence(name="matched_share", value=round(share, 4), limit=f"> {least:g}"),
                Evidence(name="left_over_keys", value=unused, limit="0"),
            ),
            confidence=0.96 if share <= least else 0.85,
        )


def _absent(run: Run) -> Iterator[Finding]:
    """The branch that loads weights was passed by, for the file does not exist, and nothing else was loaded."""
    if any(load.into == "model" for load in run.facts(Load)):
        return
    for event in run.facts(AbsentFile):
        if loads_what_was_asked_for(program(run), event.where) and not is_written(program(run), event.where):
            yield Finding(
                what=f"{event.path} is not there, so the weights that this line would load are not loaded",
                why="the condition is false without a word, and training starts from scratch",
                remedy="check the path, and the folder that the script is started in; where the file is needed, fail: "
                "raise FileNotFoundError",
                where=event.where,
                severity="note",
                evidence=(Evidence(name="path", value=event.path),),
                confidence=0.8,
            )


def _left_in_file(run: Run, renamed: float) -> Iterator[Finding]:
    """A file was read and a state dict loaded, but the model's values did not change."""
    for event in run.facts(LeftInFile):
        loads = [load for load in run.facts(Load) if load.module == event.module]
        loads = [load for load in loads if load.where.line == event.where.line]
        new = max((load.changed for load in loads), default=0)
        if not loads or 2 * new >= loads[-1].keys or event.fitting < renamed * min(event.lost, event.wanted):
            continue
        if loads[-1].unexpected_count:
            continue  # it was given, and had no place: said below
        yield Finding(
            what=f"of {many(event.tensors, 'weight')} read from a file (line {event.read_at[1]}), {event.lost} reached "
            f"no model; {event.module} loaded the values it already had",
            why=f"names do not match: read {listed(event.names[:2])}; expected {listed(event.own_names[:2])}; a filter "
            "silently drops what does not match",
            remedy="rename the keys (strip or add the prefix), and load the file with strict=True",
            **edited_at(event.where, filtered_at(program(run), event.where)),
            evidence=(Evidence(name="weights_that_arrived", value=event.tensors - event.lost, limit="> 0"),),
            confidence=0.94,
        )


def _overwritten(run: Run, alike: float) -> Iterator[Finding]:
    """At the next step every matrix examined has values other than those loaded."""
    for event in run.facts(Overwritten):
        likeness = event.likeness
        if len(likeness) < 2 or max(likeness) >= alike:
            continue
        line = event.loaded_at[1]
        yield Finding(
            what=f"the weights that {event.module} loaded (line {line}) were overwritten before the next step: "
            f"{listed(event.names)}",
            why=f"{many(len(likeness), 'weight')} were compared, and none resembles what was loaded",
            remedy="initialise first, then load",
            where=at(event, event.loaded_at) if event.where.file is None else event.where,
            severity="warning",
            evidence=(Evidence(name="cosine_to_loaded", value=round(max(likeness), 3), limit=f"≥ {alike:g}"),),
            confidence=0.92,
        )
