"""What stands beside every figure: settings, machine, versions. Knows no models and no results."""

from datetime import UTC, datetime
from typing import Any

from specdemo import machine
from specdemo.bench.plan import Plan

Record = dict[str, Any]


def settings_of(plan: Plan) -> Record:
    """What must be the same for results to be put together: the plan, the processor, its threads and the libraries."""
    here = machine.hardware()
    return plan.settings() | {name: here[name] for name in ("processor", "threads")} | machine.versions()


def environment(dtype: str) -> Record:
    """Where and with what this is measured. On the device thread, whose thread count matters."""
    return {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": machine.commit(),
        "dtype": dtype,
        "hardware": machine.hardware(),
        "versions": machine.versions(),
    }


def machine_line(environment: Record) -> str:
    """The same in one sentence."""
    hardware, versions = environment["hardware"], environment["versions"]
    where = hardware["gpu"] or f"{hardware['processor']}, {hardware['threads']} torch threads"
    return (
        f"Measured {environment['measured']} on {where}; {environment['dtype']}, torch {versions['torch']}, "
        f"transformers {versions['transformers']}, commit {environment['commit'] or 'unknown'}."
    )
