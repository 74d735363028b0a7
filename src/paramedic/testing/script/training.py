"""The training of a script as a test needs it: model, loss, batch and optimizer, from its source and a small file."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from paramedic.errors import ParamedicError
from paramedic.testing.case import Step
from paramedic.testing.restore import restored, seed_all
from paramedic.testing.script.rebuilding import Origin, Source
from paramedic.testing.script.running import FirstStep, Scope

LARGEST_STATE = 25_000_000  # bytes; larger models start from a seed instead of the weights of the run
PLAIN = (int, float, str, bool, bytes, type(None), torch.Tensor, torch.device, torch.dtype, torch.Size)


@dataclass(frozen=True, slots=True)
class Training:
    """What a script trains, at its first step."""

    model: nn.Module
    loss: Step
    batch: dict[str, Any]
    optimizer: Any
    inputs: tuple[tuple[Any, ...], dict[str, Any]]  # of the model

    @property
    def arguments(self) -> Any:
        """The model's inputs, as assertions about outputs take them."""
        args, kwargs = self.inputs
        return kwargs if kwargs and not args else args


def load_training(script: str | os.PathLike[str], fixture: str | os.PathLike[str]) -> Training:
    """The model, loss and optimizer as the script's source makes them now; the batch and the weights from the fixture.

    Only the statements that these need are executed: no data is loaded, nothing is trained.
    """
    stored = torch.load(fixture, weights_only=True)
    source = Source(Path(script).resolve(), stored["argv"])
    code, loss, free, _ = source.step(stored["function"], stored["number"], set(stored["origins"]))
    origins: dict[str, Origin] = {name: (place, own) for name, (place, own) in stored["origins"].items()}
    batch = stored["batch"]
    with restored():
        names = source.build(origins, free - set(batch))
    model, optimizer = names[stored["model"]], names.get(stored["optimizer"])
    _equip(model, stored)
    value = compile(ast.Expression(body=loss), str(source.path), "eval")
    name = stored["model"]

    def compute(used: Any, values: dict[str, Any]) -> torch.Tensor:
        space = {**names, **values, name: used}
        exec(code, space)
        return eval(value, space)

    return Training(model, Step(compute), batch, optimizer, (tuple(stored["args"]), stored["kwargs"]))


def store_training(script: Path, argv: list[str], step: FirstStep, fixture: Path) -> tuple[Training, list[int]]:
    """Write the fixture, and read it again to be sure: the loss must be that of the script's first step."""
    scope = _step_scope(script, step)
    source = Source(script.resolve(), argv)
    modules = {name for name, value in scope.values.items() if isinstance(value, nn.Module)}
    number = source.number_of(scope.function, _backward_line(step, scope))
    _, _, free, lines = source.step(scope.function, number, modules)
    model_name = next((name for name in free & modules if scope.values[name] is step.model), None)
    if model_name is None:
        raise _untestable(script, "the loss is not computed from a model in a variable of its own")
    built = {n for n in free & set(scope.values) if not _is_plain(scope.values[n]) and not _is_code(scope.values[n])}
    origins = {name: _origin(source, step, scope, name, scope.values[name]) for name in built}
    optimizer = next(
        ((place, name) for place in step.scopes for name, v in place.values.items() if v is step.optimizer), None
    )
    if optimizer is not None:
        origins[optimizer[1]] = _origin(source, step, scope, optimizer[1], step.optimizer)
    size = sum(t.numel() * t.element_size() for t in step.state.values())
    contents = {
        "argv": argv,
        "function": scope.function,
        "number": number,
        "origins": {name: list(origin) for name, origin in origins.items()},
        "model": model_name,
        "optimizer": optimizer[1] if optimizer else None,
        "batch": {n: _plain(scope.values[n]) for n in sorted(free & set(scope.values)) if _is_plain(scope.values[n])},
        "args": [_plain(value) for value in step.args] if _is_plain(list(step.args)) else [],
        "kwargs": {name: _plain(value) for name, value in step.kwargs.items() if _is_plain(value)},
        "state": step.state if size <= LARGEST_STATE else None,
        "modes": step.modes,
        "random": step.random[2],
        "loss": step.loss,
    }
    fixture.parent.mkdir(parents=True, exist_ok=True)
    torch.save(contents, fixture)
    try:
        training = load_training(script, fixture)
        _verify(training, contents)
    except ParamedicError:
        fixture.unlink()
        raise
    except Exception as error:
        fixture.unlink()
        raise _untestable(script, f"its step cannot be repeated ({type(error).__name__}: {error})") from error
    return training, lines


def _verify(training: Training, stored: dict[str, Any]) -> None:
    with restored(training.model, training.optimizer):
        torch.set_rng_state(stored["random"])
        value = float(training.loss(training.model, training.batch).detach())
    expected = stored["loss"]
    if stored["state"] is not None and abs(value - expected) > 1e-3 * max(abs(expected), 1e-3) and expected == expected:
        raise ParamedicError(
            f"the step taken from the source gives a loss of {value:.6g}, the script itself {expected:.6g}",
            expected="the same loss",
            fix="write the test by hand with paramedic.testing; something between model and loss was missed",
        )


def _equip(model: nn.Module, stored: dict[str, Any]) -> None:
    """The weights and modes of the run. A model that has changed since then starts from its own weights, seeded."""
    state = stored["state"]
    mine = {name: value.shape for name, value in model.state_dict().items()}
    if state is not None and mine == {name: value.shape for name, value in state.items()}:
        model.load_state_dict(state)
    else:
        seed_all(0)
    for name, module in model.named_modules():
        module.training = stored["modes"].get(name, module.training)


def _step_scope(script: Path, step: FirstStep) -> Scope:
    """The scope that both calls the model and calls backward()."""
    if step.backward is None:
        raise _untestable(script, "no backward() was seen")
    file = str(script.resolve())
    inner = step.backward
    for scope in step.scopes:
        if scope.file == inner.file == file and scope.function == inner.function:
            return scope
    raise _untestable(script, "backward() is not called in the function of the script that calls the model")


def _backward_line(step: FirstStep, scope: Scope) -> int:
    assert step.backward is not None
    return step.backward.line


def _origin(source: Source, step: FirstStep, scope: Scope, name: str, value: Any) -> Origin:
    """Where an object comes from: the outermost place that binds it by a statement of its own."""
    from paramedic.testing.script.slicing import scope_body, stores

    for place in reversed(step.scopes):
        if place.file != str(source.path):
            continue
        bound = {found for statement in scope_body(source.tree, place.function) for found in stores(statement)}
        for own, other in place.values.items():
            if other is value and own in bound:
                return place.function, own
    raise _untestable(source.path, f"{name} is not made in {source.path.name} itself")


def _is_plain(value: Any) -> bool:
    if isinstance(value, nn.Parameter) or (isinstance(value, torch.Tensor) and value.requires_grad):
        return False
    if isinstance(value, dict) or hasattr(type(value), "items"):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if type(value) in (list, tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, PLAIN)


def _plain(value: Any) -> Any:
    """As it can be stored: mappings of other libraries become dicts, tensors come to the CPU."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if isinstance(value, dict) or hasattr(type(value), "items"):
        return {key: _plain(item) for key, item in value.items()}
    return type(value)(_plain(item) for item in value) if type(value) in (list, tuple) else value


def _is_code(value: Any) -> bool:
    """Functions, classes and imported modules come with the definitions."""
    import types

    kinds = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, types.MethodType)
    return isinstance(value, kinds) and not isinstance(value, nn.Module)


def _untestable(script: Path, why: str) -> ParamedicError:
    return ParamedicError(
        f"no test can be written for {script.name}: {why}",
        expected="a script with a loop of its own: model(…), a loss, loss.backward() in one function",
        fix="write it by hand: paramedic.testing.assert_learns(model, loss, batch)",
    )


