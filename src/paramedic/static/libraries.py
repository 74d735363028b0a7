"""Calls of libraries that hand their arguments on: which part of which argument a part of the result comes from."""

from __future__ import annotations

import ast

from paramedic.static.definitions import Path
from paramedic.static.program import called

_SAME = (  # what goes in comes out, perhaps less or in another order
    "iter", "next", "list", "tuple", "sorted", "reversed", "tqdm", "trange", "islice", "cycle", "Subset",
    "ConcatDataset", "deepcopy", "copy", "prepare", "shuffle", "permutation",
)  # fmt: skip


def passed_on(call: ast.Call, path: Path) -> list[tuple[ast.expr, Path]] | None:
    """The arguments that this part of the result comes from; None for calls that are not in the list."""
    name, args = called(call), call.args
    if name == "DataLoader":
        collate = [keyword.value for keyword in call.keywords if keyword.arg == "collate_fn"]
        return [(argument, path) for argument in [*collate, *_named(call, 0, "dataset")]]
    if name == "zip" and path and isinstance(path[0], int):
        return [(args[path[0]], path[1:])] if path[0] < len(args) else []
    if name == "enumerate" and path:
        return [(args[0], path[1:])] if path[0] == 1 and args else []
    if name in ("TensorDataset", "StackDataset") and path and isinstance(path[0], int):
        if len(args) == 1 and isinstance(args[0], ast.Starred):  # TensorDataset(*made())
            return [(args[0].value, path)]
        return [(args[path[0]], path[1:])] if path[0] < len(args) else []
    if name == "random_split" and args:
        return [(args[0], path[1:])]
    if name == "train_test_split" and path and isinstance(path[0], int):
        return [(args[path[0] // 2], path[1:])] if path[0] // 2 < len(args) else []
    if name in _SAME and args:
        return [(args[0], path)]
    if name == "items" and isinstance(call.func, ast.Attribute):
        return [(call.func.value, path[1:])]
    if name == "map" and len(args) > 1:
        return [(args[1], path)]
    return None


def _named(call: ast.Call, position: int, keyword: str) -> list[ast.expr]:
    """An argument, by its place or by its name."""
    given = [argument.value for argument in call.keywords if argument.arg == keyword]
    return given or call.args[position : position + 1]
