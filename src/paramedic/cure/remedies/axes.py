"""PM413, PM414, PM415, PM417: the right axis, the right side of a mask."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.origins import origins
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

# Where each one takes the sequence that is predicted, and the mask of its later positions.
TRANSFORMERS = {
    "Transformer": (1, "tgt_mask"), "TransformerDecoder": (0, "tgt_mask"), "TransformerEncoder": (0, "mask"),
    "TransformerDecoderLayer": (0, "tgt_mask"), "TransformerEncoderLayer": (0, "src_mask"),
}  # fmt: skip
SOFTMAX = ("softmax", "log_softmax", "Softmax", "LogSoftmax")
MASKS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask", "attn_mask")


@remedy("PM414", compare="metrics")
def softmax_axis(finding: Finding, source: Source) -> Iterator[Edit]:
    """The axis that the finding names; else the last one."""
    named = re.search(r"dim=(-?\d+)", finding.remedy)
    for call in source.calls_at(finding.where.line, SOFTMAX):
        place = 0 if source.is_method(call) or source.called(call)[0].isupper() else 1
        given = source.argument(call, place, "dim")
        if given is not None:
            new = named[1] if named else "-1"
            yield source.edit(f"softmax over dim={new}", source.replace(given, new))
        else:
            yield source.edit("softmax over the last axis", source.add_argument(call, "dim=-1"))


@remedy("PM413", compare="metrics")
def batch_first(finding: Finding, source: Source) -> Iterator[Edit]:
    """`batch_first=True` where the layer is built."""
    statement = source.statement_at(finding.where.line)
    for call in source.all(cst.Call, statement) if "batch_first" in finding.remedy and statement is not None else []:
        if not source.called(call)[:1].isupper() or source.argument(call, None, "batch_first") is not None:
            continue
        stacked = [origin for given in call.args for origin in origins(source, given.value)]
        layers = [origin for origin in stacked if isinstance(origin.node, cst.Call)] if _is_stack(source, call) else []
        for home, layer in [(origin.source, origin.node) for origin in layers] or [(source, call)]:
            if home.argument(layer, None, "batch_first") is None:
                yield home.edit("take the first axis for the batch", home.add_argument(layer, "batch_first=True"))
    for call in source.calls_at(finding.where.line, "normalize"):
        given = source.argument(call, None, "dim")
        if given is not None:
            yield source.edit("normalise over the features", source.replace(given, "-1"))


def _is_stack(source: Source, call: Node) -> bool:
    """It is given a layer that was built before, and leaves the order of the axes to that."""
    return source.called(call) in ("TransformerEncoder", "TransformerDecoder")


@remedy("PM413", compare="metrics")
def positions_along_the_sequence(finding: Finding, source: Source) -> Iterator[Edit]:
    """Positions are counted along the second axis, and lie along it."""
    if "count positions" not in finding.remedy:
        return
    statement = source.statement_at(finding.where.line)
    for node in source.all(cst.Subscript, statement) if statement is not None else []:
        upper = getattr(node.slice[0].slice, "upper", None)
        if len(node.slice) != 1 or upper is None:
            continue
        length = re.sub(r"size\(0\)|shape\[0\]", "size(1)", source.code(upper))
        length = re.sub(r"^len\((.*)\)$", r"\1.size(1)", length)
        if length != source.code(upper):
            text = f"{source.code(node.value)}[:{length}]"
            yield source.edit("count positions along the sequence", source.replace(node, f"{text}.transpose(0, 1)"))
            yield source.edit("count positions along the sequence", source.replace(node, text))


@remedy("PM415", compare="metrics")
def mask_the_padding(finding: Finding, source: Source) -> Iterator[Edit]:
    """A mask that leaves out what it should keep is inverted; one of numbers is made one of booleans."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    for call in source.all(cst.Call, statement):
        for given in call.args:
            if given.keyword and given.keyword.value in MASKS:
                if "bool" in finding.remedy:
                    new = f"{source.operand(given.value)}.bool()"
                    yield source.edit("pass a mask of booleans", source.replace(given.value, new))
                elif "invert" in finding.remedy:
                    yield _inverted(source, given.value)
    for call in source.calls_at(finding.where.line, "ones_like"):
        padding = re.search(r"padding \(id (-?\d+)\)", finding.what)
        if padding and call.args:
            new = f"({source.code(call.args[0].value)} != {padding[1]}).long()"
            yield source.edit("make the mask from the ids", source.replace(call, new))
    here = source.calls_at(finding.where.line, "masked_fill")
    for call in here or source.calls("masked_fill", source.scope(statement)):
        if "invert" in finding.remedy and call.args:
            yield _inverted(source, call.args[0].value)
    for node in source.all(cst.Comparison, statement) if "invert" in finding.remedy else []:
        operator = node.comparisons[0].operator
        if isinstance(operator, cst.Equal | cst.NotEqual) and len(node.comparisons) == 1:
            left, right = source.code(node.left), source.code(node.comparisons[0].comparator)
            new = f"{left} {'!=' if isinstance(operator, cst.Equal) else '=='} {right}"
            yield source.edit("mask what is padding", source.replace(node, new))
    for node in source.all(cst.Name, statement) if "opposite" in finding.remedy else []:
        if "mask" in node.value and isinstance(source.parent(node), cst.Attribute):
            yield source.edit("multiply by the opposite of the mask", source.replace(node, f"(~{node.value})"))


@remedy("PM415", compare="metrics")
def mask_along_the_keys(finding: Finding, source: Source) -> Iterator[Edit]:
    """`mask[:, None, None, :]` in place of `mask[:, None, :, None]`."""
    if "along the keys" not in finding.remedy:
        return
    for outer in source.calls("unsqueeze"):
        inner = source.owner(outer)
        if isinstance(inner, cst.Call) and source.called(inner) == "unsqueeze" and outer.args and inner.args:
            axes = [source.code(call.args[0].value) for call in (inner, outer)]
            if axes in (["1", "3"], ["1", "-1"]):
                yield source.edit("lay the mask along the keys", source.replace(outer.args[0].value, "2"))
    for node in source.all(cst.Subscript):
        if source.code(node).replace(" ", "").endswith("[:,None,:,None]"):
            new = f"{source.code(node.value)}[:, None, None, :]"
            yield source.edit("lay the mask along the keys", source.replace(node, new))


@remedy("PM415", compare="metrics")
def pass_the_mask(finding: Finding, source: Source) -> Iterator[Edit]:
    """A model that can be told what is padding is told: by the batch, or by the ids themselves."""
    wanted = re.search(r"pass (\w+)=.*ids != (-?\d+)", finding.remedy)
    splices: dict[str, list[Splice]] = {"batch": [], "ids": []}
    for call in source.all(cst.Call) if wanted else []:
        assert wanted is not None
        ids = source.argument(call, None, "input_ids")
        if ids is None or source.argument(call, None, wanted[1]) is not None:
            continue
        if isinstance(ids, cst.Subscript):
            text = source.code(ids).replace("input_ids", wanted[1])
            splices["batch"].append(source.add_argument(call, f"{wanted[1]}={text}"))
        text = f"({source.code(ids)} != {wanted[2]}).long()"
        splices["ids"].append(source.add_argument(call, f"{wanted[1]}={text}"))
    for way in splices.values():
        if way:
            yield source.edit("tell the model what is padding", *way)


@remedy("PM415", compare="metrics")
def by_name(finding: Finding, source: Source) -> Iterator[Edit]:
    """Arguments that stand in each other's place are passed by their names."""
    if "by name" not in finding.remedy:
        return
    at_fault = source.calls_at(finding.where.line, tuple(source.called(c) for c in source.all(cst.Call)))
    names = {source.dotted(call.func) for call in at_fault if len(call.args) >= 3}
    splices = []
    for call in source.all(cst.Call):
        places = [arg for arg in call.args if not arg.keyword and not arg.star]
        if source.dotted(call.func) in names and len(places) == 3:
            second, third = (arg.value for arg in places[1:])
            splices.append(source.replace(second, f"attention_mask={source.code(third)}"))
            splices.append(source.replace(third, f"token_type_ids={source.code(second)}"))
    if splices:
        yield source.edit("pass mask and segments by name", *splices)


@remedy("PM417", compare="nothing")
def hide_the_future(finding: Finding, source: Source) -> Iterator[Edit]:
    """A causal mask that hides all later positions."""
    for call in source.calls_at(finding.where.line, "scaled_dot_product_attention"):
        given = source.argument(call, 3, "attn_mask")
        if given is None and source.argument(call, None, "is_causal") is None:
            yield source.edit("attend to earlier positions only", source.add_argument(call, "is_causal=True"))
    for call in source.calls_at(finding.where.line, "triu"):
        diagonal = source.argument(call, 1, "diagonal")
        if diagonal is not None and source.code(diagonal) != "1":
            yield source.edit("hide the very next position as well", source.replace(diagonal, "1"))
        elif diagonal is None:
            name = re.sub(r"triu$", "tril", source.code(call.func))
            yield source.edit("turn the triangle round", source.replace(call.func, name))


@remedy("PM417", compare="nothing")
def mask_of_the_transformer(finding: Finding, source: Source) -> Iterator[Edit]:
    """nn.Transformer hides nothing unless it is given a mask."""
    for call in source.all(cst.Call, source.statement_at(finding.where.line)) if finding.where.line else []:
        name = source.dotted(call.func)
        built = [made for made in source.calls(tuple(TRANSFORMERS)) if name in _names_of(source, made)]
        for made in built:
            place, keyword = TRANSFORMERS[source.called(made)]
            first = source.argument(made, None, "batch_first")
            decoded = source.argument(call, place, "")
            if decoded is None or source.argument(call, None, keyword) is not None:
                continue
            length = f"{source.operand(decoded)}.size({1 if first is not None and source.code(first) == 'True' else 0})"
            mask = f"{keyword}=torch.nn.Transformer.generate_square_subsequent_mask({length})"
            yield source.edit("hide later positions from the decoder", source.add_argument(call, mask))


def _names_of(source: Source, call: Node) -> list[str]:
    statement = source.statement_of(call)
    return source.assigned_names(statement) if isinstance(statement, cst.SimpleStatementLine) else []


def _inverted(source: Source, value: Node) -> Edit:
    text = source.code(value)
    inverted = text[1:] if text.startswith("~") else f"~{source.operand(value)}"
    return source.edit("invert the mask", source.replace(value, inverted))
