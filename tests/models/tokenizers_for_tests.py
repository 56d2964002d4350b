"""Small fast tokenizers of every family, built in memory: byte-level, SentencePiece-like and WordPiece."""

from collections.abc import Sequence
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA = "{{ bos_token }}{% for message in messages %}[INST] {{ message['content'] | trim }} [/INST]{% endfor %}"

LINES = (
    "The cat sat on the mat, and the cat sat still.",
    "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
    "日本語 の 文章 🤗 é ü ñ and some more English text about the cat.",
    "<|im_start|>user\nthe end <|im_end|>\n\n\n",
)


def byte_level(lines: Sequence[str] = (), merges: int = 200, **kwargs: Any) -> PreTrainedTokenizerFast:
    """GPT-2, Llama-3, Qwen, SmolLM2. Without lines: one token per byte. Ids 0, 1, 2 are control tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    control = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    size = len(control) + len(alphabet) + (merges if lines else 0)
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=control, initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(lines, trainer)
    settings = {"eos_token": "<|im_end|>", "bos_token": "<|im_start|>", "chat_template": CHATML} | kwargs
    return PreTrainedTokenizerFast(tokenizer_object=backend, **settings)


def byte_fallback(**kwargs: Any) -> PreTrainedTokenizerFast:
    """Llama-2, Mistral: ▁ for space, <0xF0> for what has no token, a Strip decoder. <unk> 0, <s> 1, </s> 2."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += [
        "▁",
        *"abcdefghijklmnopqrstuvwxyzINST[]/.,!?",
        "ca",
        "cat",
        "▁cat",
        "th",
        "the",
        "▁the",
        "▁▁",
        "at",
        "sat",
    ]
    merges = [("▁", "▁"), ("c", "a"), ("ca", "t"), ("▁", "cat"), ("t", "h"), ("th", "e"), ("▁", "the"), ("a", "t")]
    merges += [("s", "at")]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    backend = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    stages = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    backend.decoder = decoders.Sequence(stages)
    settings = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True} | kwargs
    return PreTrainedTokenizerFast(tokenizer_object=backend, **({"chat_template": LLAMA} | settings))


def metaspace(words: Sequence[str] = ("▁the", "▁cat", "▁sat", "▁", "s"), **kwargs: Any) -> PreTrainedTokenizerFast:
    """SentencePiece unigram with the Metaspace decoder."""
    scored = [("<unk>", 0.0), ("</s>", 0.0), *((word, -2.0) for word in words)]
    scored += [(letter, -9.0) for letter in "abcdefghijklmnopqrtuvwxyz</>."]
    backend = Tokenizer(models.Unigram(scored, unk_id=0))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", eos_token="</s>", **kwargs)


def word_piece(**kwargs: Any) -> PreTrainedTokenizerFast:
    """BERT-like: ## continues a word, spaces are the decoder's."""
    pieces = ["[UNK]", "the", "cat", "sat", "##s", "##ting", "."]
    backend = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.decoder = decoders.WordPiece(cleanup=False)
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", **kwargs)


def with_added(tokenizer: PreTrainedTokenizerFast, *tokens: str, special: bool) -> PreTrainedTokenizerFast:
    """The tokenizer with added tokens of one kind, at the next ids."""
    tokenizer.add_tokens([AddedToken(token, special=special, normalized=False) for token in tokens])
    return tokenizer
