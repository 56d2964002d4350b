"""Pure maths and data of speculative decoding: torch and the standard library only."""
