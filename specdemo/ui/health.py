"""`/healthz`: whether the server is well, for whoever restarts it when it is not.

Knows the device thread, the models and the counts of runs. Answers at once whatever they do: it takes no turn.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from specdemo import __version__
from specdemo.device import Device
from specdemo.ui.models import Models
from specdemo.ui.runs import Runs

STUCK_S = 60.0
"""Seconds after which a turn on the device counts as stuck: a long one takes a second."""
LOADING_S = 900.0
"""The same while models are being loaded or made for the first time, which is one turn."""


def route(device: Device, models: Models, runs: Runs) -> Route:
    """200 while the server is well, 503 when the device thread has died or is stuck."""

    async def healthz(_: Request) -> Response:
        state = health(device, models, runs)
        code = 200 if state["status"] == "ok" else 503
        return JSONResponse(state, code, headers={"Cache-Control": "no-store"})

    return Route("/healthz", healthz)


def health(device: Device, models: Models, runs: Runs) -> dict[str, object]:
    """What the answer says."""
    statuses = models.statuses
    turn_s = device.turn_s
    patience_s = LOADING_S if any(status.state == "loading" for status in statuses) else STUCK_S
    running, waiting = runs.counts
    return {
        "status": "ok" if turn_s <= patience_s else "stuck" if turn_s != float("inf") else "dead",
        "version": __version__,
        "models": {status.spec: _model(status.state, status.facts) for status in statuses},
        "device": {"jobs": device.busy, "turn_s": round(turn_s, 3) if turn_s != float("inf") else None},
        "runs": {"running": running, "waiting": waiting},
    }


def _model(state: str, facts: tuple[str, str]) -> dict[str, str]:
    return {"state": state} | ({"dtype": facts[0], "device": facts[1]} if state == "ready" else {})
