"""An index in one file: plain, versioned, and with a checksum over all of it.

The first line names the format and its version. The second is JSON: the analyzer, k1 and b, and which blocks
follow, each with its size in bytes. The blocks are the arrays, little-endian, and the ids and the terms as JSON
lists; each is filled up with spaces to eight bytes. The last 32 bytes are the SHA-256 of everything before them.
Nothing in the file is executed, as a pickle would be.
"""

import os
from collections.abc import Mapping
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from ragkit.lexical.postings import Postings

NAME, VERSION = b"ragkit index", 1
ARRAYS = {"offsets": "<i8", "doc_numbers": "<i4", "frequencies": "<i4", "doc_lengths": "<i4"}


def write(path: str | os.PathLike[str], postings: Postings, settings: Mapping[str, Any]) -> None:
    """Write postings, and settings that JSON can hold. What stood under `path` is replaced when all is written."""
    blocks = {name: np.asarray(getattr(postings, name), dtype).tobytes() for name, dtype in ARRAYS.items()}
    blocks |= {"doc_ids": _json(list(postings.doc_ids)), "terms": _json(list(postings.vocabulary))}
    sizes = {name: len(block) for name, block in blocks.items()}
    head = b"%s %d\n%s\n" % (NAME, VERSION, _json({"settings": dict(settings), "blocks": sizes}))
    target, digest = Path(path), sha256()
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            for block in (head, *blocks.values()):
                for piece in (block, b" " * (-len(block) % 8)):
                    digest.update(piece)
                    file.write(piece)
            file.write(digest.digest())
        except BaseException:
            file.close()
            Path(file.name).unlink()
            raise
    Path(file.name).replace(target)


def read(path: str | os.PathLike[str]) -> tuple[Postings, dict[str, Any]]:
    """Read what `write` wrote. ValueError, with the path, for a file that is another, incomplete, or altered."""
    data = Path(path).read_bytes()
    name, _, version = data[: data.find(b"\n")].rpartition(b" ")
    if name != NAME:
        raise ValueError(f"{path} is not an index of ragkit")
    if version != b"%d" % VERSION:
        raise ValueError(f"{path} is in version {version.decode(errors='replace')} of the format, not {VERSION}")
    if sha256(memoryview(data)[:-32]).digest() != data[-32:]:
        raise ValueError(f"{path} is incomplete or was altered: its checksum is not that of its content")
    end = data.index(b"\n", data.index(b"\n") + 1) + 1
    head = loads(_text(data[:end].split(b"\n")[1]))
    blocks, at = {}, end + -end % 8
    for block, size in head["blocks"].items():
        blocks[block] = memoryview(data)[at : at + size]
        at += size + -size % 8
    # The arrays are views of the bytes that were read: no copy is made, and bytes cannot be written to.
    arrays = {name: np.frombuffer(blocks[name], dtype) for name, dtype in ARRAYS.items()}
    doc_ids, terms = (loads(_text(blocks[name])) for name in ("doc_ids", "terms"))
    vocabulary = {term: number for number, term in enumerate(terms)}
    return Postings(
        tuple(doc_ids),
        vocabulary,
        arrays["offsets"].astype(np.int64, copy=False),
        *(arrays[name].astype(np.intc, copy=False) for name in ("doc_numbers", "frequencies", "doc_lengths")),
    ), head["settings"]


def _json(value: object) -> bytes:
    # Half of a surrogate pair may stand in a text, alone; UTF-8 proper has no place for it.
    return dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _text(block: bytes | memoryview) -> str:
    return bytes(block).decode("utf-8", "surrogatepass")
