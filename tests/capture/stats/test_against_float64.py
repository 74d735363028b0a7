"""Every statistic, for every dtype and size, against a float64 reference on fresh random numbers."""

from __future__ import annotations

import pytest
import torch

from paramedic.capture.stats import layout, portable
from paramedic.record.summary import Summary, from_row
from statistics_engines import each_engine, fused
from statistics_reference import FLOATS, FP8, Engine, assert_same, fresh_seed, plant, random, reference, rows_of

SIZES = [0, 1, 2, 31, 1000, 16385, 140_001]
ALL = 1 << 30  # histogram: look at everything


@pytest.fixture(autouse=True)
def _seed() -> None:
    fresh_seed()


def eps(dtype: torch.dtype) -> float:
    return 1e-12 if dtype in (torch.float64, torch.int64) else 1e-5


def check(tensors: list[torch.Tensor], engine: Engine) -> None:
    for tensor, got in zip(tensors, rows_of(tensors, engine, seen=ALL), strict=True):
        assert_same(got, reference(tensor), eps=eps(tensor.dtype))


@each_engine
@pytest.mark.parametrize("dtype", [*FLOATS, *FP8], ids=str)
def test_sizes(engine: Engine, dtype: torch.dtype) -> None:
    check([random(size, dtype) for size in SIZES], engine)


@each_engine
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_million_and_three(engine: Engine, dtype: torch.dtype) -> None:
    check([random(1_000_003, dtype, scale=1e-3)], engine)


@each_engine
@pytest.mark.parametrize("dtype", [*FLOATS, FP8[1]], ids=str)
def test_planted_nan_and_inf(engine: Engine, dtype: torch.dtype) -> None:
    check([plant(random(size, dtype), 5, 3) for size in (31, 1000, 16385, 140_001)], engine)


@each_engine
def test_nothing_but_nan_and_inf(engine: Engine) -> None:
    nan, inf = float("nan"), float("inf")
    check([torch.tensor(x) for x in ([nan], [inf], [-inf, nan], [nan] * 5000, [nan, 2.0], [nan, 0.0, -inf])], engine)


@each_engine
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("end", ["huge", "tiny"])
def test_squares_that_overflow_or_vanish(engine: Engine, dtype: torch.dtype, end: str) -> None:
    info = torch.finfo(dtype)
    scale = info.max / 64 if end == "huge" else info.tiny * 4
    tensors = [random(size, dtype, scale=scale) for size in (2, 777, 20_000, 140_001)]
    tensors += [plant(random(5000, dtype, scale=scale), 2, 1)] if dtype is not torch.float64 else []
    check(tensors, engine)


@each_engine
def test_largest_and_smallest_numbers(engine: Engine) -> None:
    for dtype in FLOATS:
        info = torch.finfo(dtype)
        ends = torch.tensor(
            [info.max, info.min, info.tiny, info.smallest_normal, info.eps, 1.0, 0.0, -0.0], dtype=dtype
        )
        least = torch.tensor([1], dtype=torch.int16).view(torch.float16).to(dtype)  # the smallest fp16 there is
        check([ends, ends.repeat(100), least, torch.full((9999,), info.max, dtype=dtype)], engine)


@each_engine
def test_every_octave_lands_in_its_bin(engine: Engine) -> None:
    check([torch.ldexp(torch.ones(278, dtype=torch.float64), torch.arange(-149, 129)).to(d) for d in FLOATS], engine)
    check([torch.logspace(-308, 308, 5000, dtype=torch.float64)], engine)


@each_engine
@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
def test_spread_far_below_the_mean(engine: Engine, ratio: float) -> None:
    tensors = [torch.randn(size) + ratio for size in (64, 5000, 140_001)]
    check([*tensors, *(x.double() for x in tensors), torch.full((4000,), ratio)], engine)


@each_engine
def test_an_outlier_first(engine: Engine) -> None:
    x = torch.randn(200_000) * 1e-3
    for value in (1e4, 1e20, -3e38):
        x[0] = value
        check([x.clone()], engine)


@each_engine
def test_views(engine: Engine) -> None:
    x = random((64, 33, 5), torch.float32)
    image = random((4, 3, 17, 19), torch.float32)
    check(
        [
            x.t() if x.dim() == 2 else x.permute(2, 0, 1), x[::2], x[:, 1:7], x[..., 3], x[5:6], x.flip(0), x[:, :0],
            image.to(memory_format=torch.channels_last), image[:, 1], x.view(-1)[1:], x.view(-1)[3:4000], x[0, 0, 0],
            random((700, 300), torch.bfloat16)[:, 7:250], random((3, 70_000), torch.float16)[:, ::2],
        ],
        engine,
    )  # fmt: skip


@each_engine
def test_broadcasts(engine: Engine) -> None:
    x = plant(random((40, 1, 30), torch.float32), 3, 1)
    overlapping = random(100, torch.float32).as_strided((20, 30), (2, 1))
    check([x.expand(40, 50, 30), x[0, 0, :1].expand(1000), torch.tensor(3.0).expand(7, 9), overlapping], engine)
    check([x.expand(2, 40, 6, 30).transpose(0, 2), torch.tensor(float("nan")).expand(12)], engine)


@each_engine
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool], ids=str)
def test_integers(engine: Engine, dtype: torch.dtype) -> None:
    tensors = [torch.randint(0, 2 if dtype is torch.bool else 100, (size,)).to(dtype) for size in SIZES]
    for tensor, got in zip(tensors, rows_of(tensors, engine, seen=ALL), strict=True):
        assert_same(got, reference(tensor), eps=1e-12)


@each_engine
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_complex_by_magnitude(engine: Engine, dtype: torch.dtype) -> None:
    x = torch.complex(random(5000, torch.float64), random(5000, torch.float64)).to(dtype)
    x[3], x[4] = complex(float("nan"), 1), complex(1, float("-inf"))
    for tensor in (x, x.conj(), x[::3], x.reshape(50, 100).mT, x[:0]):
        (got,) = rows_of([tensor], engine, seen=ALL)
        want = reference(tensor)
        assert isinstance(got, Summary) and (got.count, got.nan, got.inf, got.zeros) == (
            want.count, want.nan, want.inf, want.zeros,
        )  # fmt: skip
        assert got.norm == pytest.approx(want.norm, rel=1e-6) and sum(got.histogram) == sum(want.histogram)
        for name in ("mean", "std", "absmax", "min", "max"):
            assert getattr(got, name) == (want.mean and pytest.approx(getattr(want, name), rel=1e-5, abs=1e-30))
    check([x.imag, x.conj().imag], engine)  # a lazily negated view


@each_engine
def test_sparse(engine: Engine) -> None:
    dense = torch.where(torch.rand(60, 40) < 0.9, 0.0, torch.randn(60, 40))
    dense[5, 5], dense[6, 6] = float("nan"), float("inf")
    index = torch.randint(0, 12, (1, 300))
    whole = torch.randint(-9, 10, (300, 8)).float()  # whatever the order of the sums, they are exact
    duplicates = torch.sparse_coo_tensor(index, whole, (12, 8), check_invariants=True)
    few = torch.sparse_coo_tensor(index[:, :3] * 1000, random((3, 8), torch.float32), (20_000, 8))
    nothing = torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0), (5, 5))
    tensors = [dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse_bsr((4, 4)), nothing]
    for tensor in [*tensors, duplicates, few]:
        (got,) = rows_of([tensor], engine, seen=ALL)
        assert_same(got, reference(tensor), eps=1e-5)


def test_duplicates_are_summed_without_waiting() -> None:
    for rows in (12, 5000):  # more entries than rows, and fewer
        index = torch.randint(0, rows, (1, 300))
        tensor = torch.sparse_coo_tensor(index, torch.randint(-9, 10, (300, 8)).float(), (rows, 8))
        values, more = portable._summed_duplicates(tensor)
        parts, histogram = portable._measure_on_device(values.reshape(-1), ALL, torch.float64)
        parts.append(torch.stack([portable._number(value, parts[0]) for value in more[0]]))
        histogram[0] += parts[-1][3]
        row = torch.empty(1, layout.WIDTH, dtype=torch.float64)
        layout.write_rows(layout.combine(torch.stack(parts)[None], torch), histogram[None], torch.ones(1), row, torch)
        assert_same(from_row(row[0].tolist()), reference(tensor), eps=1e-5)


@each_engine
def test_many_tensors_in_one_call(engine: Engine) -> None:
    sizes = [*torch.randint(0, 3000, (150,)).tolist(), 20000, 0, 131072, 131073]
    kinds = [*FLOATS, torch.int64]
    tensors = [
        random(size, kind) if (kind := kinds[index % len(kinds)]).is_floating_point else torch.randint(-9, 9, (size,))
        for index, size in enumerate(sizes)
    ]
    check([plant(x, 1, 1) if index % 17 == 0 and x.is_floating_point() and x.numel() > 5 else x
           for index, x in enumerate(tensors)], engine)  # fmt: skip


@each_engine
def test_a_sampled_histogram_has_the_right_shares(engine: Engine) -> None:
    x = random(600_000 if engine is fused else 2_000_000, torch.float32)
    (got,) = rows_of([x], engine, seen=100_000)
    want = reference(x)
    assert_same(got, want, eps=1e-5, histogram=False)
    assert isinstance(got, Summary) and 80_000 < got.seen < 130_000
    for mine, exact in zip(got.histogram, want.histogram, strict=True):
        assert abs(mine / got.seen - exact / want.seen) < 0.01
    (without,) = rows_of([x], engine, seen=0)
    assert isinstance(without, Summary) and without.seen == 0 and without.zeros == want.zeros
