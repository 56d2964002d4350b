"""Gradio's own scripts and styles, compressed once and kept by browsers.

Gradio compresses a file at every request, on its event loop: 80 ms for the plotly bundle, with every stream
standing still. Its files carry a hash in their names, so a browser may keep them for good. Knows a folder of
files. Does not know what is in them.
"""

import mimetypes
from functools import cache
from pathlib import Path

import brotli
from gradio.routes import BUILD_PATH_LIB
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FOLDER = Path(BUILD_PATH_LIB)
QUALITY = 5
KEEP = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}


def route() -> Route:
    """Goes before gradio's own route for these files."""
    return Route("/assets/{path:path}", serve)


def serve(request: Request) -> Response:
    """A file of the folder. Runs on a worker thread, as it is no coroutine."""
    path = _files().get(request.path_params["path"])
    if path is None:
        return Response(status_code=404)
    kind = "text/javascript" if path.suffix == ".js" else mimetypes.guess_type(path.name)[0]
    if path.suffix in (".js", ".css") and "br" in request.headers.get("accept-encoding", ""):
        return Response(_compressed(path), media_type=kind, headers=KEEP | {"Content-Encoding": "br"})
    return Response(path.read_bytes(), media_type=kind, headers=KEEP)


@cache
def _files() -> dict[str, Path]:
    """All files by the rest of their address: what a visitor sends is looked up and never becomes a path."""
    return {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.is_file()}


@cache
def _compressed(path: Path) -> bytes:
    data: bytes = brotli.compress(path.read_bytes(), quality=QUALITY)
    return data
