"""From tensors to summaries on the host, in batches; and what a summary can be asked."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from paramedic.capture import stats
from paramedic.capture.stats import Collector, NotSummarised, Summary, layout, summaries, summarise
from paramedic.record.summary import from_row


def test_batches_come_out_in_order_with_their_tags() -> None:
    collector = Collector()
    assert not collector.ready() and list(collector.take()) == []
    for step in range(3):
        collector.add([torch.full((4,), float(step)), torch.ones(2)])
        collector.add([torch.full((3,), -float(step))])
        assert collector.send(step)
    assert collector.ready()
    batches = list(collector.take())
    assert [batch.tag for batch in batches] == [0, 1, 2] and not collector.ready()
    for batch in batches:
        step = batch.tag
        assert [s.mean for s in summaries(batch) if isinstance(s, Summary)] == [step, 1.0, -step]


def test_more_rows_than_the_buffer_had() -> None:
    collector = Collector()
    numbers = range(stats.ROWS + 700)
    collector.add([torch.tensor(-1.0)])
    collector.add([torch.tensor(float(number)) for number in numbers])
    collector.send(None)
    (batch,) = collector.take()
    assert [s.mean for s in summaries(batch) if isinstance(s, Summary)] == [-1.0, *map(float, numbers)]


def test_too_many_under_way_are_dropped_and_counted() -> None:
    collector = Collector(most_under_way=2)
    sent = []
    for step in range(4):
        collector.add([torch.tensor(float(step))])
        sent.append(collector.send(step))
    assert sent == [True, True, False, False] and collector.lost == 2
    assert [batch.tag for batch in collector.take()] == [0, 1]
    collector.add([torch.tensor(9.0)])
    assert collector.send("later") and [batch.tag for batch in collector.finish()] == ["later"]


def test_buffers_made_in_the_oddest_places_serve_everywhere() -> None:
    collector = Collector()
    with torch.inference_mode():
        collector.add([torch.ones(3), torch.ones(20_000), torch.ones(3, device="meta")])
    torch.func.grad(lambda x: (collector.add([x, torch.nn.Parameter(torch.ones(4))]), x.sum())[1])(torch.ones(2))
    collector.add([torch.ones(3), torch.ones(20_000), torch.ones(3, device="meta")])
    collector.send(None)
    (batch,) = collector.take()
    assert [isinstance(each, Summary) for each in summaries(batch)] == [
        True,
        True,
        False,
        False,
        False,
        True,
        True,
        False,
    ]


def test_an_empty_batch() -> None:
    collector = Collector()
    collector.send("nothing")
    (batch,) = collector.take()
    assert batch.tag == "nothing" and len(batch.rows) == 0


def test_gradients_may_come_from_several_threads() -> None:
    collector = Collector()
    tensors = [torch.full((100,), float(number)) for number in range(200)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda tensor: collector.add([tensor]), tensors))
    collector.send(None)
    (batch,) = collector.take()
    assert sorted(s.mean for s in summaries(batch) if isinstance(s, Summary) and s.mean is not None) == list(
        map(float, range(200))
    )


def test_kernels_that_fail_leave_the_portable_way(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cuda(torch.Tensor):
        is_cuda = True

    monkeypatch.setattr(stats, "_no_kernels", [])
    monkeypatch.setattr(stats, "_ready", {torch.device("cpu")})
    monkeypatch.setitem(sys.modules, "paramedic.capture.stats.fused", None)  # so that its import fails
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    out = torch.empty(1, layout.WIDTH, dtype=torch.float64)
    assert stats.summarise_into([torch.ones(4)], out.as_subclass(Cuda)) == [None]
    assert from_row(out[0].tolist()).mean == 1.0 and stats._no_kernels  # type: ignore[union-attr]


def test_shares() -> None:
    # 2**-30 vanishes in fp16, 2**-20 is subnormal there, 2**17 overflows
    (got,) = summarise([torch.tensor([0.0, 2.0**-30, 2.0**-20, 1.0, 2.0**17, float("nan")])])
    assert isinstance(got, Summary)
    assert got.share_below(-24) == 1 / 4 and got.share_below(-14) == 2 / 4
    assert got.share_from(16) == 1 / 5 and got.seen == 5 and got.finite == 5
    assert got.zero_share == 1 / 6
    (empty,) = summarise([torch.empty(0)])
    assert isinstance(empty, Summary)
    assert (empty.mean, empty.share_below(-24), empty.share_from(16), empty.zero_share) == (None, None, None, None)
    assert empty.norm == 0.0 and empty.count == 0


def test_a_row_that_was_never_written_is_not_a_summary() -> None:
    assert isinstance(from_row([float("nan")] * layout.WIDTH), NotSummarised)


def test_layout() -> None:
    assert layout.BINS == 32 and layout.WIDTH == 42 and list(layout.EDGES) == sorted(set(layout.EDGES))
    for edge in (-126, -24, -14, -6, 16, 128):  # where the small float types end
        assert edge in layout.EDGES


def test_reading_summaries_needs_no_torch() -> None:
    code = "import sys; import paramedic.record.summary; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
