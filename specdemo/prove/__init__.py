"""Proofs that a learner can run: is a rule of verification lossless, and what does it cost?"""
