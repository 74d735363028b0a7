"""PM406."""

from collections.abc import Iterator, Mapping

from paramedic.findings import Where
from paramedic.record.facts import Model, ModulePart
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import listed


@rule("PM406", "shared-by-accident", severity="warning", needs=[Model], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """One module instance appears several times in the same list.

    `[Block()] * 4` is the same block four times; so is `[layer for _ in range(4)]` with a layer that was passed in.

    ## Why it hurts
    The model has a quarter of the parameters it seems to have, and all positions share the same weights.

    ## What to try first
    `nn.ModuleList([Block() for _ in range(4)])`: a comprehension creates a new one each time.

    ## When this is wrong
    Weight sharing on purpose, as in a universal transformer: give the shared module a name in the function that builds
    the list, or use `shared` in the list's name, and nothing is reported; or call the module in a loop.
    """
    for model in run.facts(Model):
        with_weights = {m.path: m for m in model.modules if m.own_parameters or m.children}
        containers = {m.path for m in model.modules if m.container}
        pairs = [
            (first, second)
            for first, second in model.repeated
            if _parent(first) == _parent(second) in containers and first in with_weights
        ]
        built = {m.path: m for m in model.modules}
        handed = [path for path in model.handed_over or [] if not _on_purpose(path)]
        trained = [(a, b) for a, b in pairs if _has_parameters(model, a) and (_made_in_place(built, a) or a in handed)]
        if not trained:
            continue
        first, second = trained[0]
        born = with_weights[first]
        line = built[_parent(first)] if first in handed else born
        yield Finding(
            what=f"{first} and {second} are the same {born.class_} instance"
            + (f" ({len(trained)} such pairs)" if len(trained) > 1 else ""),
            why="all positions share one set of weights and sum their gradients into it",
            remedy="copy it for each position: [copy.deepcopy(layer) for _ in range(n)]"
            if first in handed
            else f"build a new one for each position: [{born.class_}(...) for _ in range(n)] instead of [...] * n",
            where=Where(file=line.file, line=line.line, module=first, step=0),
            evidence=(Evidence(name="shared", value=listed([f"{a} = {b}" for a, b in trained])),),
            confidence=0.93,
        )


def _made_in_place(built: Mapping[str, ModulePart], path: str) -> bool:
    """Whether it was built inside the expression that builds the list, not named before."""
    module, container = built[path], built.get(_parent(path))
    if container is None or module.line is None or container.line is None or module.file != container.file:
        return True
    return 0 <= module.line - container.line <= 10


def _on_purpose(path: str) -> bool:
    return any(word in path.lower() for word in ("shar", "tied", "univers", "recur", "repeat"))


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _has_parameters(model: Model, path: str) -> bool:
    return any(p.name.startswith(f"{path}.") for p in model.parameters)
