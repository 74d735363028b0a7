"""Parts that a statement picks from plain tensors, `images[chosen]`: computed once, they are variables like others.

Whoever keeps the data in memory and draws batches by index has no variable for a batch.
"""

from __future__ import annotations

import ast
import copy

import torch

_SIMPLE = (ast.Subscript, ast.Name, ast.Slice, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Constant, ast.Tuple, ast.Load)


def picked(statements: list[ast.stmt], variables: dict[str, object], made: set[str]) -> list[ast.stmt]:
    """The statements with a variable in place of each such part; `made` are names that they assign themselves."""
    taking = _Picking(variables, made)
    return [taking.visit(copy.deepcopy(statement)) for statement in statements]


class _Picking(ast.NodeTransformer):
    def __init__(self, variables: dict[str, object], made: set[str]) -> None:
        self.variables, self.made = variables, made

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and self._is_plain(node):
            expression = ast.fix_missing_locations(ast.Expression(copy.deepcopy(node)))
            try:
                value = eval(compile(expression, "<picked>", "eval"), {"__builtins__": {}}, dict(self.variables))
            except (IndexError, TypeError, ValueError, RuntimeError):
                value = None
            if type(value) is torch.Tensor and value.dim() > 0:
                name = ast.unparse(node)
                self.variables[name] = value.clone()  # no view of what other statements use, too
                return ast.copy_location(ast.Name(name, ast.Load()), node)
        return self.generic_visit(node)

    def _is_plain(self, node: ast.Subscript) -> bool:
        """Whether nothing but torch's own picking and arithmetic of numbers is needed, from a tensor on."""
        base: ast.AST = node
        while isinstance(base, ast.Subscript):
            base = base.value
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        values = [self.variables.get(name) for name in names]
        return (
            all(isinstance(inner, _SIMPLE) for inner in ast.walk(node))
            and isinstance(base, ast.Name)
            and type(self.variables.get(base.id)) is torch.Tensor
            and not names & self.made
            and all(map(_is_plain_value, values))
        )


def _is_plain_value(value: object) -> bool:
    """Tensors of a class of its own may run code of the user's when they pick."""
    if isinstance(value, torch.Tensor):
        return type(value) is torch.Tensor and not value.requires_grad
    return type(value) is int
