"""Drafts of our own, made from a target: its text, and what is trained on it."""
