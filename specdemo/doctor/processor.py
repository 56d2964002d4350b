"""What computes: the device, its threads, its number types and its matrix kernels, each tried and not only looked up.

Knows torch and a tiny model of the default's shapes. Does not know files or networks. For the main thread of a process
that does nothing else: it runs parallel operations.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable

import psutil
import torch

from specdemo.bench.shapes import Shape, build
from specdemo.doctor.finding import Finding
from specdemo.machine import limit_threads, usable_cpus
from specdemo.models.decoder import Decoder
from specdemo.models.loader import choose_device, choose_dtype
from specdemo.models.packed import can_pack, linear
from specdemo.models.pages import LARGE, LENDS, held, in_large_pages, lent

TINY = Shape("llama", 1024, 576, 1536, 2, 9, 3, 64, True, 1024)
"""The default model's layers, two of them, over a small vocabulary."""
ROWS, INNER, OUTER = 4, 576, 1536
"""A product as decoding makes it: four rows through a matrix of the default model."""
TURN_S, TURNS = 0.05, 7
"""One measurement: whole turns of so long, of which the median counts."""
CRAWL = 1.3
"""Threads that take so many times one thread's time get in each other's way."""


def device() -> Finding:
    """Where models would be loaded."""
    chosen = choose_device("auto")
    if chosen == "cuda":
        free, total = torch.cuda.mem_get_info()
        says = f"{torch.cuda.get_device_name()}, {free / 1e9:.1f} of {total / 1e9:.1f} GB free"
        return Finding(
            "device", "ok" if free > 2e9 else "warn", says, "" if free > 2e9 else "Another program holds it."
        )
    if shutil.which("nvidia-smi"):
        do = "Install torch's CUDA build, or update the driver; nvidia-smi says which CUDA it can do."
        return Finding("device", "warn", f"there is an NVIDIA driver, but torch {torch.__version__} sees no GPU", do)
    return Finding("device", "ok", f"CPU ({torch.backends.cpu.get_cpu_capability()}), enough for the default model")


def threads(spent: Callable[[int], float] | None = None, busy: float | None = None) -> Finding:
    """How many threads torch uses, and whether they help. spent: threads → seconds of a small product."""
    limit_threads()
    count, cpus = torch.get_num_threads(), usable_cpus()
    asked = os.environ.get("OMP_NUM_THREADS", "")
    spent = spent or product_s
    alone = spent(1)
    together = spent(count) if count > 1 else alone
    # Checks that follow shall not crawl too.
    torch.set_num_threads(1 if together > CRAWL * alone else count)
    load = busy if busy is not None else psutil.getloadavg()[0]
    says = (
        f"{count} of {cpus} processors (OMP_NUM_THREADS {asked or 'not set'}, load {load:.1f}): a small product takes "
    )
    says += f"{together * 1e6:.0f} µs" + (f", {alone * 1e6:.0f} µs on one thread" if count > 1 else "")
    if together > CRAWL * alone:
        do = "Other programs are using the processors: end them, or start with OMP_NUM_THREADS=1."
        return Finding("threads", "warn", says, do)
    if count == 1 and cpus > 1 and load < cpus / 2:
        return Finding("threads", "warn", says, f"The processors are free: start with OMP_NUM_THREADS={cpus}.")
    return Finding("threads", "ok", says)


def product_s(count: int) -> float:
    """Seconds of one small product on so many threads: the median of a few turns, after a warm-up."""
    torch.set_num_threads(count)
    dtype = choose_dtype("auto", "cpu")
    run, x = linear(torch.ones(OUTER, INNER, dtype=dtype)), torch.ones(ROWS, INNER, dtype=dtype)
    took = []
    for _ in range(TURNS):
        products, start = 0, time.perf_counter()
        while (spent := time.perf_counter() - start) < TURN_S or not products:
            run(x)
            products += 1
        took.append(spent / products)
    return sorted(took)[TURNS // 2]


def bfloat16() -> Finding:
    """What number type is chosen here."""
    where = choose_device("auto")
    dtype = choose_dtype("auto", where)
    name = str(dtype).removeprefix("torch.")
    if dtype == torch.bfloat16:
        return Finding("bfloat16", "ok", f"computed in hardware on this {where.upper()}: models are held in bfloat16")
    says = f"no instructions for it here: models are held in {name}, which is right but slower"
    return Finding("bfloat16", "ok", says)


def packing() -> Finding:
    """Whether matrices can be packed for the processor's kernels."""
    if choose_device("auto") != "cpu":
        return Finding("packing", "ok", "not needed on a GPU")
    packed = [name for name in ("float32", "bfloat16") if can_pack(getattr(torch, name))]
    if choose_dtype("auto", "cpu") not in {getattr(torch, name) for name in packed}:
        says = f"torch {torch.__version__} has not the operators for it: a token takes up to twice as long"
        return Finding("packing", "warn", says, "Install the version of torch that the Makefile names.")
    return Finding("packing", "ok", f"matrices are packed in {' and '.join(packed)}")


def pages() -> Finding:
    """Whether weights can lie in large pages."""
    if choose_device("auto") != "cpu" or sys.platform != "linux":
        return Finding("pages", "ok", "large pages are not asked for here")
    slower = "a token takes about an eighth longer"
    if not lent():
        if not LENDS.is_file():
            return Finding("pages", "ok", f"this system has no large pages: {slower}")
        do = f"As root: echo madvise > {LENDS} (in a container: on its host)."
        return Finding("pages", "warn", f"this system lends no large pages: {slower}", do)
    if not moved():
        do = f"Use Linux 6.1 or newer, or as root: echo always > {LENDS}."
        return Finding("pages", "warn", f"this system moves no weights into large pages: {slower}", do)
    return Finding("pages", "ok", "weights lie in large pages")


def moved() -> bool:
    """Whether memory that is written already gets large pages when it asks."""
    before, memory = held(), torch.ones(8 * LARGE, dtype=torch.uint8)
    in_large_pages(memory.data_ptr(), memory.nbytes)
    return held() - before >= 4 * LARGE


def exactness() -> Finding:
    """Whether a token's logits are the same bits wherever it stands: exact mode."""
    where = choose_device("auto")
    dtype = choose_dtype("auto", where)
    decoder = Decoder(build("tiny", TINY, dtype, where))
    says = f"path {decoder.path}, {str(dtype).removeprefix('torch.')}: "
    if decoder.exact_session(TINY.vocabulary) is None:
        do = "Nothing to mend: at T = 0 a near-tie may part two lanes, and the page says where."
        return Finding("exactness", "warn", says + "bits depend on where a token stands; exact mode is refused", do)
    return Finding("exactness", "ok", says + "the same bits in passes of every width; exact mode works")
