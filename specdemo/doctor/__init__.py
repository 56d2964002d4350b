"""`python -m specdemo doctor`: whether this machine is ready for the page, and what to do where it is not."""
