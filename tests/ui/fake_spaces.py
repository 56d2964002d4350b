"""The rules of the `spaces` package without a Space: a forked process for a call, pickles in, pickles out."""

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

END = "end"


def module(refuses: Exception | None = None) -> ModuleType:
    """A module for `sys.modules["spaces"]`. durations: what was asked for. refuses: raised in place of a GPU."""
    fake = ModuleType("spaces")
    fake.durations = []

    def gpu(task: Callable[..., Iterator[Any]], duration: Callable[..., int]) -> Callable[..., Iterator[Any]]:
        def handler(*args: Any) -> Iterator[Any]:
            fake.durations.append(duration(*args))
            if refuses is not None:
                raise refuses
            yield from lent(task, pickle.dumps(args))

        return handler

    fake.GPU = gpu
    return fake


def lent(task: Callable[..., Iterator[Any]], args: bytes) -> Iterator[Any]:
    """The items of the task, which another process makes; the process ends when nobody wants them any more."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def work() -> None:
        for item in task(*pickle.loads(args)):
            there.send_bytes(pickle.dumps(item))
        there.send_bytes(pickle.dumps(END))

    process = context.Process(target=work, daemon=True)
    process.start()
    there.close()
    try:
        while (item := pickle.loads(here.recv_bytes())) != END:
            yield item
    finally:
        process.terminate()
        process.join()
