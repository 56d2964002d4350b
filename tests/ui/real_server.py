"""The page as `python app.py` serves it, on the embedded default: `python tests/ui/real_server.py PORT`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from app import main

if __name__ == "__main__":
    main(["--pair", "smollm2-135m", "--port", sys.argv[1]])
