"""The embedded model's plain folder holds exactly what the GGUF file says."""

import gguf
import pytest
import torch
from transformers import AutoTokenizer

from specdemo.models.dequantise import dequantise
from specdemo.models.fetch import SMOLLM2_135M, fetch
from specdemo.models.folders import is_whole
from specdemo.models.loader import Pair


@pytest.mark.real
def test_values_ids_and_template_are_those_of_the_file(real_pair: Pair) -> None:
    file = fetch(SMOLLM2_135M)
    folder = dequantise(file, SMOLLM2_135M.member.sha256, "smollm2-135m")
    assert is_whole(folder, SMOLLM2_135M.member.sha256)
    assert "Apache License" in (folder / "LICENSE").read_text()

    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(file).tensors}
    state = real_pair.model.state_dict()
    for packed, plain in (
        ("blk.7.ffn_down.weight", "model.layers.7.mlp.down_proj.weight"),
        ("output_norm.weight", "model.norm.weight"),
    ):
        values = gguf.dequantize(tensors[packed].data, tensors[packed].tensor_type)
        assert torch.equal(state[plain], torch.tensor(values))
    assert state["lm_head.weight"].data_ptr() == state["model.embed_tokens.weight"].data_ptr()

    ours = AutoTokenizer.from_pretrained(folder)
    theirs = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    text = "Hello, wörld! 日本語 🤗 def f(x):\n    return x  <|im_end|>\t123"
    assert ours(text).input_ids == theirs(text).input_ids
    assert ours.chat_template == theirs.chat_template
    assert ours.get_vocab() == theirs.get_vocab()
