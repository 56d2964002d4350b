"""Measuring drafters, γ and temperatures over prompts; ours beside transformers' own decoding."""
