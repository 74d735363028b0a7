"""What watching costs on a GPU: a GPT-2-small-sized model, bf16 autocast, fused AdamW, at two batch sizes.

One process, one model. In each round every way of watching is put on, warmed up, timed and taken off again, with the
plain loop timed before and after it; its ratio is to the mean of those two, since such machines drift. Printed are the
medians of the rounds. `python -m benchmarks.overhead.gpt2 [--steps N] [--rounds N]`
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, DEPTH, HEADS, LENGTH = 50_304, 768, 12, 12, 1024


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.act, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm1(x)).view(*x.shape[:2], 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(seen.transpose(1, 2).reshape(x.shape))
        return x + self.down(self.act(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


@contextlib.contextmanager
def nothing(model: nn.Module) -> Iterator[None]:
    yield


@contextlib.contextmanager
def watched(model: nn.Module, **settings: float | int) -> Iterator[None]:
    import paramedic

    with tempfile.TemporaryDirectory() as folder:
        watch = paramedic.watch(runs=folder, **settings)  # type: ignore[arg-type]
        yield
        diagnosis = watch.stop(show=False)
        run = diagnosis.run
        print(f"    own account {run.overhead:.2%}; {run.coverage}; alarms {[f.code for f in diagnosis.alarms]}")
        for notice in run.notices:
            print("   ", notice)


@contextlib.contextmanager
def anomaly(model: nn.Module) -> Iterator[None]:
    with torch.autograd.detect_anomaly(check_nan=True):
        yield


@contextlib.contextmanager
def underflow(model: nn.Module) -> Iterator[None]:
    from transformers.debug_utils import DebugUnderflowOverflow

    hooks_before = {id(h) for m in model.modules() for h in m._forward_hooks.values()}
    DebugUnderflowOverflow(model, max_frames_to_save=1)
    yield
    for module in model.modules():
        for key, hook in list(module._forward_hooks.items()):
            if id(hook) not in hooks_before:
                del module._forward_hooks[key]


@contextlib.contextmanager
def histograms(model: nn.Module) -> Iterator[None]:
    kept: dict[nn.Parameter, torch.Tensor] = {}

    def count(p: nn.Parameter) -> None:
        if p.grad is not None:
            kept[p] = torch.histc(p.grad.float(), 64)

    hooks = [p.register_post_accumulate_grad_hook(count) for p in model.parameters()]
    yield
    for hook in hooks:
        hook.remove()


WAYS: dict[str, Callable[[nn.Module], contextlib.AbstractContextManager[None]]] = {
    "alone": nothing,
    "paramedic, default": lambda model: watched(model),
    "paramedic, everything on every step": lambda model: watched(model, every=1),
    "a histogram per gradient": histograms,
    "transformers DebugUnderflowOverflow": underflow,
    "torch detect_anomaly": anomaly,
}
FIRST_LOOK = 8.0  # seconds in which paramedic looks more closely than later; what they cost is told by itself


def train(model: nn.Module, optimizer: torch.optim.Optimizer, batch: int, steps: int) -> float:
    """Seconds per step."""
    ids = torch.randint(0, VOCABULARY, (batch, LENGTH + 1), device="cuda")
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.view(-1, VOCABULARY), ids[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / steps


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="+", default=[32, 4])
    parser.add_argument("--only", default="", help="ways whose name contains this")
    arguments = parser.parse_args()
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}")
    for batch in arguments.batches:
        torch.manual_seed(0)
        model = GPT().cuda()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        train(model, optimizer, batch, 15)
        ratios: dict[str, list[float]] = {}
        looks: dict[str, list[float]] = {}
        alone = [train(model, optimizer, batch, arguments.steps)]
        for _ in range(arguments.rounds):
            for name, way in WAYS.items():
                if arguments.only not in name:
                    continue
                slow = "Debug" in name or "anomaly" in name
                try:
                    with way(model):
                        first = max(100, round(FIRST_LOOK / alone[-1])) if "paramedic" in name else 5
                        warm = train(model, optimizer, batch, first)
                        took = train(model, optimizer, batch, arguments.steps // (3 if slow else 1))
                except Exception as error:
                    print(f"    {name}: {type(error).__name__}: {error}")
                    continue
                alone.append(train(model, optimizer, batch, arguments.steps))
                beside = (alone[-2] + alone[-1]) / 2
                ratios.setdefault(name, []).append(took / beside)
                print(f"    {name}: {took / beside:.3f}", flush=True)
                if "paramedic" in name:
                    looks.setdefault(name, []).append((warm - beside) * first)
        print(f"\nbatch {batch} x {LENGTH}: {statistics.median(alone) * 1e3:.1f} ms per step alone", end="")
        print(f" ({min(alone) * 1e3:.1f} … {max(alone) * 1e3:.1f})")
        for name, found in ratios.items():
            line = f"  {name:40} {statistics.median(found):6.3f}x   ({min(found):.3f} … {max(found):.3f})"
            if name in looks:
                line += f"   before that, once: {statistics.median(looks[name]):.1f} s"
            print(line)
        del model, optimizer
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
