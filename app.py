"""The page: `python app.py`, then open the address that it prints. Also what a Hugging Face Space starts."""

import argparse
import os
from collections.abc import Sequence

from specdemo.errors import UserError
from specdemo.ui.app import Settings, build_app, launch


def main(argv: Sequence[str] | None = None) -> None:
    """Settings from the command line, else from the environment, else the defaults."""
    plain, env = Settings(), os.environ.get
    options = argparse.ArgumentParser(description="See speculative decoding happen, on a page of your own.")
    options.add_argument(
        "--pair", action="append", help="a pair to offer, the first is loaded at once (default: all presets)"
    )
    options.add_argument("--dtype", default=env("SPECDEMO_DTYPE", plain.dtype))
    options.add_argument("--device", default=env("SPECDEMO_DEVICE", plain.device), help="auto, cpu, cuda")
    options.add_argument("--most-tokens", type=int, default=plain.max_new_tokens, help="what one visitor may ask for")
    options.add_argument("--host", default=env("GRADIO_SERVER_NAME"), help="0.0.0.0 lets other machines in")
    options.add_argument("--port", type=int, default=None)
    args = options.parse_args(argv)
    pairs = tuple(args.pair or filter(None, env("SPECDEMO_PAIRS", "").split(";"))) or plain.pairs
    try:
        page = build_app(Settings(pairs, args.dtype, args.device, args.most_tokens))
    except UserError as error:
        raise SystemExit(f"specdemo: {error}") from None
    launch(page, args.host, args.port)


if __name__ == "__main__":
    main()
