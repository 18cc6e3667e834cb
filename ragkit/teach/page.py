"""Pieces of HTML that the parts of a page share: escaping, the style sheet, a script with its data."""

import json
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

__all__ = ["attributes", "escape", "key_of", "script", "style"]


def style() -> str:
    """The style sheet of the teaching parts, for viewers that do not load the book's own."""
    return f"<style>{_asset('teach.css')}</style>"


def script(name: str, data: Mapping[str, Any]) -> str:
    """A script of this room, called with its data.

    The data is an argument of the script's function, because some viewers separate an element from the scripts
    beside it; `</` and `<!--` are escaped, because they would end the script, or keep it from ending.
    """
    payload = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    payload = payload.replace("</", "<\\/").replace("<!--", "\\u003c!--")
    return f"<script>({_asset(name).strip().rstrip(';')})({payload});</script>"


def key_of(*parts: str) -> str:
    """A short key that a script finds its element by; the same content gives the same key."""
    return sha256("\0".join(parts).encode()).hexdigest()[:10]


def attributes(**values: str | int | float | bool) -> str:
    """Attributes of an element, escaped. True writes the bare name, False writes nothing; _ becomes -.

    >>> attributes(type="range", data_key="a<b", disabled=True, checked=False)
    ' type="range" data-key="a&lt;b" disabled'
    """
    written = []
    for name, value in values.items():
        name = name.strip("_").replace("_", "-")
        if value is True:
            written.append(f" {name}")
        elif value is not False:
            written.append(f' {name}="{escape(str(value))}"')
    return "".join(written)


def _asset(name: str) -> str:
    return files("ragkit.teach").joinpath(name).read_text(encoding="utf-8")
