#!/bin/sh
# The whole check of the GPU path, a few minutes on one GPU; nothing is fetched. Run it in the repository's root with
# the environment's python first on PATH. What to look for stands before each part.
set -e
python -c 'import sys, torch; torch.cuda.is_available() or sys.exit("torch sees no GPU here"); print(torch.cuda.get_device_name())'

echo "== Graphs say what eager passes say, and nothing in a draft waits for the GPU: all passed, none skipped"
python -m pytest -q -rs tests/models/test_captured.py

echo "== One transfer a round (a token alone: 1), path 'captured', time / limit at most 1.05, 'other' at most 5 %"
python -m specdemo bench --device cuda --shapes qwen2.5-1.5b,0.5b --max-new-tokens 96

echo "== The same for a pair in which the draft is cheap: the speedup should come near 'predicted'"
python -m specdemo bench --device cuda --shapes qwen2.5-7b,0.5b --max-new-tokens 96
