"""PM401."""

from collections.abc import Iterator

from paramedic.record.facts import Hidden, HiddenMoved, Model, ModuleCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import many


@rule("PM401", "unregistered-module", severity="error", coverage=[Model], causes=["PM402", "PM403", "PM412", "PM601"])
def check(run: Run) -> Iterator[Finding]:
    """Modules or parameters that the model uses are not registered.

    A plain Python list, tuple or dict hides modules from `nn.Module`: they are not in `parameters()`, not in
    `state_dict()`, and not moved by `.to()`. The same happens to `self.w = nn.Parameter(...).to(device)`: what `.to()`
    returns is not a parameter. A layer built inside `forward` is new, and untrained, in every call.

    ## Why it hurts
    The hidden layers stay at their random initialisation while the rest is trained around them.

    ## What to try first
    `nn.ModuleList([...])`, `nn.ModuleDict({...})` or `nn.ParameterList([...])`; build layers in `__init__`.

    ## When this is wrong
    A frozen network that is hidden on purpose (`self.teacher = [teacher]`) is not reported, nor are hidden modules
    whose parameters were given to an optimizer. Tensors that the program updates itself (an adversarial perturbation
    that follows its own gradient) need no optimizer; layers built in the first call and kept are not new ones.
    """
    by_hand = {event.module for event in run.facts(HiddenMoved)}
    for event in run.facts(Hidden):
        if event.module in by_hand:
            continue
        if not event.trainable or event.in_optimizer >= event.parameters or not event.with_gradient:
            continue
        if event.is_module:
            what = f"{event.module} hides {many(event.members, 'module')} ({event.class_}) from the model: "
            what += f"their {many(event.parameters, 'tensor')} get gradients but are in no optimizer"
        elif event.derived:
            what = (
                f"{event.module} is not a parameter but a tensor computed from one: the nn.Parameter behind it gets a "
            )
            what += "gradient, but neither the model nor an optimizer has it"
        else:
            what = f"{event.module} is a plain tensor: it gets a gradient, but is in no optimizer"
        yield Finding(
            what=what,
            why=".float(), .to(...) and arithmetic return a new tensor, so the attribute is not registered and never "
            "trained or saved"
            if event.derived
            else "modules in a plain list or dict are not in parameters(), so it is never trained or saved",
            remedy="cast or move it first, and wrap the result: nn.Parameter(tensor.float())"
            if event.derived
            else "wrap it: nn.ModuleList([...]), nn.ModuleDict({...}), or nn.Parameter(...) for a tensor",
            where=event.where,
            evidence=(
                Evidence(name="hidden_parameters", value=event.numel, limit="0"),
                Evidence(name="in_optimizer", value=event.in_optimizer),
            ),
            confidence=0.98,
        )
    for call in run.facts(ModuleCall):
        built = call.built_in
        if built and call.trainable and call.training and not call.dropout:
            yield Finding(
                what=f"a {call.class_} with parameters is built inside the forward pass of {built}",
                why="it is new and random in every call, so it can never learn",
                remedy="build it once in __init__ and call it in forward",
                where=call.where,
                evidence=(Evidence(name="trainable_tensors", value=call.trainable, limit="0"),),
                confidence=0.96,
            )
