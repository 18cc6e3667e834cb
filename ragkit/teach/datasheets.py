"""What the datasheets of the two collections show: counts, labels, agreement, and the collections to leaf through.

Tables are Markdown, the views HTML. Every figure is computed from the collection when the page is built.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from json import loads
from statistics import median
from typing import Any

from ragkit.corpora.asked import FOLDERS
from ragkit.corpora.chunks import WINDOW, Passages
from ragkit.corpora.collections import Corpus, load_corpus
from ragkit.corpora.duplicates import near_duplicates
from ragkit.dense.scan import DenseIndex
from ragkit.lexical.index import BM25Index
from ragkit.measure.labels import Label, Qrels, agreement
from ragkit.measure.metrics import coverage_at_k, recall_at_k
from ragkit.measure.runs import Mean
from ragkit.ranking import Run
from ragkit.teach.page import escape, key_of, script, style

K = 10


@dataclass(frozen=True)
class Datasheet:
    """A collection of this book, with the runs that its labels were pooled from."""

    corpus: Corpus

    @classmethod
    def of(cls, name: str) -> "Datasheet":
        """The datasheet of a collection by its name."""
        return cls(load_corpus(name))

    @cached_property
    def passages(self) -> Passages:
        """The passages of the default chunking."""
        return self.corpus.passages()

    @cached_property
    def qrels(self) -> Qrels:
        """Grades of these passages; partials count as not relevant."""
        return self.corpus.qrels()

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The ten best passages of BM25 and of MiniLM for every query."""
        return {
            "BM25": BM25Index.build(self.passages).run(self.corpus.queries, k=K),
            "MiniLM": DenseIndex.build(self.passages, self.corpus.vectors).run(self.corpus.queries, k=K),
        }

    @cached_property
    def second_reading(self) -> list[dict[str, Any]]:
        """The pairs that were read twice: both labels, and the one that was settled on."""
        file = files("ragkit.corpora") / FOLDERS[self.corpus.name] / "second_reading.jsonl"
        return [loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]

    @cached_property
    def pieces(self) -> dict[str, int]:
        """Word pieces of each whole document: those of its passages, for no piece crosses white space."""
        counts: dict[str, int] = dict.fromkeys(self.corpus.docs, 0)
        for name, count in zip(self.passages, self.corpus.vectors.count(list(self.passages.values())), strict=True):
            counts[self.passages.origin[name].doc_id] += count
        return counts

    def unjudged(self) -> list[tuple[str, str]]:
        """Pairs of query and passage among the ten best of either ranker that nobody judged."""
        return [
            (qid, hit.doc_id)
            for run in self.runs.values()
            for qid, hits in run.items()
            for hit in hits
            if hit.doc_id not in self.qrels[qid]
        ]

    # tables

    def sizes(self) -> str:
        """How large the collection is, and what the encoder would cut of whole documents."""
        words = [len(text.split()) for text in self.corpus.docs.values()]
        cut = [count for count in self.pieces.values() if count > WINDOW]
        lost = sum(count - WINDOW for count in cut) / sum(self.pieces.values())
        rows = [
            ("documents", f"{len(self.corpus):,}"),
            ("of them distinct", f"{self.corpus.n_distinct:,}"),
            ("words in a document, median", f"{median(words):,.0f}"),
            ("words in the longest", f"{max(words):,}"),
            ("passages of the default chunking", f"{len(self.passages):,}"),
            ("of them distinct", f"{len(set(self.passages.values())):,}"),
            ("documents longer than the encoder's window", f"{len(cut) / len(self.corpus):.0%}"),
            ("share of all word pieces cut, documents taken whole", f"{lost:.0%}"),
            ("queries", f"{len(self.corpus.queries):,}"),
        ]
        return markdown(["", "number"], rows, right={1})

    def documents_by_kind(self) -> str:
        """Documents of each kind, and their lengths."""
        words = defaultdict(list)
        for doc_id, text in self.corpus.docs.items():
            words[self._kind(doc_id)].append(len(text.split()))
        rows = [
            (kind, len(found), f"{median(found):,.0f}", f"{max(found):,}") for kind, found in sorted(words.items())
        ]
        head = "kind" if self.corpus.about else "module"
        return markdown([head, "documents", "words, median", "words, longest"], rows, right={1, 2, 3})

    def _kind(self, doc_id: str) -> str:
        return str(self.corpus.about[doc_id]["kind"]) if self.corpus.about else doc_id.rpartition(".")[0]

    def twins(self) -> str:
        """Documents with one text, and those that share most of it."""
        rows = [("twins", a, b, "1.00") for b, a in self.corpus.aliases.items()]
        twins = {frozenset(pair) for pair in self.corpus.aliases.items()}
        rows += [
            ("near-duplicates", pair.first, pair.second, f"{pair.share:.2f}")
            for pair in near_duplicates(self.corpus.docs)
            if frozenset(pair[:2]) not in twins
        ]
        return markdown(["", "document", "and", "share of 5-word shingles"], rows, right={3})

    def queries_by_kind(self) -> str:
        """Queries of each kind, and what their labels say."""
        rows = []
        for kind, qids in self._by_kind().items():
            grades = [self.qrels[qid] for qid in qids]
            found = [sum(grade > 0 for grade in own.values()) for own in grades]
            labels = Counter(label.label for label in self.corpus.labels if label.query_id in qids)
            rows.append(
                (
                    kind,
                    len(qids),
                    sum(n > 0 for n in found),
                    *(f"{labels[name]:,}" for name in ("relevant", "partial", "irrelevant")),
                )
            )
        total = ["all", *(f"{sum(int(str(row[at]).replace(',', '')) for row in rows):,}" for at in range(1, 6))]
        head = ["kind of query", "queries", "with a relevant passage", "relevant", "partial", "irrelevant"]
        return markdown(head, [*rows, total], right={1, 2, 3, 4, 5})

    def judged(self) -> str:
        """Whether all was judged that either ranker shows among its ten best."""
        rows = []
        for name, run in self.runs.items():
            shown = sum(len(hits) for hits in run.values())
            empty = sum(not hits for hits in run.values())
            unjudged = sum(hit.doc_id not in self.qrels[qid] for qid, hits in run.items() for hit in hits)
            rows.append((name, f"{shown:,}", f"{(shown - unjudged) / shown:.4f}", empty))
        head = ["ranker", f"passages shown at {K}", f"judged@{K}", "queries without a hit"]
        return markdown(head, rows, right={1, 2, 3})

    def by_kind(self) -> str:
        """Any-hit recall and coverage at ten for both rankers, by kind of query, with intervals."""
        rows = [self._figures(kind, qids) for kind, qids in self._by_kind().items()]
        rows = [row for row in rows if row] + [self._figures("all", list(self.corpus.queries))]
        head = [
            "kind of query",
            "n",
            *(f"{name} {what}@{K}" for what in ("recall", "coverage") for name in self.runs),
        ]
        return markdown(head, rows, right=set(range(1, 6)))

    def _figures(self, kind: str, qids: Sequence[str]) -> list[object]:
        qrels = {qid: self.qrels[qid] for qid in qids}
        if not any(grade > 0 for own in qrels.values() for grade in own.values()):
            return []
        recall = [recall_at_k(run, qrels, K) for run in self.runs.values()]
        coverage = [coverage_at_k(run, qrels, K) for run in self.runs.values()]
        return [kind, recall[0].n, *map(with_interval, [*recall, *coverage])]

    def _by_kind(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {kind: [] for kind in sorted(set(self.corpus.kinds.values()))}
        for qid, kind in self.corpus.kinds.items():
            found[kind].append(qid)
        return found

    # the second reading

    def agreed(self) -> str:
        """Raw agreement and kappa of the two readings, with intervals, and how the labels met."""
        found = agreement(*(self._reading(name) for name in ("first", "second")))
        low, high = found.raw_interval
        kappa_low, kappa_high = found.interval
        rows = [
            ("pairs read twice", f"{found.n}"),
            ("raw agreement", f"{found.raw:.3f} ({low:.3f} to {high:.3f})"),
            ("Cohen's kappa", f"{found.kappa:.3f} ({kappa_low:.3f} to {kappa_high:.3f})"),
        ]
        met = Counter((pair["first"], pair["second"]) for pair in self.second_reading)
        names = ("relevant", "partial", "irrelevant")
        table = [(f"first: {a}", *(met[a, b] for b in names)) for a in names]
        return (
            markdown(["", "with 95 % interval"], rows, right={1})
            + "\n\n"
            + markdown(["", *(f"second: {name}" for name in names)], table, right={1, 2, 3})
        )

    def disagreements(self) -> str:
        """Every pair on which the two readings differ, and what was settled."""
        rows = [
            (
                pair["query_id"],
                self.corpus.queries[pair["query_id"]],
                *(pair[name] for name in ("passage", "first", "second", "final", "why")),
            )
            for pair in self.second_reading
            if pair["first"] != pair["second"]
        ]
        return markdown(["", "query", "passage", "first", "second", "settled", "why"], rows)

    def _reading(self, which: str) -> list[Label]:
        """A reading as labels of stretches; where the answer stands is not compared."""
        return [
            Label(pair["query_id"], pair["passage"], 0, 1, pair[which], (0, 1) if pair[which] == "relevant" else None)
            for pair in self.second_reading
        ]

    # to leaf through

    def queries_view(self) -> str:
        """HTML: every query, and below it each passage that was judged, the answer marked."""
        by_query = defaultdict(list)
        for label in self.corpus.labels:
            by_query[label.query_id].append(label)
        items = []
        for qid, text in self.corpus.queries.items():
            own = sorted(by_query[qid], key=lambda label: ("relevant", "partial", "irrelevant").index(label.label))
            counts = Counter(label.label for label in own)
            said = ", ".join(f"{counts[name]} {name}" for name in ("relevant", "partial", "irrelevant"))
            shown = "".join(self._judged(label) for label in own if label.label != "irrelevant")
            rest = ", ".join(
                f"{label.doc_id} {label.start}–{label.end}" for label in own if label.label == "irrelevant"
            )
            body = f"{shown}<p><strong>Read and judged irrelevant:</strong> {escape(rest)}</p>"
            items.append(_fold(f"<code>{qid}</code> {escape(text)}", f"{self.corpus.kinds[qid]}; {said}", body))
        return _view("Find a query", items)

    def _judged(self, label: Label) -> str:
        text = self.corpus.docs[label.doc_id]
        start, end = label.span or (label.end, label.end)
        before, answer, after = text[label.start : start], text[start:end], text[end : label.end]
        marked = f"{escape(before)}<mark>{escape(answer)}</mark>{escape(after)}" if answer else escape(before)
        return (
            f'<div class="rk-label rk-{label.label}"><p><strong>{label.label}</strong> '
            f"{escape(self.corpus.titles[label.doc_id])} <code>{escape(label.doc_id)}</code> "
            f"{label.start}–{label.end}: {escape(label.reason)}</p><pre>{marked}</pre></div>"
        )

    def documents_view(self, texts: bool = True) -> str:
        """HTML: every document by its title; with its text, or with its first line where the text is long."""
        items = []
        for doc_id, text in self.corpus.docs.items():
            words = len(text.split())
            about = ", ".join(str(value) for value in self.corpus.about.get(doc_id, {}).values())
            about = f"{about}, {words:,} words" if about else f"{words:,} words"
            title, body = self.corpus.titles[doc_id], text.removeprefix(self.corpus.titles[doc_id]).strip()
            if texts:
                items.append(_fold(f"{escape(title)} <code>{doc_id}</code>", about, f"<pre>{escape(body)}</pre>"))
            else:
                first = " ".join(body.split("\n\n")[0].split())[:160]
                items.append(
                    f'<p class="rk-item"><code>{escape(doc_id)}</code> {escape(first)} <small>{about}</small></p>'
                )
        return _view("Find a document", items)


def with_interval(mean: Mean) -> str:
    """A figure and its interval.

    >>> with_interval(Mean({"q1": 1.0, "q2": 0.0}))
    '0.50 (0.09–0.91)'
    """
    low, high = mean.interval
    return f"{mean:.2f} ({low:.2f}–{high:.2f})"


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[int] = ()) -> str:
    """A Markdown table; `right` names the columns of numbers.

    >>> print(markdown(["kind", "n"], [("typo", 3)], right={1}))
    | kind | n |
    | :-- | --: |
    | typo | 3 |
    """
    marks = ["--:" if at in set(right) else ":--" for at in range(len(head))]
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(head), marks, *cells])


def _fold(summary: str, about: str, body: str) -> str:
    return f'<details class="rk-item"><summary>{summary} <small>{escape(about)}</small></summary>{body}</details>'


def _view(label: str, items: Sequence[str]) -> str:
    key = key_of(label, *items)
    return (
        f'{style()}<div class="rk-browse" data-key="{key}"><p><label>{label} <input type="search" disabled '
        f'data-lm-suppress-shortcuts="true"></label> <span role="status" aria-live="polite"></span></p>'
        f"{''.join(items)}</div>" + script("browse.js", {"key": key})
    )
