"""What a workshop refuses, with the status of the answer.

Knows HTTP statuses. The sentences are in the locale files, as for every error.
"""

from specdemo.errors import UserError


class Refusal(UserError):
    """A request that a workshop does not grant. status: of the HTTP answer."""

    def __init__(self, key: str, status: int = 400, **params: object) -> None:
        super().__init__(key, **params)
        self.status = status
