"""PM201, PM204: activations between the layers that pass gradients on. A judgement: the run decides."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Source
from paramedic.findings import Finding

SATURATING = {"Sigmoid": "ReLU", "Tanh": "ReLU", "sigmoid": "relu", "tanh": "relu"}


@remedy("PM201", "PM204", safety="unsafe")
def rectify(finding: Finding, source: Source) -> Iterator[Edit]:
    """Sigmoid and tanh become ReLU: on the line, or everywhere in the file where there is but one kind of them."""
    statement = source.statement_at(finding.where.line)
    for place in (statement, source.module):
        found = [
            node
            for node in (source.all(cst.Attribute, place) if place is not None else [])
            if node.attr.value in SATURATING and source.dotted(node.value) in ("nn", "torch.nn", "torch", "F")
        ]
        kinds = {node.attr.value for node in found}
        if len(kinds) == 1:
            splices = [source.replace(node.attr, SATURATING[node.attr.value]) for node in found]
            yield source.edit(f"{SATURATING[kinds.pop()]} between the layers", *splices)
