"""PM504: each loss gets what it is defined for: logits, log-probabilities, probabilities."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

NLL = {"NLLLoss": "CrossEntropyLoss", "nll_loss": "cross_entropy"}
LOG = {"softmax": "log_softmax", "Softmax": "LogSoftmax"}
PLAIN = {"log_softmax": "softmax", "LogSoftmax": "Softmax"}


@remedy("PM504", compare="answers")
def log_probabilities(finding: Finding, source: Source) -> Iterator[Edit]:
    """softmax becomes log_softmax where the loss wants logarithms: on the line, or where its argument is made."""
    if not _about(finding, "nll", "kl"):
        return
    given = _given(source, finding.where.line, 0)
    for call in [call for node in given for call in source.calls(tuple(LOG), node)] or source.calls_at(
        finding.where.line, tuple(LOG)
    )[:1]:
        yield _renamed(source, call, LOG[source.called(call)])
    if not given or not any(source.calls(("log_softmax", "LogSoftmax"), node) for node in given):
        for call in source.calls(tuple(LOG)):
            statement = source.statement_of(call)
            if isinstance(statement, cst.SimpleStatementLine) and source.all(cst.Return, statement):
                yield _renamed(source, call, LOG[source.called(call)])


@remedy("PM504", compare="answers")
def loss_of_logits(finding: Finding, source: Source) -> Iterator[Edit]:
    """NLL of logits is cross-entropy."""
    if _about(finding, "nll"):
        for call in source.calls(tuple(NLL)):
            yield _renamed(source, call, NLL[source.called(call)])


@remedy("PM504", compare="answers")
def plain_target(finding: Finding, source: Source) -> Iterator[Edit]:
    """The second argument of a KL divergence is a probability, unless log_target says otherwise."""
    if not _about(finding, "kl"):
        return
    for node in _given(source, finding.where.line, 1):
        for call in source.calls(tuple(PLAIN), node):
            yield _renamed(source, call, PLAIN[source.called(call)])
    for call in [*source.calls_at(finding.where.line, "kl_div"), *source.calls("KLDivLoss")]:
        if source.argument(call, None, "log_target") is None:
            yield source.edit("say that the target is a logarithm", source.add_argument(call, "log_target=True"))


@remedy("PM504", compare="answers")
def scores_of_ctc(finding: Finding, source: Source) -> Iterator[Edit]:
    """CTC sums log-probabilities over the last axis."""
    if _about(finding, "ctc"):
        for value in _arguments(source, finding.where.line, 0):
            new = f"{source.operand(value)}.log_softmax(-1)"
            yield source.edit("give the loss log-probabilities", source.replace(value, new))


@remedy("PM504", compare="answers")
def rates_of_poisson(finding: Finding, source: Source) -> Iterator[Edit]:
    """The loss is told that it gets rates, not their logarithms."""
    for call in source.calls(("PoissonNLLLoss", "poisson_nll_loss")):
        if _about(finding, "poisson") and source.argument(call, None, "log_input") is None:
            yield source.edit("tell the loss that it gets rates", source.add_argument(call, "log_input=False"))


@remedy("PM504", compare="answers")
def prediction_first(finding: Finding, source: Source) -> Iterator[Edit]:
    """Prediction and target change places."""
    if "swap" not in finding.remedy:
        return
    for call in _losses(source, finding.where.line):
        first, second = (argument.value for argument in call.args[:2])
        swapped = source.replace(first, source.code(second)), source.replace(second, source.code(first))
        yield source.edit("give the prediction first, then the target", *swapped)


def _about(finding: Finding, *losses: str) -> bool:
    said = f"{finding.what} {finding.remedy}".lower()
    return any(loss in said for loss in losses)


def _renamed(source: Source, call: Node, name: str) -> Edit:
    before, dot, old = source.code(call.func).rpartition(".")
    return source.edit(f"{name} in place of {old}", source.replace(call.func, f"{before}{dot}{name}"))


def _losses(source: Source, line: int | None) -> list[Node]:
    statement = source.statement_at(line)
    found = (
        [call for call in source.all(cst.Call, statement) if source.statement_of(call) is statement]
        if statement
        else []
    )
    words = ("loss", "crit", "entropy", "kl", "ctc", "nll", "kd", "bce")
    named = [call for call in found if any(word in source.called(call).lower() for word in words)]
    return [call for call in named if len(call.args) >= 2 and not any(arg.keyword or arg.star for arg in call.args[:2])]


def _arguments(source: Source, line: int | None, place: int) -> list[Node]:
    return [call.args[place].value for call in _losses(source, line)]


def _given(source: Source, line: int | None, place: int) -> list[Node]:
    """The argument, and the statement that made it where it is a name."""
    found: list[Node] = []
    for value in _arguments(source, line, place):
        found.append(value)
        if isinstance(value, cst.Name):
            found += source.assignments(value.value, value)[-1:]
    return found
