"""scifact's dense run: `python benchmarks/scifact_dense.py` encodes the collection and keeps who was found.

Encoding takes minutes, so the tests read what this leaves in tests/data/scifact-minilm.run.gz: for each of the 300
queries the 1,000 documents nearest to it by exact cosine, under the packaged MiniLM. The file holds ids and scores,
to seven decimals, and no text. The collection lies in the folder that the environment variable RAGKIT_COLLECTIONS
names.
"""

from pathlib import Path
from time import perf_counter

from scifact import COLLECTION, load_docs, load_queries

from ragkit import DenseIndex, Run, load_encoder, write_run

KEPT = Path(__file__).parents[1] / "tests/data/scifact-minilm.run.gz"
DEPTH, DECIMALS = 1_000, 7


def main() -> None:
    if not COLLECTION:
        raise SystemExit("RAGKIT_COLLECTIONS names no folder")
    began = perf_counter()
    index = DenseIndex.build(load_docs(), load_encoder())
    queries, _ = load_queries()
    found = index.run(queries, DEPTH)
    # rounded, two scores can be equal that were not: ranked anew, by the one tie rule
    rounded = Run({qid: {hit.doc_id: round(hit.score, DECIMALS) for hit in hits} for qid, hits in found.items()})
    moved = sum(rounded.ids(qid) != found.ids(qid) for qid in found)
    KEPT.parent.mkdir(exist_ok=True)
    write_run(KEPT, rounded, tag="all-MiniLM-L6-v2")
    print(f"{KEPT.name}: {len(rounded)} queries, {KEPT.stat().st_size:,} bytes, {perf_counter() - began:.0f} s;")
    print(f"rounding changed the order of {moved}; {len(index.truncated or {})} documents were cut")


if __name__ == "__main__":
    main()
