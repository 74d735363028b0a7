"""One term of the loss left out, or with its sign turned round: `loss_term=1:0`, `loss_term=1:-1`, counted from 0."""

from __future__ import annotations

from paramedic.interventions.surroundings import Surroundings
from paramedic.interventions.terms import Terms


def install(surroundings: Surroundings, argument: str) -> None:
    number, _, factor = argument.partition(":")
    terms = Terms(surroundings.replace, {int(number): float(factor)})

    def stepped() -> None:
        surroundings.applied, surroundings.reason = terms.weighed, terms.reason

    surroundings.around_steps(lambda optimizer: stepped(), lambda optimizer: None)
    surroundings.on_finish.append(lambda: surroundings.noted.update(terms.noted()))
