"""What a summary per tensor costs beside the torch calls one would write by hand. One run, one table, all contenders.

    python benchmarks/overhead/stats_micro.py [--threads N] [--seconds S] [--device cpu|cuda]

Contenders take turns in random order, so that a busy machine is unfair to all alike. Times are the smallest seen and
the median, and beside them what this process had of the host: CPU time on a CPU, time until the call returns on a GPU.
Ratios are against our default; of the medians on a GPU, of the CPU time on a CPU, which others on it disturb least.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence

import torch

from paramedic.capture.stats import layout, summarise_into

Tensors = list[torch.Tensor]
Shapes = Sequence[tuple[int, ...]]


def lists(device: str) -> dict[str, Tensors]:
    """Tensors as training has them, all with random numbers: zeros would flatter."""

    def make(shapes: Shapes, dtype: torch.dtype = torch.float32) -> Tensors:
        return [torch.randn(shape, device=device, dtype=dtype) * 0.02 for shape in shapes]

    def block(d: int) -> list[tuple[int, ...]]:
        return [(d,), (d,), (3 * d, d), (3 * d,), (d, d), (d,), (d,), (d,), (4 * d, d), (4 * d,), (d, 4 * d), (d,)]

    found = {
        "one of 4.2 M": make([(4_200_000,)]),
        "one of 4.2 M, bf16": make([(4_200_000,)], torch.bfloat16),
        "100 of 100": make([(100,)] * 100),
        "MLP on digits": make([(128, 64), (128,), (128, 128), (128,), (10, 128), (10,)]),
        "tiny transformer": make([(256, 64), (128, 64), *block(64) * 4, (64,), (64,), (256, 64)]),
    }
    if device == "cuda":
        found["GPT-2 small, weights"] = make([(50257, 768), (1024, 768), *block(768) * 12, (768,), (768,)])
        sizes = [(32, 1024, width) for width in (768, 2304, 768, 768, 3072, 3072, 768)] * 12
        found["GPT-2 small, outputs, bf16"] = make(sizes, torch.bfloat16)
    return found


def by_hand(tensors: Tensors) -> Tensors:
    """The same numbers, one call each."""
    numbers = []
    for x in tensors:
        x = x.float()
        low, high = x.aminmax()
        magnitude = x.abs()
        numbers += [x.mean(), x.std(), magnitude.max(), low, high, torch.linalg.vector_norm(x), (x == 0).sum()]
        numbers += [x.isnan().sum(), x.isinf().sum(), torch.histc(magnitude.log2(), 32, -32, 16)]
    return numbers


def by_hand_no_histogram(tensors: Tensors) -> Tensors:
    numbers = []
    for x in tensors:
        low, high = x.aminmax()
        numbers += [x.mean(), x.std(), low, high, torch.linalg.vector_norm(x, dtype=torch.float32), (x == 0).sum()]
        numbers += [x.isnan().sum(), x.isinf().sum()]
    return numbers


def norm_and_isnan(tensors: Tensors) -> list[bool]:
    """What most training loops log, reading each at once."""
    return [bool(torch.linalg.vector_norm(x) > 0) and bool(x.isnan().any()) for x in tensors]


def foreach_norm(tensors: Tensors) -> Tensors:
    """The least one could do: one norm each, in one call."""
    return list(torch._foreach_norm(tensors))


def ours(seen: int | None, out: torch.Tensor) -> Callable[[Tensors], object]:
    return lambda tensors: summarise_into(tensors, out[: len(tensors)], seen=seen)


def clock(work: Callable[[], object], device: str) -> tuple[float, float]:
    """Seconds until it is done, and of the host's."""
    if device == "cpu":
        begin, used = time.perf_counter(), time.process_time()
        work()
        return time.perf_counter() - begin, time.process_time() - used
    torch.cuda.synchronize()
    begun, done = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begun.record()
    begin = time.perf_counter()
    work()
    host = time.perf_counter() - begin
    done.record()
    done.synchronize()
    return begun.elapsed_time(done) / 1e3, host


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--seconds", type=float, default=3.0, help="per list of tensors")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device: str = options.device
    out = torch.empty(1024, layout.WIDTH, dtype=torch.float64, device=device)
    contenders: dict[str, Callable[[Tensors], object]] = {
        "ours": ours(None, out),
        "ours, no histogram": ours(0, out),
        "ours, whole histogram": ours(1 << 62, out),
        "by hand": by_hand,
        "by hand, no histogram": by_hand_no_histogram,
        "norm and isnan, read": norm_and_isnan,
        "_foreach_norm alone": foreach_norm,
    }
    where = torch.cuda.get_device_name() if device == "cuda" else f"CPU, {options.threads} threads"
    print(f"torch {torch.__version__}, {where}\n{'':30}{'least':>12}{'median':>12}{'host':>12}{'ratio':>9}{'GB/s':>9}")
    for name, tensors in lists(device).items():
        size = sum(x.numel() * x.element_size() for x in tensors)
        print(f"{name}: {len(tensors)} tensors, {size / 1e6:.1f} MB")
        report(compete(contenders, tensors, device, options.seconds), size, 0 if device == "cuda" else 1)


def compete(
    contenders: dict[str, Callable[[Tensors], object]], tensors: Tensors, device: str, seconds: float
) -> dict[str, list[tuple[float, float]]]:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for work in contenders.values():
        for _ in range(2):
            work(tensors)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times["ours"]) < 5:
        for name, work in random.sample(list(contenders.items()), len(contenders)):
            times[name].append(clock(lambda work=work: work(tensors), device))  # type: ignore[misc]
    return times


def report(times: dict[str, list[tuple[float, float]]], size: int, which: int) -> None:
    base = statistics.median(each[which] for each in times["ours"])
    for name, each in times.items():
        done, host = [a for a, _ in each], [b for _, b in each]
        middle, of_host = statistics.median(done), statistics.median(host)
        judged = (middle, of_host)[which]
        print(
            f"  {name:28}{min(done) * 1e3:9.3f} ms{middle * 1e3:9.3f} ms{of_host * 1e3:9.3f} ms"
            f"{judged / base:8.2f}×{size / judged / 1e9:9.2f}"
        )


if __name__ == "__main__":
    main()
