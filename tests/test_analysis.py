"""Text to terms: what is kept, what is folded, what is taken apart."""

import pickle
import re
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit import Analyzer
from ragkit.lexical.analysis import ENGLISH_STOP, identifier_parts, snowball_english

quick = settings(deadline=None, derandomize=True, max_examples=300)

standard, english, whitespace = Analyzer.standard(), Analyzer.english(), Analyzer.whitespace()


def words(text, analyzer=standard):
    return list(analyzer(text).words)


def parts(text, analyzer=standard):
    return list(analyzer(text).parts)


# identifiers


@pytest.mark.parametrize(
    ("text", "whole", "pieces"),
    [
        ("page_size", "page_size", "page size"),
        ("ERR_4021", "err_4021", "err 4021"),
        ("__init__", "__init__", "init"),
        ("_x", "_x", "x"),
        ("MX-4471-B", "mx-4471-b", "mx 4471 b"),
        ("utf-8", "utf-8", "utf 8"),
        ("numpy.linalg.norm", "numpy.linalg.norm", "numpy linalg norm"),
        ("numpy.matrix_norm", "numpy.matrix_norm", "numpy matrix_norm matrix norm"),
        ("1.26.0", "1.26.0", "1 26 0"),
        ("1.26.0-rc1", "1.26.0-rc1", "1 26 0-rc1 0 rc1"),
        ("setup.py", "setup.py", "setup py"),
        ("pageSize", "pagesize", "page size"),
        ("HTTPServerError", "httpservererror", "http server error"),
        ("/etc/hosts", "/etc/hosts", "etc hosts"),
        ("src/app/main.py", "src/app/main.py", "src app main.py main py"),
        ("docs/index.html", "docs/index.html", "docs index.html index html"),
        ("docs/v1.2/x", "docs/v1.2/x", "docs v1.2 v1 2 x"),
        ("dist/ragkit-0.1.tar.gz", "dist/ragkit-0.1.tar.gz", "dist ragkit-0.1.tar.gz ragkit-0 ragkit 0 1 tar gz"),
        ("well-known_name-2", "well-known_name-2", "well known_name known name 2"),
    ],
)
def test_an_identifier_is_indexed_whole_and_by_part(text, whole, pieces):
    assert words(text) == [whole]
    assert parts(text) == pieces.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("and/or", "and or"),
        ("well-known", "well known"),
        ("state-of-the-art", "state of the art"),
        ("well-known--3", "well known 3"),  # the digit is not in the same run of hyphens
        ("pump", "pump"),
        ("Pump", "pump"),
        ("PUMP", "pump"),
        ("4021", "4021"),
        ("C and R, unit B", "c and r unit b"),
        ("-- --- ===", ""),
    ],
)
def test_plain_words_are_no_identifiers(text, expected):
    assert words(text) == expected.split()
    assert parts(text) == []


@pytest.mark.parametrize("end", [*".,;:!?)]}'\"-/", "...", ". ", "\r\n"])
@pytest.mark.parametrize("name", "page_size MX-4471-B numpy.linalg.norm src/app/main.py /etc/hosts v1.2".split())
def test_punctuation_around_an_identifier_is_not_of_it(name, end):
    for text in (name + end, f"({name}{end}", f'"{name}{end}', f"`{name}`{end}"):
        assert words(text) == [name.lower()], text


@pytest.mark.parametrize("owner", ["page_size's", "PAGE_SIZE'S", "page_size’s"])
def test_the_possessive_of_an_identifier_is_the_identifier(owner):
    assert words(owner) == words("page_size")
    assert parts(owner) == parts("page_size")
    assert words("numpy.linalg.norm's")[0] == "numpy.linalg.norm"
    assert words("MX-4471-B's")[0] == "mx-4471-b"


def test_only_a_possessive_is_cut_from_an_identifier():
    assert "page_number" in "".join(words("page_size'page_number"))
    assert words("page_size'") == ["page_size"]
    assert words("the pump's") == ["the", "pump's"]


def test_an_address_is_found_with_and_without_its_scheme():
    assert words("https://example.org/a/b.html") == ["https", *words("example.org/a/b.html")]


def test_an_option_on_a_command_line_is_found_by_its_name():
    assert words("run --page_size=50 --retries-3 --no-cache") == "run page_size 50 retries-3 no cache".split()


@quick
@given(st.text("abAB1_-./é", max_size=20))
def test_taking_apart_loses_no_letter_and_ends_in_plain_pieces(name):
    pieces = identifier_parts(name)
    assert all(pieces)
    assert name not in pieces
    if pieces:
        plain = "".join(piece for piece in pieces if not identifier_parts(piece))
        assert re.sub(r"[_\-./]", "", plain) == re.sub(r"[_\-./]", "", name)


def test_parts_can_be_switched_off():
    assert Analyzer(parts=False)("page_size MX-4471-B") == (("page_size", "mx-4471-b"), ())


# what looks alike is alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("don’t", "don't"),
        ("donʼt", "don't"),
        ("The Pump", "THE pump"),
        ("caf\u00e9", "cafe\u0301"),
        ("Straße", "STRASSE"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("MX\u20114471\u2010B", "MX-4471-B"),
        ("pagi\u00adnation", "pagination"),
        ("page\u200b_size", "page_size"),
        ("numpy.\u200blinalg", "numpy.linalg"),
        ("\ufeffpump", "pump"),
        ("pu\u200c\u200dmp\u2060", "pump"),
        ("e\u200d\u0301", "\u00e9"),
        ("reset\r\nthe\tpump\u00a0now\u2028here", "reset the pump now here"),
        ("ﬁle", "file"),
    ],
)
@pytest.mark.parametrize("analyzer", [standard, english], ids=["standard", "english"])
def test_texts_that_look_alike_have_the_same_terms(one, other, analyzer):
    assert analyzer(one) == analyzer(other)
    assert analyzer(other).words


def test_a_combining_accent_stays_with_its_letter():
    assert words("x\u0302y z") == ["x\u0302y", "z"]  # there is no single character for it


texts = st.text(st.characters(codec="utf-8"), max_size=40) | st.text("aB1é_-./'’\u0301\u00ad ", max_size=40)
plain_words = st.lists(st.text("abcdefßäöéσςжя", min_size=1, max_size=6), max_size=6).map(" ".join)


@quick
@given(texts)
def test_composed_and_decomposed_text_have_the_same_terms(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    for analyzer in (standard, english, whitespace):
        assert analyzer(text) == analyzer(composed) == analyzer(decomposed)


@quick
@given(plain_words)
def test_upper_case_has_the_same_terms(text):
    for analyzer in (standard, english):
        assert analyzer(text) == analyzer(text.upper()) == analyzer(text.title())


@quick
@given(plain_words)
def test_the_words_of_the_words_are_the_words(text):
    assert words(" ".join(words(text))) == words(text)


@quick
@given(texts)
def test_every_text_is_analysed_to_terms_that_are_never_empty(text):
    for analyzer in (standard, english, whitespace, Analyzer(pattern=r"\w*")):
        terms = analyzer(text)
        assert all(isinstance(term, str) and term for term in (*terms.words, *terms.parts))


@quick
@given(texts, texts)
def test_a_space_parts_texts(one, other):
    both = standard(f"{one} {other}")
    assert both.words == standard(one).words + standard(other).words
    assert both.parts == standard(one).parts + standard(other).parts


# presets


def test_the_whitespace_preset_takes_what_stands_between_spaces():
    assert whitespace("Reset the page_size,  (MX-4471-B)\n") == (("Reset", "the", "page_size,", "(MX-4471-B)"), ())


def test_the_standard_preset_drops_and_stems_nothing():
    assert words("Do not restart the pumps") == "do not restart the pumps".split()


def test_the_english_preset_drops_stop_words_in_any_case_and_stems():
    assert words("The PUMPS are restarted, and THE valves", english) == ["pump", "restart", "valv"]
    assert words("pagination paginating", english) == ["pagin", "pagin"]


def test_negation_is_dropped_by_one_chain_and_kept_by_the_other():
    keeps = Analyzer.english(stop=ENGLISH_STOP - {"no", "not"})
    assert words("do not restart", english) == ["do", "restart"]
    assert words("do not restart", keeps) == ["do", "not", "restart"]
    assert "not" in english.record()["stop"]
    assert "not" not in keeps.record()["stop"]


def test_english_keeps_one_letter_terms_that_are_no_stop_words():
    assert words("C and R, unit B", english) == ["c", "r", "unit", "b"]


def test_english_keeps_identifiers_as_they_are_and_stems_their_parts():
    assert english("retrying_pages") == (("retrying_pages",), ("retri", "page"))
    assert words("The_And", english) == ["the_and"]
    assert parts("The_And", english) == []
    assert words("numpy.testing", english) == ["numpy.testing"]


@pytest.mark.parametrize("text", ["", " ", "\n\t", "the of and", "?!", "\u200b"])
def test_a_text_without_a_word_left_has_no_terms(text):
    assert english(text) == ((), ())


# pieces


def test_a_stop_word_is_folded_like_the_text():
    stop = Analyzer(stop=["THE", "don’t", "cafe\u0301"])
    assert words("the The don't don’t café Pump", stop) == ["pump"]
    assert words("The the", Analyzer(stop=["the"], lower=False)) == ["The"]


@pytest.mark.parametrize("make", [lambda stop: Analyzer(stop=stop), lambda stop: Analyzer.english(stop=stop)])
def test_stop_words_given_as_one_string_are_a_type_error(make):
    with pytest.raises(TypeError, match="stop is one string"):
        make("the a an")


@pytest.mark.parametrize("stop", [["the"], ("the",), {"the"}, frozenset(["the"]), {"the": 1}])
def test_stop_words_come_in_any_collection(stop):
    assert words("the pump", Analyzer(stop=stop)) == ["pump"]


@pytest.mark.parametrize("text", [None, 7, b"pump", ["pump"], ("pump",), float("nan")])
@pytest.mark.parametrize("analyzer", [standard, english, whitespace], ids=["standard", "english", "whitespace"])
def test_only_a_string_is_a_text(text, analyzer):
    with pytest.raises(TypeError, match=f"a string, not {type(text).__name__}"):
        analyzer(text)


def test_any_function_stems():
    assert words("pumping pumps", Analyzer(stemmer=lambda word: word[:4])) == ["pump", "pump"]


def test_the_record_tells_analyzers_apart():
    from snowballstemmer.english_stemmer import EnglishStemmer
    from snowballstemmer.german_stemmer import GermanStemmer

    analyzers = [
        *(standard, english, whitespace, Analyzer(), Analyzer(lower=False), Analyzer(parts=False)),
        *(Analyzer(pattern=r"\w+"), Analyzer(stop=["a"]), Analyzer(stemmer=str.upper)),
        *(Analyzer(stemmer=EnglishStemmer().stemWord), Analyzer(stemmer=GermanStemmer().stemWord)),
    ]
    records = [str(analyzer.record()) for analyzer in analyzers]
    assert len(set(records)) == len(records)
    assert Analyzer.english().record() == english.record()


def test_two_analyzers_made_alike_are_equal():
    assert Analyzer.standard() == standard
    assert Analyzer.english() == english
    assert Analyzer.english() != Analyzer.english(stop=[])
    assert hash(Analyzer.english()) == hash(english)


def test_an_analyzer_cannot_be_changed():
    with pytest.raises(AttributeError):
        standard.lower = False


@pytest.mark.parametrize("analyzer", [standard, english, whitespace], ids=["standard", "english", "whitespace"])
def test_an_analyzer_that_was_used_can_be_pickled(analyzer):
    before = analyzer("The page_size’s pumps")
    assert pickle.loads(pickle.dumps(analyzer))("The page_size’s pumps") == before


def test_threads_do_not_mix_their_words():
    text = [f"{stem}{end}" for stem in ("pump", "restart", "connect") for end in ("s", "ed", "ing", "ings")] * 25
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: tuple(map(snowball_english, text)), range(8))) == {
            tuple(map(snowball_english, text))
        }


def test_a_missing_stemmer_is_named_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer.english_stemmer", None)
    with pytest.raises(ImportError, match="pip install snowballstemmer"):
        Analyzer.english()


# cost


ROWS = "a - . / _ ' a- a-- a. a.. a.- a/ a// a/b. a-1- aB a' 1- e\u0301".split()


@pytest.mark.parametrize("row", ROWS)
def test_a_long_row_costs_time_in_proportion(row):
    begin = process_time()
    standard(row * (100_000 // len(row)))
    assert process_time() - begin < 2  # a pattern that starts again at each character takes minutes
