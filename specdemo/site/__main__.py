"""`python -m specdemo.site`: writes the static site. Needs nothing but Python itself."""

import argparse
import sys
from pathlib import Path

from specdemo.site.folder import NotOurs, TooLarge, write


def main() -> int:
    """Writes the folder and says how large it became."""
    parser = argparse.ArgumentParser(prog="python -m specdemo.site", description="The static site as a folder.")
    parser.add_argument("--out", type=Path, default=Path("out/static"), help="the folder (default: %(default)s)")
    parser.add_argument("--repository", default="", help="address of the project, named at the foot of the page")
    args = parser.parse_args()
    try:
        sizes = write(args.out, repository=args.repository)
    except (NotOurs, TooLarge) as error:
        print(f"specdemo: {error}", file=sys.stderr)
        return 1
    runs, largest, whole = len(sizes.packs) - 1, max(sizes.packs.values()) / 1000, sizes.total / 1000
    print(f"{args.out / 'index.html'}: page {sizes.page / 1000:.1f} kB; lessons and {runs} recorded runs of at most")
    print(f"{largest:.1f} kB each; {whole:.0f} kB in all. Open it from the disk or serve the folder.")
    return 0


sys.exit(main())
