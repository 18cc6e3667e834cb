"""Vectors for a diagnosis: taken from a file where they are known, made in blocks where they are not.

Each block is saved before the next begins, so a run that was killed goes on where it stopped.
"""

from collections.abc import Callable, Sequence
from functools import cache as once
from pathlib import Path

from ragkit.dense.cache import CachedEncoder
from ragkit.dense.encoder import Kind, TextEncoder, load_encoder
from ragkit.progress import progress

BLOCK = 1_000  # texts that are encoded before the file is written anew
FOLDER = ".ragkit-cache"


def cache_file(beside: Path, encoder: str | None) -> Path:
    """Where the vectors of an encoder are kept, beside a report: a file a model.

    >>> cache_file(Path("out/report.html"), "some/model").as_posix()
    'out/.ragkit-cache/some-model.npz'
    """
    name = "".join(sign if sign.isalnum() else "-" for sign in (encoder or "minilm")).strip("-")
    return beside.parent / FOLDER / f"{name}.npz"


def with_vectors(
    documents: Sequence[str],
    queries: Sequence[str],
    file: Path,
    encoder: str | None = None,
    known: CachedEncoder | None = None,
    block: int = BLOCK,
) -> CachedEncoder:
    """An encoder that knows these texts: those in `known` or in the file, and the others encoded into the file.

    `encoder` is the name or path of a model, the packaged one by default. Nothing is encoded, no model is loaded, and
    no file is written where all texts are known. Blank texts need no vector. ValueError for a file that holds vectors
    of another model, or is damaged; ImportError and FileNotFoundError as `load_encoder` has them.
    """
    make = once(lambda: load_encoder(encoder))
    wanted: list[tuple[Kind, list[str]]] = [
        ("document", list(dict.fromkeys(text for text in documents if text.strip()))),
        ("query", list(dict.fromkeys(text for text in queries if text.strip()))),
    ]
    if known is not None and all(all(known.knows(texts, kind)) for kind, texts in wanted):
        return known
    cache = _begun(file, encoder, make)
    for kind, texts in wanted:
        new = [text for text, there in zip(texts, cache.knows(texts, kind), strict=True) if not there]
        blocks = [new[at : at + block] for at in range(0, len(new), block)]
        for part in progress(blocks, f"encode, {block} {kind}s a step", len(blocks)):
            try:
                cache = cache.with_texts(part, kind)
            except ValueError as error:
                raise ValueError(f"{file}: {error}. Give --vectors another file, or delete this one") from None
            file.parent.mkdir(parents=True, exist_ok=True)
            cache.save(file)
    return cache


def _begun(file: Path, encoder: str | None, make: Callable[[], TextEncoder]) -> CachedEncoder:
    if not file.exists():
        made = make()
        return CachedEncoder.empty(dict(getattr(made, "record", {})), made.dim, make)
    try:
        cache = CachedEncoder.load(file, make)
    except ValueError as error:
        raise ValueError(f"{error}. Delete it, and its texts are encoded again") from None
    if encoder is not None and cache.record.get("model") != encoder:
        raise ValueError(
            f"{file} holds vectors of {cache.record.get('model')}, and the encoder is {encoder}. Give --vectors "
            "another file"
        )
    return cache
