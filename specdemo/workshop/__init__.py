"""A workshop: one presenter, a class that follows on its own screens, votes and runs.

Knows rooms, votes and HTTP. Does not know models, gradio or how a run is made: what it needs of them is handed in.
"""
