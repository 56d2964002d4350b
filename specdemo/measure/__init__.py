"""Measurements that a visitor asks for: sweeps over γ, T, drafts and policies, and what a wide pass costs."""
