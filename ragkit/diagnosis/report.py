"""The report of a diagnosis: one HTML page that needs no network, on screen and on paper.

It says what a `Study` says, section by section; each section can also be had alone, to be shown in a notebook.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from ragkit import __version__
from ragkit.diagnosis import drawing
from ragkit.diagnosis.study import Study

FINDINGS = 40  # failing queries that are shown with their evidence; JSON has all
NAMES: Mapping[str, str] = {
    "recall": "recall (any hit)",
    "coverage": "coverage",
    "precision": "precision",
    "ndcg": "nDCG",
    "mrr": "MRR",
    "judged": "places judged",
    "map": "MAP",
}
Section = tuple[str, str, Callable[[Study], str]]


def report_html(study: Study, command: str = "", sheet: str = "") -> str:
    """The whole page. `command` makes it again; `sheet` is the file with the pool to label, if one was written."""
    shown = [(name, title, body) for name, title, make in SECTIONS if (body := make(study))]
    contents = "".join(f'<li><a href="#{name}">{escape(title)}</a></li>' for name, title, _ in shown)
    sections = "\n".join(
        f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{escape(title)}</h2>{body}</section>'
        for name, title, body in shown
    )
    return Template(_asset("report.html")).substitute(
        title=escape(f"Diagnosis: {study.name}"),
        style=_asset("report.css"),
        head=_head(study, sheet),
        contents=contents,
        sections=sections,
        foot=_foot(study, command),
    )


def section_html(study: Study, name: str) -> str:
    """One section alone, without its heading and without a style. KeyError for another name."""
    by_name = {own: make for own, _, make in SECTIONS}
    if name not in by_name:
        raise KeyError(f"no section {name!r}; there is {', '.join(by_name)}")
    return by_name[name](study)


# head and foot


def _head(study: Study, sheet: str) -> str:
    made, settings = study.collection, study.settings
    cut = f" in {made['units']:,} passages" if made and made["ranked"] == "passages" else ""
    size = f"{_n(made['documents'], 'document')}{cut}; " if made else ""
    asked = f"{_n(study.queries['queries'], 'query', 'queries')}; " if study.queries else ""
    systems = ", ".join(one["name"] for one in study.systems)
    lead = f"{size}{asked}{_n(len(study.systems), 'system')}: {systems}"
    found = study.diagnosis
    if found:
        verdict = (
            f'<div class="verdict"><p><strong>{escape(found["lever"].capitalize())}.</strong> '
            f"{escape(_sentence(found['why']))}</p>"
            f'<p class="note">Diagnosed is {escape(study.system)}, with {settings["candidate_k"]} candidates of '
            f"which {settings['consumer_k']} are shown, over {_n(found['queries'], 'query', 'queries')}.</p></div>"
        )
        verdict += "".join(f'<p class="but">But: {escape(_sentence(caveat))}</p>' for caveat in found["caveats"])
    else:
        verdict = (
            '<div class="verdict"><p><strong>Not labelled.</strong> What follows is what can be seen without labels. '
            "Recall, precision, and what to change are not among it.</p></div>"
        )
    label = f'<p>To label next: <a href="{escape(sheet)}">{escape(sheet)}</a>.</p>' if sheet and study.pool else ""
    return f'<h1>Diagnosis of {escape(study.name)}</h1><p class="lead">{escape(lead)}</p>{verdict}{label}'


def _foot(study: Study, command: str) -> str:
    date = f" on {study.settings['made_on']}" if study.settings["made_on"] else ""
    again = f"<p>Made with</p><pre>{escape(command)}</pre>" if command else ""
    return (
        f"{again}<p>ragkit {__version__}{escape(date)}. Intervals are 95 %: Wilson's for shares of queries, a "
        "bootstrap of the queries for others. Nothing was sent anywhere.</p>"
    )


# sections


def _monday(study: Study) -> str:
    if not study.steps:
        return "<p>Nothing that these figures ask for.</p>"
    return f"<ol>{''.join(f'<li>{escape(step)}</li>' for step in study.steps)}</ol>"


def _collection(study: Study) -> str:
    made = study.collection
    if made is None:
        return ""
    window, words, each = made["window"], made["words"], made["per document"]
    rows = [("documents", f"{made['documents']:,}", f"{made['distinct documents']:,} of them distinct")]
    if made["ranked"] == "passages":
        spread = f"{each['least']:,} to {each['most']:,} a document, {each['mean']:.1f} on average"
        rows.append(("passages", f"{made['units']:,}", spread))
    rows += [
        ("words in each", f"{words['median']:,.0f}", f"the median; {words['least']:,} to {words['most']:,}"),
        (
            f"cut by the window of {window['window']} word pieces",
            f"{window['cut']:,}",
            f"of {window['of']:,}; {window['unread']:,} pieces unread. Counted by {window['counted by']}",
        ),
    ]
    if made["ranked"] == "passages":
        would = (
            f"of {window['documents']:,}: ranked whole, up to {window['documents unread']:.0%} of the text would not "
            "be read (an estimate, rather too high)"
        )
        rows.append(("documents longer than the window", f"{window['documents beyond']:,}", would))
    repeats = f"{made['same extra']:,} word for word, {made['near extra']:,} nearly (eight shingles in ten)"
    rows.append((f"{made['ranked']} that repeat another", f"{made['same extra'] + made['near extra']:,}", repeats))
    if made["blank documents"]:
        rows.append(("blank documents", f"{len(made['blank documents'])}", ", ".join(made["blank documents"])))
    table = _table(("", "number", ""), [(_cell(a), _number(b), _cell(c)) for a, b, c in rows], "Sizes")
    picture = _figure(
        drawing.histogram(made["histogram"], made["ranked"]), f"Half of the {made['ranked']} have fewer than "
        f"{words['median']:,.0f} words."
    )  # fmt: skip
    record = "; ".join(f"{key}: {value}" for key, value in made["record"].items() if value not in ("", 0))
    twins = ""
    if made["examples"]:
        rows_of = [(_ids(group),) for group in made["examples"]]
        twins = _table(("for example",), rows_of, "Texts that repeat one another")
    longest = ""
    if window["longest"]:
        longest = _table(
            ("longest", "word pieces"), [(_id(name), _number(f"{n:,}")) for name, n in window["longest"]],
            "Cut by the window, the longest first",
        )  # fmt: skip
    return f'{table}{picture}{twins}{longest}<p class="note">{escape(record)}</p>'


def _queries(study: Study) -> str:
    asked = study.queries
    if asked is None:
        return ""
    words = asked["words"]
    lines = [
        f"{_n(asked['queries'], 'query', 'queries')}, {words['least']:,} to {words['most']:,} words long, "
        f"{words['median']:g} in the median.",
    ]
    if not asked["no terms"] + asked["only stop"]:
        lines.append("Each shares a word with some document that is no stop word.")
    if asked["no terms"]:
        lines.append(
            f"{_n(asked['no terms'], 'query has', 'queries have')} no term left: BM25 finds nothing for them."
        )
    if asked["only stop"]:
        many = _n(asked["only stop"], "query shares", "queries share")
        lines.append(f"{many} nothing but stop words with the documents.")
    if asked["with unknown words"]:
        many = _n(asked["with unknown words"], "query has", "queries have")
        some = _for_example(f"{words[0]} in {qid}" for qid, *words in asked["unknown"][:4])
        lines.append(f"{many} a word that no document holds{some}.")
    if asked["beyond"]:
        lines.append(f"{_n(asked['beyond'], 'query is', 'queries are')} longer than the encoder's window, and cut.")
    shown = [(_id(one[0]), _cell(one[1] or "(blank)"), _cell(one[2])) for one in asked["no term"]]
    shown += [(_id(one[0]), _cell(one[1]), _cell(one[2])) for one in asked["only stop words"]]
    table = _table(("query", "text", "why"), shown, "Queries with nothing to look up") if shown else ""
    return "".join(f"<p>{escape(line)}</p>" for line in lines) + table


def _rankers(study: Study) -> str:
    rows = []
    for one in study.systems:
        told = "given; its kind by its name" if one["given"] else _recorded(one["record"])
        unknown = f"; {one['unknown ids']:,} ids that the collection does not have" if one["unknown ids"] else ""
        rows.append(
            (_system(one["name"], one["family"]), _number(f"{one['queries']:,}"), _number(f"{one['longest']:,}"),
             _number(f"{one['empty']:,}"), _cell(told + unknown))
        )  # fmt: skip
    table = _table(("system", "queries", "longest list", "empty lists", "made with"), rows, "Who ranks")
    if not study.overlap:
        return table
    families = _families(study)
    shared = [
        (
            f"{_system(row['a'], families[row['a']])} and {_system(row['b'], families[row['b']])}",
            _number(f"{row['k']}"),
            _number(f"{row['shared']:.2f}"),
            _number(f"{row['apart']:,} of {row['queries']:,}"),
        )
        for row in study.overlap
    ]
    head = ("systems", "k", "share of the top k in common", "queries with nothing in common")
    return f"{table}{_table(head, shared, 'What they have in common')}"


def _recorded(record: Mapping[str, Any]) -> str:
    wanted = ("model", "k1", "b", "c")
    return ", ".join(f"{key} {record[key]}" for key in wanted if key in record) or "computed here"


def _labels(study: Study) -> str:
    labels = study.labels
    if labels is None:
        return ""
    lines = [
        f"{labels['pairs']:,} judgments of {study.unit}, {labels['relevant']:,} of them relevant, "
        f"{labels['relevant a query']:.1f} for a query that has any.",
        f"The figures stand on {_n(labels['queries scored'], 'query', 'queries')} of "
        f"{labels['queries with labels']:,} with labels.",
    ]
    if labels["left out"]:
        lines.append(f"Left out, nothing relevant: {_listed(labels['left out'])}.")
    if labels["missing"]:
        lines.append(f"Missing from the ranking, counted as 0: {_listed(labels['missing'])}.")
    if labels["unlabelled"]:
        lines.append(f"{_n(labels['unlabelled'], 'query', 'queries')} without labels are in no figure.")
    if labels["absent ids"]:
        lines.append(
            f"{_n(labels['absent ids'], 'judged id is', 'judged ids are')} not in the collection: "
            f"{', '.join(labels['absent'])}{' …' if labels['absent ids'] > len(labels['absent']) else ''}."
        )
    if labels["queries without a text"]:
        lines.append(f"Labelled, and without a text: {_listed(labels['queries without a text'])}.")
    if not labels["irrelevant are judged"]:
        lines.append("Nobody noted what is irrelevant, so a place without a label is not known to be wrong.")
    if labels.get("lost") or labels.get("cut"):
        lines.append(
            f"{_n(labels['cut'], 'passage holds', 'passages hold')} only part of an answer; "
            f"{_n(labels['lost'], 'answer stands', 'answers stand')} whole in no passage."
        )
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _metrics(study: Study) -> str:
    if not study.metrics:
        return ""
    families = _families(study)
    rows, here = [], []
    for row in study.metrics:
        k = "all" if row["k"] is None else str(row["k"])
        rows.append(
            (_cell(NAMES[row["metric"]]), _number(k), _system(row["system"], families[row["system"]]),
             _number(f"{row['value']:.4f}"), _number(_between(row["interval"])), _number(f"{row['n']:,}"))
        )  # fmt: skip
        here.append(row["system"] == study.system)
    head = ("metric", "k", "system", "value", "95 % interval", "queries")
    return _labels(study) + _table(head, rows, f"Marked: {study.system}, which is diagnosed", here)


def _compared(study: Study) -> str:
    if not study.compared:
        return ""
    ks = dict.fromkeys(one["k"] for one in study.compared)
    return "".join(_compared_at(study, k) for k in ks)


def _compared_at(study: Study, k: int) -> str:
    families = _families(study)
    compared = [one for one in study.compared or () if one["k"] == k]
    rows = []
    for one in compared:
        p = "" if (found := one["p after Holm"]) is None else "< 0.001" if found < 0.001 else f"{found:.3f}"
        rows.append(
            (
                f"{_system(one['a'], families[one['a']])} − {_system(one['b'], families[one['b']])}",
                _number(_signed(one["difference"], "+", 3)), _number(_between(one["interval"], "+", 3)), _number(p),
                _number(f"{one['only a']:,}"), _number(f"{one['only b']:,}"), _number(f"{one['both']:,}"),
                _number(f"{one['neither']:,}"), _number(f"{one['union']:.3f}"),
            )
        )  # fmt: skip
    head = ("pair", "difference", "95 % interval", "p", "only first", "only second", "both", "neither", "union")
    note = (
        f"Recall@{k}, any hit, over {compared[0]['queries']:,} queries; paired. p is McNemar's, exact, after Holm "
        "for the pairs of this table. The union shows up to twice as many places: it is no system."
    )
    return _table(head, rows, note)


def _plane(study: Study) -> str:
    if not study.plane:
        return ""
    settings = study.settings
    ks = (settings["candidate_k"], settings["consumer_k"])
    picture = drawing.plane(study.plane, _families(study), ks)
    rows = [
        (_system(one["system"], _families(study)[one["system"]]), _number(f"{one['recall']:.4f}"),
         _number(_between(one["interval"])), _number(f"{one['precision']:.4f}"), _number(f"{one['attainable']:.4f}"),
         _number(f"{one['share']:.0%}"))
        for one in study.plane
    ]  # fmt: skip
    head = ("system", f"recall@{ks[0]}", "95 % interval", f"precision@{ks[1]}", "attainable", "share")
    caption = (
        "Left of the upright line answers are missing among the candidates; below the other, they are in poor order."
    )
    return _figure(picture, caption) + _table(
        head, rows, "Attainable: what the best order of the same candidates has", [
            one["system"] == study.system for one in study.plane
        ],
    )  # fmt: skip


def _lever(study: Study) -> str:
    found = study.diagnosis
    if found is None:
        return ""
    rows = [
        (_cell(name), _number(f"{found[key]['value']:.4f}"), _number(_between(found[key]["interval"])))
        for key, name in _figures(found)
        if found[key] is not None
    ]
    here = [key in found["rests_on"] for key, _ in _figures(found) if found[key] is not None]
    pairs = "" if found["pairs"] is None else f"<p>{found['pairs']:,} pairs fit the budget of a query.</p>"
    return (
        f"<p><strong>{escape(found['lever'].capitalize())}</strong>: {escape(_sentence(found['why']))}</p>"
        + _table(("figure", "value", "95 % interval"), rows, "Marked: what the lever rests on", here)
        + pairs
        + "".join(f'<p class="but">But: {escape(_sentence(caveat))}</p>' for caveat in found["caveats"])
    )


def _figures(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    candidates, shown = found["candidate_k"], found["consumer_k"]
    return [
        ("recall_candidate", f"recall at {candidates}"),
        ("recall_consumer", f"recall at {shown}"),
        ("precision", f"precision at {shown}"),
        ("attainable_precision", "attainable precision"),
        ("recall_gain", "reordering could win, in recall"),
        ("precision_gain", "reordering could win, in precision"),
        ("distinct", f"distinct answers in {shown}"),
        ("attainable_distinct", "attainable distinct answers"),
        ("repeats", "places that repeat a text"),
        ("judged", "places judged"),
        ("indexed", "queries with an answer indexed"),
        ("recall_pairs", f"recall at {found['pairs']}, which fits the budget"),
    ]


def _triage(study: Study) -> str:
    found = study.triage
    if found is None:
        if study.diagnosis is None or study.collection is None:
            return ""
        return "<p>No labelled query misses among the candidates: nothing to sort.</p>"
    looks = {"lexical finds it": "lexical", "dense blind": "dense"}
    counts = [(bucket, n, looks.get(bucket, "")) for bucket, n in found["counts"].items()]
    picture = _figure(
        drawing.bars(counts, found["failing"]),
        f"{_n(found['failing'], 'query misses', 'queries miss')} among the {study.settings['candidate_k']} "
        f"candidates of {study.system}; each is in one bucket, the earliest thing that is wrong.",
    )
    notes = [f"{bucket}: {group}" for bucket, groups in found["groups"].items() for group in groups[:3]]
    said = "".join(f"<p>{escape(note)}.</p>" for note in notes)
    order = list(found["counts"])
    listed = sorted(found["findings"].items(), key=lambda one: order.index(one[1]["bucket"]))
    rows = [
        (_kept(one["bucket"]), _id(qid), _text(one["query"], 160), _text(one["why"], 320))
        for qid, one in listed[:FINDINGS]
    ]
    caption = "The evidence, query by query"
    if len(listed) > FINDINGS:
        caption += f": {FINDINGS} of {len(listed)}, the JSON file has all"
    gaps = [f"{what} ({needs})" for what, needs in found["not_assessed"].items()]
    missing = f'<p class="note">Not assessed here: {escape("; ".join(gaps))}.</p>' if gaps else ""
    return f"{picture}{said}{_table(('bucket', 'query', 'text', 'evidence'), rows, caption)}{missing}"


def _not_assessed(study: Study) -> str:
    if not study.not_assessed:
        return ""
    return "<ul>" + "".join(
        f"<li>{escape(what[:1].upper() + what[1:])}: needs {escape(needs)}.</li>"
        if what in _NEEDS
        else f"<li>{escape(what[:1].upper() + what[1:])} ({escape(needs)}).</li>"
        for what, needs in study.not_assessed.items()
    ) + "</ul>"  # fmt: skip


_NEEDS = ("recall, precision, lever and triage", "texts: chunking, window, twins, queries, triage")

SECTIONS: tuple[Section, ...] = (
    ("monday", "What to do on Monday morning", _monday),
    ("lever", "The lever", _lever),
    ("metrics", "The figures, and what they stand on", _metrics),
    ("compared", "One system against another", _compared),
    ("plane", "Where the systems stand", _plane),
    ("triage", "Why queries miss", _triage),
    ("collection", "What is ranked", _collection),
    ("queries", "What is asked", _queries),
    ("rankers", "Who ranks, and how far they agree", _rankers),
    ("not-assessed", "Not assessed", _not_assessed),
)

# pieces


def _families(study: Study) -> dict[str, str]:
    return {one["name"]: one["family"] for one in study.systems}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str, here: Sequence[bool] = ()) -> str:
    """A table; cells are `_cell` and its kin, which are td elements, or HTML, which becomes the head of its row."""
    listed = list(rows)
    numbers = [bool(listed) and cell.startswith('<td class="n"') for cell in (listed[0] if listed else ())]
    heads = "".join(
        f'<th scope="col"{" class=n" if right else ""}>{escape(name)}</th>' if name else "<td></td>"
        for name, right in zip(head, numbers or [False] * len(head), strict=True)
    )
    marks = list(here) or [False] * len(listed)
    body = "".join(
        f"<tr{' class=here' if mark else ''}>"
        + "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in row)
        + "</tr>"
        for row, mark in zip(listed, marks, strict=True)
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _kept(text: str) -> str:
    """A cell whose text is not broken into lines."""
    return f'<td><span class="sys">{escape(text)}</span></td>'


def _text(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return f'<td class="text">{escape(flat if len(flat) <= most else flat[: most - 1] + "…")}</td>'


def _number(text: str) -> str:
    return f'<td class="n">{escape(text)}</td>'


def _id(name: str) -> str:
    return f'<td><span class="id">{escape(name)}</span></td>'


def _ids(names: Iterable[str]) -> str:
    return f"<td>{', '.join(f'<span class=id>{escape(name)}</span>' for name in names)}</td>"


def _system(name: str, family: str) -> str:
    return f'<span class="sys">{drawing.shape(family)}{escape(name)}</span>'


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def _between(ends: Sequence[float] | None, sign: str = "", digits: int = 4) -> str:
    return (
        "not to be had" if ends is None else f"{_signed(ends[0], sign, digits)} to {_signed(ends[1], sign, digits)}"
    )


def _signed(value: float, sign: str = "", digits: int = 4) -> str:
    """With a minus that is as wide as a plus."""
    return f"{value:{sign}.{digits}f}".replace("-", "−")


def _listed(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{len(names):,} ({', '.join(names[:most])}{more})"


def _for_example(names: Iterable[str]) -> str:
    listed = list(names)
    return f", for example {', '.join(listed)}" if listed else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _n(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _asset(name: str) -> str:
    return files("ragkit.diagnosis").joinpath(name).read_text(encoding="utf-8")
