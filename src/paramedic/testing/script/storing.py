"""Write what a test needs of a script's first step to a small file, and make sure that the step can be repeated."""

from __future__ import annotations

import ast
import types
from pathlib import Path
from typing import Any

import torch
from torch import nn

from paramedic.errors import ParamedicError
from paramedic.testing.restore import restored
from paramedic.testing.script.loops import at_full_rate, call_at, called_path
from paramedic.testing.script.rebuilding import Origin, Source
from paramedic.testing.script.recipes import PLAIN, optimizer_recipe, recipe
from paramedic.testing.script.running import FirstStep, Scope
from paramedic.testing.script.slicing import scope_body, stores
from paramedic.testing.script.training import Training, load_training

LARGEST_STATE = 25_000_000  # bytes; larger models start from a seed instead of the weights of the run


def store_training(
    script: Path, argv: list[str], step: FirstStep, fixture: Path
) -> tuple[Training, tuple[int, int] | None]:
    """Write the fixture, and read it again to be sure: the loss must be that of the script's first step.

    Returned are the training and the lines of the script that compute the loss, where it does that itself.
    """
    if step.loop is not None:
        contents, lines = _of_a_library(script, argv, step), None
    else:
        contents, lines = _of_its_own(script, argv, step)
    fixture.parent.mkdir(parents=True, exist_ok=True)
    torch.save({**contents, **_common(argv, step)}, fixture)
    try:
        training = load_training(script, fixture)
        _verify(training, step, torch.load(fixture, weights_only=True))
    except ParamedicError:
        fixture.unlink()
        raise
    except Exception as error:
        fixture.unlink()
        raise _untestable(script, f"its step cannot be repeated ({type(error).__name__}: {error})") from error
    return training, lines


def _common(argv: list[str], step: FirstStep) -> dict[str, object]:
    size = sum(t.numel() * t.element_size() for t in step.state.values())
    return {
        "argv": argv,
        "args": [_plain(value) for value in step.args] if _is_plain(list(step.args)) else [],
        "kwargs": {name: _plain(value) for name, value in step.kwargs.items() if _is_plain(value)},
        "state": step.state if size <= LARGEST_STATE else None,
        "modes": step.modes,
        "random": step.random[2],
    }


def _of_its_own(script: Path, argv: list[str], step: FirstStep) -> tuple[dict[str, object], tuple[int, int]]:
    """Of a script with a loop of its own: the statements between the model and backward()."""
    source, scope = _source(script, argv, step), _step_scope(script, step)
    values = _flat(scope.values)
    modules = {name.partition(".")[0] for name, value in values.items() if isinstance(value, nn.Module)}
    assert step.backward is not None
    number = source.number_of(scope.function, step.backward.line)
    _, _, free, lines = source.step(scope.function, number, modules)
    used = _used(source, free, values)
    model = next((path for path in used if values[path] is step.model), None)
    if model is None:
        raise _untestable(script, "the loss is not computed from a model in a variable of its own")
    origins, recipes = _makers(source, step, {path: values[path] for path in used if not _is_plain(values[path])})
    optimizer = _optimizer(source, step, values, origins, recipes)
    return {
        "until": source.until,
        "function": scope.function,
        "number": number,
        "modules": sorted(modules),
        "origins": {name: list(origin) for name, origin in origins.items()},
        "recipes": recipes,
        "self": type(scope.values["self"]).__name__ if "self" in free else None,
        "attributes": {p[5:]: _plain(values[p]) for p in used if p.startswith("self.") and _is_plain(values[p])},
        "model": model,
        "optimizer": optimizer,
        "batch": {path: _plain(values[path]) for path in used if "." not in path and _is_plain(values[path])},
    }, (lines[0], lines[1])


def _source(script: Path, argv: list[str], step: FirstStep) -> Source:
    """The script up to the calls that led to its first step: what stands behind them comes later than the test."""
    source = Source(script.resolve(), argv)
    for scope in step.scopes:
        inner = step.backward if step.loop is None else None
        is_step = inner is not None and (scope.file, scope.function) == (inner.file, inner.function)
        words = call_at(source.tree, scope.line) if scope.file == str(source.path) and not is_step else None
        if words is not None:
            source.until[scope.function or ""] = words
    return source


def _of_a_library(script: Path, argv: list[str], step: FirstStep) -> dict[str, Any]:
    """Of a script whose loop is inside of a library: the model and the batch."""
    loop, source = step.loop, _source(script, argv, step)
    assert loop is not None
    holder = loop.owner if loop.kind == "lightning" else step.model
    if not _is_plain(loop.batch):
        raise _untestable(script, f"its batch, a {type(loop.batch).__name__}, holds more than tensors and numbers")
    origins, recipes = _makers(source, step, {"model": holder})
    recipe_of_optimizer = (
        optimizer_recipe(at_full_rate(step.optimizer), holder) if loop.kind == "transformers" else None
    )
    return {
        "loop": loop.kind,
        "until": source.until,
        "origins": {name: list(origin) for name, origin in origins.items()},
        "recipes": recipes,
        "path": called_path(holder, step.model),
        "loss_class": loop.loss_class if loop.kind == "transformers" else None,
        "optimizer": recipe_of_optimizer,
        "batch": {"batch": _plain(loop.batch)},
    }


def _flat(values: dict[str, object]) -> dict[str, object]:
    """All names of a scope, and the attributes of `self` as `self.name`."""
    own = values.get("self")
    if own is None or isinstance(own, nn.Module):
        return values
    attributes = {f"self.{name}": value for name, value in vars(own).items()} if hasattr(own, "__dict__") else {}
    return {**values, **attributes}


def _used(source: Source, free: set[str], values: dict[str, object]) -> list[str]:
    """The paths that the step needs and that are not code. Of `self`, all attributes that some method reads."""
    paths = [name for name in sorted(free & set(values)) if name != "self" and not _is_code(values[name])]
    if "self" in free:
        read = {
            f"self.{node.attr}"
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        }
        paths += [path for path in sorted(read & set(values)) if _is_plain(values[path]) or _is_module(values[path])]
    return paths


def _makers(source: Source, step: FirstStep, objects: dict[str, object]) -> tuple[dict[str, Origin], dict[str, object]]:
    """Objects by the statement that makes them, or by their recipe."""
    origins: dict[str, Origin] = {}
    recipes: dict[str, object] = {}
    for path, value in objects.items():
        origin = _origin(source, step, value) if "." not in path else None
        made = recipe(value) if origin is None else None
        if origin is not None:
            origins[path] = origin
        elif made is not None:
            recipes[path] = made
        elif "." not in path:
            raise _untestable(source.path, f"it cannot be told how {path}, a {type(value).__name__}, is made")
    return origins, recipes


def _optimizer(
    source: Source, step: FirstStep, values: dict[str, Any], origins: dict[str, Origin], recipes: dict[str, Any]
) -> str | None:
    origin = _origin(source, step, step.optimizer)
    if origin is not None and origins and all(place == origin[0] for place, _ in origins.values()):
        name = origin[1]
        origins[name] = origin
        return name
    made = optimizer_recipe(step.optimizer, step.model)
    if made is not None:
        recipes["optimizer of the run"] = made
        return "optimizer of the run"
    return None


def _verify(training: Training, step: FirstStep, stored: dict[str, object]) -> None:
    with restored(training.model, training.optimizer):
        torch.set_rng_state(stored["random"])
        value = float(training.loss(training.model, training.batch).detach())
    expected = step.loss * (step.loop.scale if step.loop is not None else 1)
    if stored["state"] is not None and abs(value - expected) > 1e-3 * max(abs(expected), 1e-3) and expected == expected:
        raise ParamedicError(
            f"the step taken from the source gives a loss of {value:.6g}, the script itself {expected:.6g}",
            expected="the same loss",
            fix="write the test by hand with paramedic.testing; something between model and loss was missed",
        )


def _step_scope(script: Path, step: FirstStep) -> Scope:
    """The scope that both calls the model and calls backward()."""
    inner, file = step.backward, str(script.resolve())
    for scope in step.scopes:
        if inner is not None and scope.file == inner.file == file and scope.function == inner.function:
            return scope
    raise _untestable(script, "backward() is not called in the function of the script that calls the model")


def _origin(source: Source, step: FirstStep, value: object) -> Origin | None:
    """Where an object comes from: the outermost place that binds it by a statement of its own."""
    for place in reversed(step.scopes):
        if place.file != str(source.path):
            continue
        bound = {found for statement in scope_body(source.tree, place.function) for found in stores(statement)}
        if place.function is None:
            bound -= {name for s in source.tree.body if isinstance(s, ast.If) for name in stores(s)}
        for own, other in place.values.items():
            if other is value and own in bound:
                return place.function, own
    return None


def _is_plain(value: Any) -> bool:
    if isinstance(value, nn.Parameter) or (isinstance(value, torch.Tensor) and value.requires_grad):
        return False
    if isinstance(value, dict) or (hasattr(type(value), "items") and hasattr(type(value), "keys")):
        return all(isinstance(key, str | int) and _is_plain(item) for key, item in value.items())
    if type(value) in (list, tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, PLAIN)


def _plain(value: Any) -> Any:
    """As it can be stored: mappings of other libraries become dicts, tensors come to the CPU."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if isinstance(value, dict) or (hasattr(type(value), "items") and hasattr(type(value), "keys")):
        return {key: _plain(item) for key, item in value.items()}
    return type(value)(_plain(item) for item in value) if type(value) in (list, tuple) else value


def _is_module(value: object) -> bool:
    return isinstance(value, nn.Module)


def _is_code(value: object) -> bool:
    """Functions, classes and imported modules come with the definitions."""
    return isinstance(
        value, types.FunctionType | types.BuiltinFunctionType | types.ModuleType | types.MethodType | type
    )


def _untestable(script: Path, why: str) -> ParamedicError:
    return ParamedicError(
        f"no test can be written for {script.name}: {why}",
        expected="model(…), a loss and loss.backward() in one function, or a loop of Lightning or transformers",
        fix="write it by hand: paramedic.testing.assert_learns(model, loss, batch)",
    )
