"""Vectors that were made before: an encoder that remembers them, and the file that holds them.

With the vectors of passages and queries in a file, dense retrieval needs neither a model nor torch. A text is found
by its hash, so a vector can never be taken for that of a changed text: it is encoded anew.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ragkit.dense.encoder import Kind, TextEncoder

VERSION = 1
_KEY = 16  # bytes of the hash that are kept: a chance collision needs some 10 ** 19 texts


@dataclass(frozen=True, eq=False)
class CachedEncoder:
    """An encoder that takes the vectors it knows from memory, and asks `make` for an encoder for the others.

    Vectors are rounded to float16, known or new, so that one text always has one vector; that moves a cosine by
    less than 0.001. `record` names the model and the sha256 of its weights. Nothing is added to a cache: `with_texts`
    gives a larger one. Where a text is new and `make` is None, encoding it is a LookupError that shows the text.
    """

    record: dict[str, Any]
    dim: int
    keys: dict[bytes, int] = field(repr=False)
    vectors: NDArray[np.float16] = field(repr=False)  # (n, dim)
    n_pieces: NDArray[np.uint32] = field(repr=False)  # (n,) word pieces of each text, before anything is cut
    make: Callable[[], TextEncoder] | None = None

    @classmethod
    def empty(
        cls, record: dict[str, Any], dim: int, make: Callable[[], TextEncoder] | None = None
    ) -> "CachedEncoder":
        """A cache that knows nothing yet, for the model that `record` names."""
        return cls(dict(record), dim, {}, np.empty((0, dim), np.float16), np.empty(0, np.uint32), make)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def window(self) -> int | None:
        """Word pieces that the model reads; None where the record does not say."""
        return self.record.get("window")

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> NDArray[np.float32]:
        """Vectors of the texts, float32 (n, dim). Only what is not known is encoded."""
        rows = self._rows(texts, kind)
        if -1 in rows:
            return self.with_texts(texts, kind).encode(texts, kind)
        return self.vectors[rows].astype(np.float32)

    def count(self, texts: Sequence[str], kind: Kind = "document") -> list[int]:
        """Word pieces of each text."""
        rows = self._rows(texts, kind)
        if -1 in rows:
            return self.with_texts(texts, kind).count(texts, kind)
        return [int(n) for n in self.n_pieces[rows]]

    def knows(self, texts: Sequence[str], kind: Kind = "document") -> list[bool]:
        """Whether each text has its vector here.

        >>> CachedEncoder.empty({"model": "none"}, dim=2).knows(["a text"])
        [False]
        """
        return [row >= 0 for row in self._rows(texts, kind)]

    def with_texts(self, texts: Sequence[str], kind: Kind = "document") -> "CachedEncoder":
        """A cache that also knows these texts. ValueError where `make` gives another model than the record names."""
        new = list(
            dict.fromkeys(text for text, known in zip(texts, self.knows(texts, kind), strict=True) if not known)
        )
        if not new:
            return self
        if self.make is None:
            raise LookupError(f"no vector is stored for {new[0][:60]!r} ({kind}), and there is no encoder to make it")
        encoder = self.make()
        record = getattr(encoder, "record", {})
        if (record.get("model"), record.get("weights")) != (self.record.get("model"), self.record.get("weights")):
            raise ValueError(
                f"the stored vectors are of {self.record}, the encoder is {dict(record)}; do not mix them"
            )
        vectors = np.vstack([self.vectors, encoder.encode(new, kind).astype(np.float16)])
        counts = encoder.count(new, kind) if hasattr(encoder, "count") else [0] * len(new)
        keys = self.keys | {_key(text, kind): len(self.keys) + number for number, text in enumerate(new)}
        return replace(
            self, keys=keys, vectors=vectors, n_pieces=np.append(self.n_pieces, np.array(counts, np.uint32))
        )

    def with_cache(self, other: "CachedEncoder") -> "CachedEncoder":
        """A cache that knows what both know. ValueError where the two are of different models."""
        if self.record != other.record:
            raise ValueError(f"one cache is of {self.record}, the other of {other.record}; do not mix them")
        new = {key: row for key, row in other.keys.items() if key not in self.keys}
        rows = list(new.values())
        return replace(
            self,
            keys=self.keys | {key: len(self.keys) + number for number, key in enumerate(new)},
            vectors=np.vstack([self.vectors, other.vectors[rows]]),
            n_pieces=np.append(self.n_pieces, other.n_pieces[rows]),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the cache into one file, in numpy's format. What stood there is replaced when all is written."""
        target = Path(path)
        arrays: dict[str, NDArray[Any]] = {
            "keys": np.frombuffer(b"".join(self.keys), np.uint8).reshape(-1, _KEY),
            "vectors": self.vectors,
            "n_pieces": self.n_pieces,
        }
        head = {"format": "ragkit vectors", "version": VERSION, "record": self.record, "sha256": _digest(arrays)}
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            try:
                np.savez(file, allow_pickle=False, head=np.frombuffer(dumps(head).encode(), np.uint8), **arrays)
            except BaseException:
                file.close()
                Path(file.name).unlink()
                raise
        Path(file.name).replace(target)

    @classmethod
    def load(cls, path: str | os.PathLike[str], make: Callable[[], TextEncoder] | None = None) -> "CachedEncoder":
        """Read what `save` wrote. ValueError for a file that is not a cache, is incomplete, or was altered."""
        try:
            with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                head = loads(bytes(file["head"]))
                arrays = {name: file[name] for name in ("keys", "vectors", "n_pieces")}
        except (BadZipFile, AttributeError, KeyError, ValueError, EOFError, TypeError) as error:
            raise ValueError(f"{path} holds no vectors of ragkit, or is incomplete: {error}") from error
        if head["version"] != VERSION:
            raise ValueError(f"{path} is in version {head['version']} of the format, not {VERSION}")
        if head["sha256"] != _digest(arrays):
            raise ValueError(f"{path} was altered: its checksum is not that of its content")
        for array in arrays.values():
            array.setflags(write=False)
        keys = {bytes(key): number for number, key in enumerate(arrays["keys"])}
        return cls(head["record"], arrays["vectors"].shape[1], keys, arrays["vectors"], arrays["n_pieces"], make)

    def _rows(self, texts: Sequence[str], kind: Kind) -> list[int]:
        if isinstance(texts, str):
            raise TypeError("texts is one string; give a list of texts")
        return [self.keys.get(_key(text, kind), -1) for text in texts]


def _key(text: str, kind: str) -> bytes:
    return sha256(f"{kind}\n{text}".encode("utf-8", "surrogatepass")).digest()[:_KEY]


def _digest(arrays: dict[str, NDArray[Any]]) -> str:
    digest = sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
