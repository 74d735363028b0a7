"""PM704."""

from __future__ import annotations

from collections.abc import Iterator

from paramedic.record.facts import Batch, DeviceMemory, Ended, Forward, LargeTensor, Memory, OutOfMemory
from paramedic.rules import Abstain, Evidence, Finding, Run, Where, rule
from paramedic.rules.growth import MB, size
from paramedic.rules.support import listed, shape

FULL = 0.95  # of a cgroup: beyond it the kernel kills without a word
DEVICE_FULL = 0.97
SCATTERED = 0.3  # of the reserved memory, not in use even at the peak
SAFETY = 0.6  # the allocator needs room to move, and so does whoever watches
LARGE = 0.05  # of the memory in use: tensors below it are not worth a line
ABSURD = 20


@rule("PM704", "memory-pressure", severity="warning")
def check(run: Run) -> Iterator[Finding]:
    """Memory ran out, or nearly did.

    After an out-of-memory error it says what held the memory: parameters, gradients, optimizer state, the largest
    tensors with the line that allocated them, and a batch size that would fit.

    ## Why it hurts
    A run close to the limit fails at the first batch that is slightly longer than the others.

    ## What to try first
    A smaller batch with gradient accumulation, `torch.autocast` with bfloat16, `torch.utils.checkpoint` for the largest
    blocks; fewer DataLoader workers if the host runs out of memory. Against fragmentation:
    `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.

    ## When this is wrong
    A device that is full but never fails is well used: that is a note. The batch size is an estimate: everything except
    weights, gradients and optimizer state is assumed to grow with the batch.
    """
    for event in run.facts(OutOfMemory)[:1]:
        yield _ran_out(run, event)
        return
    yield from _killed_worker(run)
    yield from _host(run)
    for device in run.facts(DeviceMemory):
        yield from _device(run, device)
    if not run.facts(Memory):
        raise Abstain("no optimizer took a step")


def _ran_out(run: Run, event: OutOfMemory) -> Finding:
    asked = f"{size(event.asked)} more were requested, with " if event.asked else ""
    whose = {"ulimit": "that ulimit -v allows", "cgroup": "of the container", "machine": "of the machine"}
    total = f"{size(event.total)} {whose.get(event.source, 'on ' + event.device)}"
    return Finding(
        what=f"out of memory: {asked}{size(_used(event))} in use of the {total}",
        why=_who_held_what(event),
        remedy=_way_out(run, event),
        where=event.where,
        evidence=tuple(
            Evidence(name=f"{name}_mb", value=round(bytes / MB, 1))
            for name in ("asked", "used", "total", "parameters", "gradients", "state")
            if (bytes := getattr(event, name)) is not None
        ),
        confidence=0.95,
    )


def _who_held_what(event: OutOfMemory) -> str:
    named = {"parameters": event.parameters, "gradients": event.gradients, "optimizer state": event.state}
    parts = [f"{words} {size(bytes)}" for words, bytes in named.items() if bytes]
    rest = _used(event) - event.base - _held(event)
    if rest > 0:
        parts.append(f"activations and everything else {size(rest)}")
    large = [_tensor(tensor) for tensor in event.largest if tensor.bytes >= LARGE * event.used][:3]
    held = f"held by {', '.join(parts)}. " if parts else ""
    return held + (f"Largest: {listed(large)}" if large else "")


def _tensor(tensor: LargeTensor) -> str:
    name = tensor.variable or (f"an output of {tensor.maker}" if tensor.maker else "a tensor")
    what = f"{name} {shape(tensor.shape)} {size(tensor.bytes)}"
    if tensor.line:
        return f"{what} ({tensor.file}:{tensor.line})"
    return f"{what} (in {tensor.function})" if tensor.function else what


def _used(event: OutOfMemory) -> float:
    """At the moment of the failure: what is in use plus what is requested exceed the total; some is freed by now."""
    return float(max(event.used, event.total - (event.asked or 0)))


def _held(event: OutOfMemory) -> float:
    return float(event.parameters + event.gradients + event.state + event.buffers)


def _way_out(run: Run, event: OutOfMemory) -> str:
    asked, total, base = event.asked or 0, event.total, event.base
    batch = _batch_size(run)
    # Gradients that do not exist yet will.
    room = total - base - _held(event) - max(0, event.trainable - event.gradients)
    if asked > ABSURD * total:
        return "no machine has that much: check the shapes on this line; a dimension is probably wrong"
    if room <= 0:
        return "the model itself does not fit: fewer parameters, bfloat16, or several devices (FSDP)"
    needed = _used(event) + asked - base - _held(event)
    if event.progress:  # failed in the forward pass: the other layers and the backward pass need room as well
        needed = needed / event.progress + 2 * asked
    if batch is None or needed <= 0:
        return "reduce what this line allocates: a smaller batch, shorter inputs, or bfloat16"
    fitting = int(SAFETY * batch * room / needed)
    if fitting < 1 or batch == 1:
        return f"not even a batch of one would fit (it is {batch} now): shorten the inputs or use checkpointing"
    return (
        f"start with a batch of {min(fitting, batch // 2)} instead of {batch}, and accumulate gradients over several "
        "batches to keep the effective size"
    )


def _batch_size(run: Run) -> int | None:
    """Of the failing batch, as the loader or the model last saw it."""
    loaded = [tensor.shape for event in run.facts(Batch)[-1:] for tensor in event.tensors if tensor.shape]
    given = [tensor.shape for event in run.facts(Forward)[-1:] for tensor in event.inputs if tensor.shape]
    return next((int(sizes[0]) for sizes in (*loaded, *given)), None)


def _killed_worker(run: Run) -> Iterator[Finding]:
    """The kernel kills silently; torch only reports that a worker is gone."""
    crash = run.first(Ended)
    said = crash.message + crash.cause if crash is not None else ""
    if crash is None or "DataLoader worker" not in said or "signal: Killed" not in said:
        return
    highest = {
        name.partition(":")[2]: max(value for _, value in points)
        for name, points in run.curves("memory").items()
        if name.startswith("rss:worker")
    }
    seen = f"; the workers had reached {size(max(highest.values()))} each" if highest else ""
    yield Finding(
        what=f"a DataLoader worker was killed{seen}",
        why="when memory runs out the kernel kills the process that uses the most of it, without a message",
        remedy="use fewer workers or a smaller prefetch_factor, and keep samples in arrays instead of lists",
        where=crash.where,
        evidence=tuple(Evidence(name=f"{name} mb", value=round(value / MB)) for name, value in highest.items()),
        confidence=0.8,
    )


def _host(run: Run) -> Iterator[Finding]:
    memory = run.first(Memory)
    if memory is None or memory.source != "cgroup":
        return  # a machine's memory is shared with strangers
    step, used = max(run.series("memory:used:cgroup"), key=lambda point: point[1], default=(0, 0.0))
    if used < FULL * memory.limit:
        return
    yield Finding(
        what=f"{size(used)} of the container's {size(memory.limit)} were in use ({used / memory.limit:.0%})",
        why="at the limit the kernel kills a process, often a DataLoader worker, without a message",
        remedy="fewer workers, a smaller prefetch_factor, or a larger limit",
        where=Where(step=step, rank=run.rank),
        evidence=(Evidence(name="share", value=round(used / memory.limit, 3), limit=f"< {FULL}"),),
        confidence=0.85,
    )


def _device(run: Run, device: DeviceMemory) -> Iterator[Finding]:
    name, total = device.name, device.total
    reserved = max((value for _, value in run.series(f"memory:reserved:{name}")), default=0.0)
    peak = max((value for _, value in run.series(f"memory:peak:{name}")), default=0.0)
    retries = max((value for _, value in run.series(f"memory:retries:{name}")), default=0.0)
    if reserved < DEVICE_FULL * total and not retries:
        return
    scattered = reserved - peak > SCATTERED * reserved
    flushed = f"; the allocator had to empty its cache {retries:.0f} times" if retries else ""
    yield Finding(
        what=f"{size(reserved)} of {size(total)} on {name} were reserved, at most {size(peak)} of it in use{flushed}",
        why="the free memory is fragmented into pieces too small to use"
        if scattered
        else "the next longer batch may fail",
        remedy="set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
        if scattered
        else "leave some room: a slightly smaller batch, or bfloat16",
        where=Where(step=device.step, rank=run.rank),
        evidence=(Evidence(name="reserved_share", value=round(reserved / total, 3), limit=f"< {DEVICE_FULL}"),),
        confidence=0.8,
        severity="note",
    )
