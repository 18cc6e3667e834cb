"""Measure retrieval: BM25, dense retrieval and recall, each number explained.

`import ragkit` loads numpy and nothing else. A public name is fetched from its room when it is first used,
so a reader meets `from ragkit import idf` and never needs to know that `idf` lives in `ragkit.lexical.scoring`.

>>> from ragkit import idf
>>> f"{idf(12_000, 3):.4f}"
'8.1400'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # so that editors and the type checker see what __getattr__ finds at run time
    from ragkit.corpora.collections import Corpus as Corpus
    from ragkit.corpora.collections import load_collection as load_collection
    from ragkit.corpora.collections import load_corpus as load_corpus
    from ragkit.corpora.synthetic import planted_corpus as planted_corpus
    from ragkit.dense.encoder import load_encoder as load_encoder
    from ragkit.dense.graph import HnswIndex as HnswIndex
    from ragkit.dense.graph import ann_recall as ann_recall
    from ragkit.dense.scan import DenseIndex as DenseIndex
    from ragkit.dense.scan import scan_cost as scan_cost
    from ragkit.diagnosis.buckets import Triage as Triage
    from ragkit.diagnosis.buckets import triage as triage
    from ragkit.diagnosis.codes import code_like as code_like
    from ragkit.diagnosis.levers import Diagnosis as Diagnosis
    from ragkit.diagnosis.levers import diagnose as diagnose
    from ragkit.lexical.analysis import Analyzer as Analyzer
    from ragkit.lexical.index import BM25Index as BM25Index
    from ragkit.lexical.scoring import bm25_score as bm25_score
    from ragkit.lexical.scoring import idf as idf
    from ragkit.lexical.scoring import length_factor as length_factor
    from ragkit.lexical.scoring import saturation as saturation
    from ragkit.measure.fused import rrf as rrf
    from ragkit.measure.fused import weighted_fusion as weighted_fusion
    from ragkit.measure.labels import Label as Label
    from ragkit.measure.labels import Qrels as Qrels
    from ragkit.measure.labels import agreement as agreement
    from ragkit.measure.labels import qrels_from_labels as qrels_from_labels
    from ragkit.measure.labels import read_labels as read_labels
    from ragkit.measure.labels import write_labels as write_labels
    from ragkit.measure.metrics import average_precision as average_precision
    from ragkit.measure.metrics import coverage_at_k as coverage_at_k
    from ragkit.measure.metrics import distinct_at_k as distinct_at_k
    from ragkit.measure.metrics import judged_at_k as judged_at_k
    from ragkit.measure.metrics import ndcg_at_k as ndcg_at_k
    from ragkit.measure.metrics import per_query as per_query
    from ragkit.measure.metrics import precision_at_k as precision_at_k
    from ragkit.measure.metrics import recall_at_k as recall_at_k
    from ragkit.measure.metrics import reciprocal_rank as reciprocal_rank
    from ragkit.measure.paired import Comparison as Comparison
    from ragkit.measure.paired import compare as compare
    from ragkit.measure.paired import compare_all as compare_all
    from ragkit.measure.paired import queries_needed as queries_needed
    from ragkit.measure.pooling import pool as pool
    from ragkit.measure.runs import Mean as Mean
    from ragkit.measure.runs import fold as fold
    from ragkit.measure.trec import read_qrels as read_qrels
    from ragkit.measure.trec import read_run as read_run
    from ragkit.measure.trec import write_qrels as write_qrels
    from ragkit.measure.trec import write_run as write_run
    from ragkit.ranking import Hit as Hit
    from ragkit.ranking import Run as Run
    from ragkit.ranking import rank as rank

__version__ = "0.1.0"

# public name -> the module that defines it
_HOME = {
    "idf": "ragkit.lexical.scoring",
    "saturation": "ragkit.lexical.scoring",
    "length_factor": "ragkit.lexical.scoring",
    "bm25_score": "ragkit.lexical.scoring",
    "Analyzer": "ragkit.lexical.analysis",
    "BM25Index": "ragkit.lexical.index",
    "load_encoder": "ragkit.dense.encoder",
    "DenseIndex": "ragkit.dense.scan",
    "scan_cost": "ragkit.dense.scan",
    "HnswIndex": "ragkit.dense.graph",
    "ann_recall": "ragkit.dense.graph",
    "recall_at_k": "ragkit.measure.metrics",
    "coverage_at_k": "ragkit.measure.metrics",
    "precision_at_k": "ragkit.measure.metrics",
    "distinct_at_k": "ragkit.measure.metrics",
    "judged_at_k": "ragkit.measure.metrics",
    "reciprocal_rank": "ragkit.measure.metrics",
    "average_precision": "ragkit.measure.metrics",
    "ndcg_at_k": "ragkit.measure.metrics",
    "per_query": "ragkit.measure.metrics",
    "compare": "ragkit.measure.paired",
    "compare_all": "ragkit.measure.paired",
    "Comparison": "ragkit.measure.paired",
    "queries_needed": "ragkit.measure.paired",
    "rrf": "ragkit.measure.fused",
    "weighted_fusion": "ragkit.measure.fused",
    "Label": "ragkit.measure.labels",
    "Qrels": "ragkit.measure.labels",
    "read_labels": "ragkit.measure.labels",
    "write_labels": "ragkit.measure.labels",
    "qrels_from_labels": "ragkit.measure.labels",
    "agreement": "ragkit.measure.labels",
    "pool": "ragkit.measure.pooling",
    "Mean": "ragkit.measure.runs",
    "fold": "ragkit.measure.runs",
    "Hit": "ragkit.ranking",
    "Run": "ragkit.ranking",
    "rank": "ragkit.ranking",
    "Corpus": "ragkit.corpora.collections",
    "load_corpus": "ragkit.corpora.collections",
    "load_collection": "ragkit.corpora.collections",
    "planted_corpus": "ragkit.corpora.synthetic",
    "diagnose": "ragkit.diagnosis.levers",
    "Diagnosis": "ragkit.diagnosis.levers",
    "triage": "ragkit.diagnosis.buckets",
    "Triage": "ragkit.diagnosis.buckets",
    "code_like": "ragkit.diagnosis.codes",
    "read_qrels": "ragkit.measure.trec",
    "write_qrels": "ragkit.measure.trec",
    "read_run": "ragkit.measure.trec",
    "write_run": "ragkit.measure.trec",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
    if name not in _HOME:
        raise AttributeError(f"ragkit has no public name {name!r}; the public names are {', '.join(_HOME)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
