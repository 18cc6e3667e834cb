"""A progress bar for long work, shown in a terminal only."""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], label: str, total: int | None = None) -> Iterable[T]:
    """Iterate over `items` behind a tqdm bar; without tqdm, or where nobody watches, iterate silently."""
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    # disable=None: silent unless stderr is a terminal; a bar in a notebook's stderr would be an output of the page
    bar: Iterable[T] = tqdm(items, desc=label, total=total, disable=None, delay=0.5)
    return bar
