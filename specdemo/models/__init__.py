"""Real and toy models behind the protocols of `core`."""
