"""Requests read strictly: bodies no larger than agreed, JSON that is an object, and who asks.

Knows HTTP requests. Does not know what they are about.
"""

import json
from typing import Any

from starlette.requests import Request

from specdemo.workshop import records
from specdemo.workshop.refusal import Refusal

MOST_JSON = 16_000
ME = "x-attendee"
"""The header with an attendee's name: random, made by their browser, and nothing else."""
BEARER = "Bearer "


async def body_of(request: Request, most: int) -> bytes:
    """The body, `Refusal` as soon as it is larger than `most` bytes."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise Refusal("workshop_body_large", status=413, most=most // 1000)
    return bytes(data)


async def fields_of(request: Request) -> dict[str, Any]:
    """The body as a JSON object. A page of another address cannot send this kind of content unasked."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise Refusal("workshop_body", status=415, reason="content-type?")
    data = await body_of(request, MOST_JSON)
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refusal("workshop_body", reason="JSON?") from None
    if not isinstance(value, dict):
        raise Refusal("workshop_body", reason="JSON?")
    return value


def _no_constant(name: str) -> float:
    raise ValueError(name)


def secret_of(request: Request) -> str:
    """The presenter's secret that a request carries, or ""."""
    given = request.headers.get("authorization", "")
    return given.removeprefix(BEARER).strip() if given.startswith(BEARER) else ""


def attendee_of(request: Request) -> str:
    """The attendee's random name, else `Refusal`."""
    me = records.name(ME, request.headers.get(ME))
    if len(me) < 12:
        raise Refusal("workshop_body", reason=f"{ME}?")
    return me
