"""PM406."""

from collections.abc import Iterator, Mapping

from paramedic.findings import Where
from paramedic.record.facts import Model, ModulePart
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import listed
from paramedic.static.program import program
from paramedic.static.registries import picked_again_and_again


@rule("PM406", "shared-by-accident", severity="warning", needs=[Model], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """One module instance appears several times in the same list.

    `[Block()] * 4` is the same block four times; so is `[layer for _ in range(4)]` with a layer that was passed in, and
    `[blocks[kind] for _ in range(4)]` with a registry that holds blocks instead of their classes.

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
        picked = _picked(run, built, {a for a, _ in pairs})
        told = {a for a, _ in pairs if _made_in_place(built, a) or a in handed or a in picked}
        trained = [(a, b) for a, b in pairs if a in told and _has_parameters(model, a)]
        if not trained:
            continue
        first, second = trained[0]
        born = with_weights[first]
        line = built[_parent(first)] if first in handed else born
        yield Finding(
            what=f"{first} and {second} are the same {born.class_} instance"
            + (f" ({len(trained)} such pairs)" if len(trained) > 1 else ""),
            why="all positions share one set of weights and sum their gradients into it",
            remedy=_remedy(first, born.class_, handed, picked),
            where=Where(file=line.file, line=line.line, module=first, step=0),
            evidence=(Evidence(name="shared", value=listed([f"{a} = {b}" for a, b in trained])),),
            confidence=0.93,
        )


def _remedy(path: str, class_: str, handed: list[str], picked: Mapping[str, str]) -> str:
    if path in handed:
        return "copy it for each position: [copy.deepcopy(layer) for _ in range(n)]"
    if path in picked:
        build = f"lambda: {class_}(...)"
        return f"let {picked[path]} hold what builds a module ({build}), and call it for each position"
    return f"build a new one for each position: [{class_}(...) for _ in range(n)] instead of [...] * n"


def _picked(run: Run, built: Mapping[str, ModulePart], paths: set[str]) -> dict[str, str]:
    """Those that were read from a dictionary of built modules once for each position, and the dictionary's name."""
    found = {}
    for path in paths:
        module, container = built[path], built.get(_parent(path))
        if container is None or module.file != container.file:
            continue
        name = picked_again_and_again(program(run), container.file, container.line, module.line)
        if name is not None and not _on_purpose(f"{path} {name}"):
            found[path] = name
    return found


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
