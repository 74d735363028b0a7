"""Attention weights in numbers: a small map per head, its entropy, and how near it keeps to the diagonal."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from paramedic.aliases import Args, Kwargs
from paramedic.capture.facts import readable

T = torch.Tensor
HEADS = 8  # of a layer
ROWS = 32  # queries, evenly spread
COLUMNS = 32  # groups of neighbouring keys, whose weights are added up
MOST_KEYS = 1 << 15
PER_HEAD = 2  # numbers beside the map


class Rows(NamedTuple):
    """The weights of some queries of one sample."""

    weights: torch.Tensor  # (heads, queries, keys)
    at: list[int]  # which queries these are
    queries: int  # how many there are
    heads: int


def spread(size: int) -> list[int]:
    """Which queries are looked at."""
    if size <= ROWS:
        return list(range(size))
    return [n * (size - 1) // (ROWS - 1) for n in range(ROWS)]


def of_weights(weights: torch.Tensor) -> Rows | None:
    """Of weights as the program has computed them: (batch, heads, queries, keys), or without heads."""
    if weights.dim() not in (3, 4) or not _fits(weights.shape[-2], weights.shape[-1]):
        return None
    first = weights[0] if weights.dim() == 4 else weights[:1]
    at = spread(first.shape[1])
    return Rows(first[:HEADS, at], at, first.shape[1], first.shape[0])


def of_scores(query: torch.Tensor, key: torch.Tensor, mask: object, causal: bool, scale: float | None) -> Rows | None:
    """What scaled_dot_product_attention weighs its values with, computed again for some queries of one sample."""
    size, keys = query.shape[-2], key.shape[-2]
    if query.dim() not in (3, 4) or key.dim() != query.dim() or not _fits(size, keys):
        return None
    heads, at = (query.shape[1] if query.dim() == 4 else 1), spread(size)
    few = min(heads, HEADS)
    asked, held = (t[0] if t.dim() == 4 else t[:1] for t in (query, key))
    held = held.repeat_interleave(heads // held.shape[0], 0)[:few].float()
    scores = asked[:few, at].float() @ held.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if isinstance(mask, T):
        shown = mask.expand(*query.shape[:-1], keys)
        shown = (shown[0] if shown.dim() == 4 else shown[:1])[:few, at]
        hidden = shown.dtype == torch.bool
        scores = scores.masked_fill(~shown, float("-inf")) if hidden else scores + shown.float()
    if causal:
        past = torch.tensor(at, device=scores.device)[:, None] >= torch.arange(keys, device=scores.device)
        scores = scores.masked_fill(~past, float("-inf"))
    return Rows(scores.softmax(-1), at, size, heads)


def of_module(module: nn.MultiheadAttention, args: Args, kwargs: Kwargs) -> Rows | None:
    """What torch's own module weighs its values with, computed again for some queries of one sample."""
    named = dict(zip(("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask"), args, strict=False))
    named |= kwargs
    given = [named.get(name) for name in ("query", "key", "value")]
    own = module._parameters
    stored = [own.get(name) for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")]
    out = module.out_proj._parameters.get("weight")
    if out is None or not any(w is not None for w in stored) or not all(w is None or readable(w) for w in stored):
        return None
    if not readable(out) or not all(isinstance(t, T) and readable(t) and t.dim() == 3 for t in given):
        return None
    query, key, value = (_one(t, module.batch_first).to(out.dtype) for t in given)
    if not _fits(len(query), len(key)):
        return None
    at = spread(len(query))
    mask, padding = named.get("attn_mask"), named.get("key_padding_mask")
    if isinstance(mask, T):
        mask = mask[at] if mask.dim() == 2 else mask[: module.num_heads, at]
    weights = F.multi_head_attention_forward(
        query[at], key, value, module.embed_dim, module.num_heads, stored[0], own.get("in_proj_bias"),
        own.get("bias_k"), own.get("bias_v"), module.add_zero_attn, 0.0, out, None, training=False,
        key_padding_mask=padding[:1] if isinstance(padding, T) else None, need_weights=True, attn_mask=mask,
        use_separate_proj_weight=stored[0] is None, q_proj_weight=stored[1], k_proj_weight=stored[2],
        v_proj_weight=stored[3], average_attn_weights=False,
    )[1]  # fmt: skip
    assert weights is not None
    return Rows(weights[0, :HEADS], at, len(query), module.num_heads)


def _one(given: torch.Tensor, batch_first: bool) -> torch.Tensor:
    """The first sample, with the positions first."""
    given = given.detach()
    return given[:1].transpose(0, 1) if batch_first else given[:, :1]


def _fits(queries: int, keys: int) -> bool:
    return queries > 1 and 1 < keys <= MOST_KEYS


def measured(rows: Rows) -> torch.Tensor:
    """For each head: entropy, diagonality, and its map as grey levels, in which 255 is the largest weight of a row.

    Both are compared with even weights on the keys that can be seen: these have entropy 1 and diagonality 0. All weight
    on one key has entropy 0, all weight on the diagonal diagonality 1. NaN where there is nothing to compare.
    """
    p = rows.weights.detach().float().nan_to_num(0.0)
    keys = p.shape[-1]
    seen = (p > 0).any(0)  # by any head: what is masked has no weight at all
    choices = seen.sum(-1)
    known = (choices > 1) & (p.sum(-1) > 0.5)  # (heads, queries): a choice was there, and the row is no padding
    chaos = -(p * p.clamp_min(1e-30).log()).sum(-1) / choices.clamp_min(2).float().log()
    entropy = _mean(chaos, known)
    here = torch.tensor(rows.at, device=p.device).float()[:, None] / max(rows.queries - 1, 1)
    away = (here - torch.arange(keys, device=p.device).float() / (keys - 1)).abs()
    even = (away * seen).sum(-1) / choices.clamp_min(1)
    diagonality = 1 - _mean((p * away).sum(-1), known) / _mean(even.expand_as(chaos), known)
    group = -(-keys // COLUMNS)
    wide = F.pad(p, (0, -keys % group)).unflatten(-1, (-1, group)).sum(-1)
    grey = (wide / wide.amax(-1, keepdim=True).clamp_min(1e-12) * 255).round()
    return torch.cat([torch.stack([entropy, diagonality], 1), grey.flatten(1)], 1)


def _mean(values: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    return (values * known).sum(-1) / known.sum(-1)
