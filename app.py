"""The page: `python app.py`, then open the address that it prints. Also what a Hugging Face Space starts."""

import os
import sys
from collections.abc import Sequence

from specdemo.errors import UserError
from specdemo.ui import hosting, zero_gpu
from specdemo.ui.app import build_app, serve


def main(argv: Sequence[str] | None = None) -> None:
    """Settings from the command line, else from the environment, else the defaults."""
    try:
        settings, make_runs = zero_gpu.prepare(hosting.settings(argv, os.environ), os.environ)
        page = build_app(settings, make_runs=make_runs)
    except UserError as error:
        raise SystemExit(f"specdemo: {error}") from None
    for warning in hosting.strangers(os.environ):
        print(f"specdemo: {warning}", file=sys.stderr)
    serve(page)


if __name__ == "__main__":
    main()
