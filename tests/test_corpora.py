"""The collections: the same on every machine and in every process, and with the counts that they promise."""

import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from ragkit import BM25Index, Corpus, load_corpus, planted_corpus
from ragkit.corpora import numpy_docs

REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"

# numpy-docs under the pinned release of numpy. Another release has other docstrings: pin it, look, and renew these.
N_DOCS, N_DISTINCT = 1160, 998
FINGERPRINT = "ca96cd7347e5002039923cb0503187c771cddfc835484a4a0ee0287303932a73"


@pytest.fixture(scope="module")
def docs():
    return load_corpus("numpy-docs")


@pytest.fixture(scope="module")
def published():
    return planted_corpus()


@pytest.fixture(scope="module")
def published_index(published):
    return BM25Index.build(published.docs)


def in_a_fresh_process(code, hash_seed):
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return done.stdout.strip()


def held(corpus, term):
    return sum(term in text.split() for text in corpus.docs.values())


# numpy-docs


def test_the_installed_numpy_is_the_pinned_one_and_its_docstrings_are_the_known_ones(docs):
    (pinned,) = re.findall(r"^numpy==(\S+)", REQUIREMENTS.read_text(), re.MULTILINE)
    installed = f"numpy {np.__version__} has {len(docs)} documents, {docs.n_distinct} distinct, {docs.fingerprint}"
    assert installed == f"numpy {pinned} has {N_DOCS} documents, {N_DISTINCT} distinct, {FINGERPRINT}"


def test_the_counts_are_those_of_the_texts(docs):
    bodies = [text.removeprefix(f"{doc_id}\n\n") for doc_id, text in docs.docs.items()]
    assert len(docs) == len(docs.docs) == len(bodies)
    assert docs.n_distinct == len(set(bodies))
    assert repr(docs) == (
        f"Corpus('numpy-docs', {len(bodies)} documents, {len(set(bodies))} distinct, {len(docs.queries)} queries)"
    )


def test_two_loads_and_a_fresh_process_give_the_same_documents(docs):
    code = "from ragkit import load_corpus; print(load_corpus('numpy-docs').fingerprint)"
    assert load_corpus("numpy-docs").fingerprint == docs.fingerprint == in_a_fresh_process(code, hash_seed=1)


def test_what_else_is_imported_does_not_change_the_documents(docs):
    """scipy rewrites the docstring of numpy.sinc."""
    code = "import scipy.special, scipy.stats; from ragkit import load_corpus; "
    code += "import numpy; assert len(numpy.sinc.__doc__) > 3000; print(load_corpus('numpy-docs').fingerprint)"
    assert in_a_fresh_process(code, hash_seed=3) == docs.fingerprint


def test_every_document_is_the_docstring_of_the_object_that_its_id_names(docs):
    for doc_id, text in docs.docs.items():
        module, _, name = doc_id.rpartition(".")
        thing = getattr(import_module(module), name)
        own = inspect.getdoc(getattr(thing, "_implementation", thing)) or inspect.getdoc(thing)
        lines = [line for line in own.splitlines() if ":Alias on this platform" not in line]
        body = "\n".join(lines).strip()
        assert text == f"{doc_id}\n\n{body}"
        assert len(body.split()) >= numpy_docs.MIN_WORDS


def test_a_document_begins_with_its_title_and_ids_are_in_order(docs):
    assert list(docs.docs) == sorted(docs.docs) == list(docs.titles)
    assert all(text.startswith(f"{docs.titles[doc_id]}\n\n") for doc_id, text in docs.docs.items())
    assert docs.record == {
        "source": "docstrings of the installed numpy",
        "numpy": np.__version__,
        "labels": {"as made": len(docs.labels), "carried over": 0, "left out": 0},
    }


def test_no_document_depends_on_the_machine(docs):
    """What is known to differ: the platform's aliases, the width of a C long, extended floats, this process."""
    everything = "\n".join(docs.docs.values())
    assert ":Alias on this platform" not in everything
    assert not re.search(r"<\w+[^<>\n]* at 0x[0-9a-f]+>", everything)  # a repr with the address of an object
    assert sys.prefix not in everything
    of_the_c_compiler = {np.dtype(char).type for char in "ilqILQ"}
    extended = {"float96", "float128", "complex192", "complex256"}
    for doc_id in docs.docs:
        module, _, name = doc_id.rpartition(".")
        thing = getattr(import_module(module), name)
        assert thing not in of_the_c_compiler or module != "numpy", doc_id
        assert name not in extended, doc_id
        assert not str(getattr(thing, "__module__", "numpy")).startswith("unittest"), doc_id


def test_types_of_a_fixed_width_stay(docs):
    assert {f"numpy.{name}" for name in ("float64", "int8", "complex128", "longdouble", "bool_")} <= docs.docs.keys()
    assert "numpy.dtypes.Int64DType" in docs.docs


def test_twins_stay_under_their_own_ids(docs):
    twins = [text.removeprefix(f"{doc_id}\n\n") for doc_id, text in docs.docs.items()]
    assert twins.count(docs.docs["numpy.absolute"].removeprefix("numpy.absolute\n\n")) > 1
    assert Counter(twins).most_common(1)[0][1] > 2


def test_the_documents_are_searched(docs):
    index = BM25Index.build(docs.docs)
    assert index.search("numpy.linalg.matrix_norm", k=1)[0].doc_id == "numpy.linalg.matrix_norm"
    assert index.stats().n_docs == len(docs)


def test_deprecated_names_are_harvested_in_silence(recwarn):
    numpy_docs.harvest()
    assert not recwarn.list


@pytest.mark.parametrize("name", ["numpy_docs", "", "handbok", None])
def test_an_unknown_collection_is_refused_with_those_that_there_are(name):
    with pytest.raises(ValueError, match="'numpy-docs'"):
        load_corpus(name)


# the fingerprint


def test_the_fingerprint_tells_documents_apart():
    corpora = [
        {"a": "x", "b": "y"},
        {"b": "y", "a": "x"},  # another order is another corpus
        {"a": "x\0b\0y"},
        {"a": 'x", "b": "y'},
        {"ax": "", "b": "y"},
        {"a": "xb", "": "y"},
        {"a": "x", "b": "y "},
        {"a": "\ud800"},  # half a surrogate pair, as a broken file may hold
        {"a": "é"},
        {"a": "e\u0301"},
        {},
    ]
    assert len({Corpus("c", docs, {}).fingerprint for docs in corpora}) == len(corpora)


def test_the_fingerprint_is_of_the_documents_alone():
    assert Corpus("c", {"a": "x"}, {"a": "A"}).fingerprint == Corpus("d", {"a": "x"}, {}, {"k": 1}).fingerprint


def test_a_corpus_cannot_be_exchanged_under_its_name(docs):
    with pytest.raises(AttributeError):
        docs.docs = {}


# the planted corpus


def test_the_published_frequencies_are_exact(published):
    assert len(published) == 12_000
    assert (held(published, "page_size"), held(published, "pagination")) == (3, 410)


@pytest.mark.parametrize(("term", "df"), [("page_size", 3), ("pagination", 410)])
def test_the_published_frequencies_are_exact_through_the_index(published_index, term, df):
    assert published_index.df(term) == df
    assert len(published_index.search([term], k=12_000)) == df
    assert published_index.explain([term], "s00000").rows[0].df == df
    assert published_index.stats().n_docs == 12_000


def test_the_shape_of_the_published_corpus(published, published_index):
    lengths = np.array([len(text.split()) for text in published.docs.values()])
    counts = Counter(word for text in published.docs.values() for word in text.split())
    assert (published.record["mean_words"], published.record["n_words"]) == (60, 20_000)
    assert lengths.min() >= 1
    assert abs(lengths.mean() - 60) < 1
    assert abs(lengths.std() - 60 * np.sqrt(np.expm1(0.6**2))) < 2  # log-normal with sigma 0.6
    assert abs(counts["w0"] / counts["w1"] - 2) < 0.05  # Zipf: the tenth word is a tenth as frequent as the first
    assert abs(counts["w0"] / counts["w9"] - 10) < 0.5
    assert [published_index.df(f"w{number}") for number in (0, 1, 10)] == [
        held(published, f"w{number}") for number in (0, 1, 10)
    ]


@pytest.mark.parametrize("df", [0, 1, 49, 50])
def test_any_frequency_can_be_planted(df):
    corpus = planted_corpus(50, {"rare": df, "MX-4471-B": 50 - df})
    assert (held(corpus, "rare"), held(corpus, "MX-4471-B")) == (df, 50 - df)
    assert BM25Index.build(corpus.docs).df("mx-4471-b") == 50 - df


def test_a_planted_term_may_stand_more_than_once_in_a_document():
    counts = [text.split().count("rare") for text in planted_corpus(500, {"rare": 200}).docs.values()]
    assert sorted(set(counts))[:3] == [0, 1, 2]


def test_no_planting_and_one_document():
    assert len(planted_corpus(1, {})) == 1
    assert set(" ".join(planted_corpus(9, {}, n_words=1).docs.values()).split()) == {"w0"}
    assert held(planted_corpus(1, {"rare": 1}), "rare") == 1


def test_the_seed_decides(published):
    assert planted_corpus().fingerprint == published.fingerprint
    assert planted_corpus(500, seed=1).fingerprint == planted_corpus(500, seed=1).fingerprint
    assert planted_corpus(500, seed=1).fingerprint != planted_corpus(500, seed=2).fingerprint


def test_a_fresh_process_plants_the_same_corpus():
    code = "from ragkit import planted_corpus; print(planted_corpus(500).fingerprint)"
    assert planted_corpus(500).fingerprint == in_a_fresh_process(code, hash_seed=2)


def test_the_global_random_state_is_neither_read_nor_moved():
    np.random.seed(1)  # noqa: NPY002 - the state that must not matter
    before = planted_corpus(20, {}).fingerprint
    np.random.seed(2)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    assert planted_corpus(20, {}).fingerprint == before
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_the_record_tells_planted_corpora_apart():
    made = [
        *(planted_corpus(20, {}), planted_corpus(20, {"rare": 1}), planted_corpus(20, {}, seed=8)),
        *(planted_corpus(20, {}, mean_words=30), planted_corpus(20, {}, n_words=100), planted_corpus(21, {})),
    ]
    assert len({f"{corpus.record} {len(corpus)}" for corpus in made}) == len(made)


def test_the_arguments_are_left_alone():
    planted = {"rare": 3}
    corpus = planted_corpus(20, planted)
    planted["rare"] = 7
    assert corpus.record["planted"] == {"rare": 3}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"n_docs": 0}, "n_docs is 0"),
        ({"n_docs": -5}, "n_docs is -5"),
        ({"n_docs": 5, "planted": {"rare": 6}}, "'rare' is planted in 6 of 5 documents"),
        ({"n_docs": 5, "planted": {"rare": -1}}, "'rare' is planted in -1 of 5"),
        ({"n_docs": 5}, "'pagination' is planted in 410 of 5"),
        ({"n_docs": 9, "planted": {"w5": 3}}, "'w5' cannot be planted"),
        ({"n_docs": 9, "planted": {"page size": 3}}, "'page size' cannot be planted"),
        ({"n_docs": 9, "planted": {"": 3}}, "'' cannot be planted"),
        ({"n_docs": 9, "planted": {}, "mean_words": 0}, "mean_words is 0"),
        ({"n_docs": 9, "planted": {}, "mean_words": float("nan")}, "mean_words is nan"),
        ({"n_docs": 9, "planted": {}, "n_words": 0}, "n_words is 0"),
    ],
)
def test_a_corpus_that_cannot_be_is_refused(arguments, named):
    with pytest.raises(ValueError, match=named):
        planted_corpus(**arguments)


def test_a_word_beyond_the_vocabulary_can_be_planted():
    assert held(planted_corpus(30, {"w100": 3}, n_words=100), "w100") == 3
