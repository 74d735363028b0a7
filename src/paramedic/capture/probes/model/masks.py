"""Padding masks: do they mark the padding, and does everybody read them the same way?"""

from __future__ import annotations

import weakref
from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F

from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.arguments import argument_name
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.nearby import nearby
from paramedic.capture.padding import run_at_end
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.program.where import user_site
from paramedic.record.facts import Mask, MaskAdded, MaskAsFactor, Tokens
from paramedic.record.writer import Site

T = torch.Tensor
_ATTENTION = (
    nn.MultiheadAttention,
    nn.TransformerEncoder,
    nn.TransformerDecoder,
    nn.TransformerEncoderLayer,
    nn.Transformer,
)
_PRODUCTS = [T.mul, T.__mul__, T.__rmul__, torch.mul]
_ONES = [torch.ones_like, torch.ones, T.new_ones]
_FILLS = [T.masked_fill, T.masked_fill_, torch.masked_fill]
_SOFTMAX = [F.softmax, torch.softmax, T.softmax]
NEVER = -1e3  # a score that leaves a position out, in any precision: what "left out" means here
LOOKS = 24  # per place
_HALVES = ((torch.tril, 0), (torch.triu, 0), (torch.triu, 1), (torch.tril, -1))
NAMES = (
    "padding", "masked_padding", "masked_tokens", "tokens", "rows", "padded_rows", "shortest", "longest", "inside",
    "value",
)  # fmt: skip


@probe("masks", states=[Mask, MaskAdded, MaskAsFactor, Tokens])
class Masks:
    """Compares masks with the token ids whose padding they should mark."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._embedded: dict[torch.Size, weakref.ref[torch.Tensor]] = {}  # token ids of the top-level call now running
        self._products: list[tuple[weakref.ref[torch.Tensor], Site]] = []  # boolean factors
        self._ones: dict[int, tuple[weakref.ref[torch.Tensor], Site]] = {}
        self._filled: dict[int, tuple[weakref.ref[torch.Tensor], list[torch.Tensor]]] = {}  # scores, and their masks
        self._looks: Counter[object] = Counter()

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._products.clear()
        self._ones.clear()
        self._filled.clear()

    @on_call_of(*_PRODUCTS)
    def _multiplied(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        for value in args[:2]:
            if isinstance(value, T) and value.dtype == torch.bool and len(self._products) < 64:
                self._products.append((weakref.ref(value._base if value._base is not None else value), user_site()))

    @on_call_of(*_ONES)
    def _made_ones(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if isinstance(result, T) and result.dim() == 2 and len(self._ones) < 64:
            self._ones[id(result)] = (weakref.ref(result), user_site())

    # Attention written by hand: scores.masked_fill(mask, -1e9).softmax(-1) ------------------------------------------

    @on_call_of(*_FILLS)
    def _fill(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        mask = args[1] if len(args) > 1 else kwargs.get("mask")
        value = args[2] if len(args) > 2 else kwargs.get("value")
        if not isinstance(mask, T) or mask.dtype != torch.bool or not isinstance(result, T) or result.dim() < 2:
            return
        if isinstance(value, (int, float)) and value <= NEVER and len(self._filled) < 64:
            known = self._filled.get(id(args[0]))
            masks = known[1] if known is not None and known[0]() is args[0] else []
            self._filled[id(result)] = (weakref.ref(result), [*masks, mask.detach()])

    @on_call_of(*_SOFTMAX)
    def _softmax(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """Only now is it known along which axis the masks should have spoken."""
        x = args[0] if args else kwargs.get("input")
        known = self._filled.get(id(x))
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if not isinstance(x, T) or not isinstance(dim, int) or x.shape[dim] < 2:
            return
        dims = x.dim()
        if known is None or known[0]() is not x:
            return
        spoken = [mask for mask in known[1] if _size(mask, dim % dims, dims) > 1]
        for mask in spoken or known[1]:
            self._by_hand(mask, ignored=True, over="keys" if spoken else "queries")

    @on_call_of(F.scaled_dot_product_attention)
    def _attended(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        mask = kwargs.get("attn_mask", args[3] if len(args) > 3 else None)
        if isinstance(mask, T) and mask.dtype == torch.bool and mask.shape[-1] > 1:
            self._by_hand(mask.detach(), ignored=False, over="keys")
        elif isinstance(mask, T) and mask.dtype.is_floating_point:
            self._added(user_site(), "", "attn_mask", mask.detach())

    def _by_hand(self, mask: torch.Tensor, *, ignored: bool, over: str) -> None:
        """Compare it with the ids that were embedded, if it is a mask of their positions and nothing else."""
        flat = mask.squeeze()
        if flat.dim() == 3 and flat.shape[1] == flat.shape[2]:  # by query: a key that no query may see is left out
            flat = (flat if ignored else ~flat).all(1)
            ignored = True
            if flat.device.type != "cpu" or not flat.any():
                return  # nothing is said of padding: the mask is causal
        known = self._embedded.get(flat.shape)
        ids = known() if known is not None else None
        if ids is not None and flat.dim() == 2 and flat.shape[0] > 1 and readable(ids):
            self._compare(user_site(), over, ids, flat, ignored=ignored, over=over)

    @on(moments.module_called)
    def attention(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        """A module of torch that takes a key_padding_mask was called: True there means "ignore"."""
        if isinstance(call.module, nn.Embedding) and args and isinstance(args[0], T) and args[0].dim() == 2:
            self._embedded.setdefault(args[0].shape, weakref.ref(args[0]))
        if not isinstance(call.module, _ATTENTION):
            return
        for name, mask in kwargs.items():
            if isinstance(mask, T) and mask.dtype.is_floating_point and "mask" in name:
                self._added(call.site, call.path, name, mask)
            if not name.endswith("key_padding_mask") or not isinstance(mask, T) or mask.dtype != torch.bool:
                continue
            for reference, site in self._products:
                if reference() is mask:
                    data = MaskAsFactor(argument=name)
                    self.watcher.state(data, site=site, module=call.path, key=("factor", site))
            ids, own = self._ids_under(mask)
            if ids is not None and not name.startswith("memory"):
                self._compare(call.site, call.path, ids, own, ignored=True)

    def _ids_under(self, mask: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor]:
        """The ids that were embedded, and the mask's columns for them: a learnt token may stand before them all."""
        known, own = self._embedded.get(mask.shape), mask
        if known is None and mask.dim() == 2 and readable(mask):
            narrower, near = torch.Size((mask.shape[0], mask.shape[1] - 1)), nearby(self.watcher, mask)
            known = self._embedded.get(narrower) if near is not None and not bool(near[:, 0].any()) else None
            if known is not None:
                own = mask[:, 1:]
        return known() if known is not None else None, own

    def _added(self, site: Site, path: str, name: str, mask: torch.Tensor) -> None:
        """Numbers in a mask are added to the scores: of zeros and ones, nothing is left out."""
        padding = name.endswith("key_padding_mask")
        near = nearby(self.watcher, mask) if readable(mask) else None
        if near is None or not (padding or _triangular(near)):
            return
        mask = near
        ones = mask == 1
        if bool(ones.any()) and bool((mask == 0).any()) and bool((ones | (mask == 0)).all()):
            data = MaskAdded(argument=name, dtype=str(mask.dtype))
            self.watcher.state(data, site=site, module=path, key=("mask added", site))

    @on(moments.model_called)
    def model(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        """A model was called with token ids and something of the same shape that holds only zeros and ones."""
        self._embedded.clear()
        given = [(path, t) for path, t in tensors_in((args, kwargs)) if t.dim() == 2 and readable(t)]
        ids = next((t for _, t in given if t.dtype in (torch.int64, torch.int32)), None)
        if ids is None:
            return
        self._tokens(call, ids)
        for path, mask in given:
            if mask is not ids and mask.shape == ids.shape and not torch.equal(mask, ids):
                made = self._ones.get(id(mask))
                site = made[1] if made is not None and made[0]() is mask else call.site
                declared = "attention_mask" if argument_name(call.module, path) == "attention_mask" else "other"
                self._compare(site, call.path, ids, mask, ignored=False, declared=declared)

    def _tokens(self, call: Call, ids: torch.Tensor) -> None:
        """How the rows of token ids end."""
        self._looks[call.path] += 1
        near = nearby(self.watcher, ids) if self._looks[call.path] <= LOOKS and ids.shape[1] >= 3 else None
        if near is None:
            return
        ids = near
        value = ids[:, -1].mode().values
        same = ids == value
        lengths = run_at_end(same)
        found = [value, lengths.min(), lengths.max(), lengths.sum(), same.sum() - lengths.sum()]
        value, shortest, longest, padding, inside = (int(number) for number in found)
        fact = Tokens(
            value=value,
            shortest=shortest,
            longest=longest,
            padding=padding,
            inside=inside,
            rows=ids.shape[0],
            width=ids.shape[1],
        )
        self.watcher.state(fact, site=call.site, module=call.path)

    def _compare(
        self,
        site: Site,
        path: str,
        ids: torch.Tensor,
        mask: torch.Tensor,
        *,
        ignored: bool,
        over: str = "keys",
        declared: str | None = None,
    ) -> None:
        """`ignored`: a one in the mask means that the position is left out, and not that it counts.

        `declared`: of a tensor that a model was given, whether its name says that it is such a mask.
        """
        self._looks[(site, path)] += 1
        if self._looks[(site, path)] > LOOKS or ids.shape != mask.shape or ids.shape[1] < 3:
            return
        near = nearby(self.watcher, ids), nearby(self.watcher, mask)
        if near[0] is None or near[1] is None:
            return
        ids, mask = near
        if mask.dtype != torch.bool and not bool(((mask == 0) | (mask == 1)).all()):
            return
        value = ids[:, -1].mode().values
        lengths = run_at_end(ids == value)
        padding = torch.arange(ids.shape[1]) >= (ids.shape[1] - lengths)[:, None]
        out = mask.bool() if ignored else ~mask.bool()
        found = [padding.sum(), (out & padding).sum(), (out & ~padding).sum(), (~padding).sum()]
        found += [lengths.new_tensor(len(ids)), (lengths > 0).sum(), lengths.min(), lengths.max()]
        found += [((ids == value) & ~padding).sum(), value]
        numbers: Fields = dict(zip(NAMES, [int(number) for number in found], strict=True))
        none = not bool(out.any())
        fact = Mask(**numbers, all_ones=not ignored and none, none=none, over=over, declared=declared)
        self.watcher.state(fact, site=site, module=path)


def _triangular(mask: torch.Tensor) -> bool:
    """A mask of the future, or of all but the future: what is added on purpose (a distance) is not."""
    square = mask.dim() >= 2 and mask.shape[-1] == mask.shape[-2] > 1
    whole = mask.reshape(-1, *mask.shape[-2:])[0] if square else mask
    return square and any(torch.equal(half(torch.ones_like(whole), n), whole) for half, n in _HALVES)


def _size(mask: torch.Tensor, dim: int, dims: int) -> int:
    """The size of a mask along an axis of the scores that it is broadcast against."""
    own = dim - (dims - mask.dim())
    return int(mask.shape[own]) if own >= 0 else 1
