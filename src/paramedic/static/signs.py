"""What an expression may do to numbers, as far as its text shows: enough to choose among statements."""

from __future__ import annotations

import ast
from collections.abc import Collection

from paramedic.static.program import called

_UNDEFINED = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "divide", "true_divide", "acos", "asin",
              "logit", "pct_change")  # fmt: skip
_WHOLE = ("int", "long", "short", "byte", "uint8", "int8", "int16", "int32", "int64", "floor", "trunc", "floor_divide")
_BLANK = ("zeros", "zeros_like", "ones", "ones_like", "empty", "empty_like", "full", "full_like")
_MIRRORS = ("flip", "fliplr", "flipud", "hflip", "vflip", "rot90", "transpose", "mirror")


def can_break(node: ast.AST) -> bool:
    """Whether it makes NaN or infinity of good numbers: a division by what may be zero, a logarithm, a root."""
    return any(
        (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div) and not _is_safe(inner.right))
        or (isinstance(inner, ast.Call) and called(inner) in _UNDEFINED)
        for inner in ast.walk(node)
    )


def makes_alike(node: ast.AST) -> bool:
    """Whether it can give one and the same number whatever goes in: whole numbers of fractions, blanks."""
    return any(
        (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.FloorDiv))
        or (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult) and "0" in _texts(inner))
        for inner in ast.walk(node)
    ) or names_any(node, (*_WHOLE, *_BLANK))


def computes(node: ast.AST) -> bool:
    """Whether it calculates at all, and does not only hand on."""
    return any(isinstance(inner, ast.BinOp) for inner in ast.walk(node))


def divides(node: ast.AST) -> bool:
    """Whether it scales by a division, or by torchvision's conversion, which divides by 255."""
    divided = any(isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div) for inner in ast.walk(node))
    return divided or names_any(node, ("div", "div_", "divide", "true_divide", "ToTensor", "to_tensor"))


def subtracts(node: ast.AST) -> bool:
    """`width - x`: coordinates mirrored one by one."""
    return any(isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub) for inner in ast.walk(node))


def reshapes(node: ast.AST) -> bool:
    """`x.reshape(n, c, h, w)`, without a permute: four axes are made, and none is moved."""
    moved = names_any(node, ("permute", "transpose", "moveaxis", "movedim", "swapaxes", "rearrange"))
    calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call) and called(inner) in ("reshape", "view")]
    return not moved and any(len(getattr(c.args[-1], "elts", c.args)) >= 4 for c in calls if c.args)


def draws_an_order(node: ast.AST) -> bool:
    """`y[torch.randperm(len(y))]`: an order that nobody else can follow."""
    return names_any(node, ("randperm", "permutation", "permuted", "shuffle", "sample"))


def lists_files(node: ast.AST) -> bool:
    """`sorted(os.listdir(folder))`, `folder.glob("*.png")`: names, in an order of their own."""
    return names_any(node, ("listdir", "glob", "iglob", "rglob", "iterdir", "scandir"))


def parts_at_random(node: ast.AST) -> bool:
    """`random_split(data, ...)`, `train_test_split(x, y)`, or an order drawn for a split: `rng.permutation(n)`."""
    return draws_an_order(node) or names_any(node, ("random_split", "train_test_split", "KFold", "ShuffleSplit"))


def draws_again(node: ast.AST) -> bool:
    """Rows drawn with replacement: `resample(rows)`, `rng.choice(rows, replace=True)`, `SMOTE().fit_resample(x, y)`."""
    for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
        replaced = {word.arg: ast.unparse(word.value) for word in call.keywords}.get("replace")
        if called(call) in ("fit_resample", "resample") and replaced != "False":
            return True
        if called(call) in ("choice", "sample") and replaced == "True":
            return True
    return False


def repeats_a_value(node: ast.AST) -> bool:
    """`[view] * 2`, `(view, view)`: one object in several places."""
    return any(_multiplied(inner) or _twice(inner) for inner in ast.walk(node))


def seeds(node: ast.AST) -> bool:
    """`np.random.default_rng((seed, i))`, `torch.Generator().manual_seed(i)`: random numbers from a given seed."""
    calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call) and (inner.args or inner.keywords)]
    return any(called(call) in ("default_rng", "RandomState", "Random", "manual_seed") for call in calls)


def _multiplied(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    return any(isinstance(side, ast.List | ast.Tuple) for side in (node.left, node.right))


def _twice(node: ast.AST) -> bool:
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    names = [ast.unparse(part) for part in parts if isinstance(part, ast.Name | ast.Attribute)]
    return len(set(names)) < len(names)


def counts(node: ast.AST) -> bool:
    """`torch.arange(ways).repeat(queries)`: labels by their place alone."""
    return names_any(node, ("arange", "range")) and names_any(node, ("repeat", "tile", "repeat_interleave", "expand"))


def mirrors(node: ast.AST, classes: Collection[str] = ()) -> bool:
    """Whether it turns a picture around. To build an object of one of these classes turns nothing yet."""
    backwards = any(isinstance(inner, ast.Slice) and _text(inner.step) == "-1" for inner in ast.walk(node))
    names = [name_of(inner) for inner in ast.walk(node)]
    return backwards or any(word in name.lower() for name in names if name not in classes for word in _MIRRORS)


def names_any(node: ast.AST, names: Collection[str]) -> bool:
    """Whether an expression calls or names one of these."""
    return any(name_of(inner) in names for inner in ast.walk(node))


def name_of(node: ast.AST) -> str:
    """`eval` of both `eval` and `model.eval`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_safe(divisor: ast.expr) -> bool:
    """A number, a name written as a constant, something with a number added to it, or kept above a limit."""
    if isinstance(divisor, ast.Name | ast.Attribute):
        return name_of(divisor).isupper()
    if isinstance(divisor, ast.BinOp) and isinstance(divisor.op, ast.Add):
        return True
    kept = isinstance(divisor, ast.Call) and called(divisor) in ("clamp", "clamp_min", "clip", "max", "maximum", "len")
    return kept or isinstance(divisor, ast.Constant)


def _texts(node: ast.BinOp) -> list[str]:
    return [_text(node.left), _text(node.right)]


def _text(node: ast.AST | None) -> str:
    return ast.unparse(node) if node is not None else ""
