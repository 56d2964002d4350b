"""specdemo: speculative decoding that a class can see, check and measure."""

__version__ = "0.1.0"
