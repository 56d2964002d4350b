"""The way into a workshop: its address, and the same as a QR code.

Knows addresses of this machine and the drawing of codes. Does not know routes.
"""

import io
import socket
from urllib.parse import urlsplit

import segno

from specdemo.workshop.refusal import Refusal

MOST_CHARACTERS = 200
QUIET_ZONE = 4
"""Light modules around a code, as its standard asks for."""


def qr_code(address: str) -> bytes:
    """The address as an SVG picture. `Refusal` where it is no address of a page."""
    if len(address) > MOST_CHARACTERS or not address.isprintable() or not is_page(address):
        raise Refusal("workshop_body", reason="address?")
    out = io.BytesIO()
    code = segno.make(address, error="m", micro=False)
    code.save(out, kind="svg", border=QUIET_ZONE, xmldecl=False, omitsize=True, dark="#000", light="#fff")
    return out.getvalue()


def is_page(address: str) -> bool:
    """True for what can be the address of a page."""
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def local_address() -> str | None:
    """This machine's address in its network, None without one. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that is nobody's (RFC 5737)
            found = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if found.startswith(("127.", "0.")) else found
