"""Chunks: exact offsets, no endless loop, no chunk that an encoder would cut. Duplicates: twins, and near ones."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.corpora.chunks import (
    Passage,
    Passages,
    characters,
    headings,
    pieces_at_most,
    sentences,
    whole,
    window,
)
from ragkit.corpora.duplicates import aliases, content_hash, near_duplicates, shingles

MARKDOWN = """# Pump manual

The pump has one button. Hold it for 3.5 seconds, e.g. with a pen. It resets!

## Parts

- gasket GK-14
- fuse

```
# not a heading
```

## Returns

Write to us."""

DOCSTRING = """numpy.thing

Do a thing.

Parameters
----------
a : array_like
    Input.

Returns
-------
out : ndarray"""


def texts_of(chunking, text):
    return [text[start:end] for start, end in chunking.cut(text)]


WAYS = [whole(), characters(40), characters(40, 15), sentences(60), headings(), window(), window(limit=20, least=5)]
TEXT = st.text(st.sampled_from("ab1 .!?\n#-=`|é\u2028\u00a0\t_") | st.characters(codec="utf-8"), max_size=300)


# offsets


@pytest.mark.parametrize("way", WAYS, ids=repr)
@given(text=TEXT)
def test_spans_are_exact_in_order_and_hold_all_that_is_not_white_space(way, text):
    spans = way.cut(text)
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(text) and text[start:end].strip() for start, end in spans)
    covered = {at for start, end in spans for at in range(start, end)}
    assert all(at in covered for at, sign in enumerate(text) if not sign.isspace())


@pytest.mark.parametrize("way", [way for way in WAYS if way.name != "characters"], ids=repr)
@given(text=TEXT)
def test_no_character_stands_in_two_chunks_and_no_chunk_begins_or_ends_with_white_space(way, text):
    spans = way.cut(text)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


@pytest.mark.parametrize("limit", [1, 7, 30])
@given(text=TEXT)
def test_nothing_is_larger_than_the_window(limit, text):
    # A sign of its own that counts two pieces (1.2, rounded up) cannot be cut any further.
    assert all(
        pieces_at_most(chunk) <= limit or len(chunk.strip()) == 1 for chunk in texts_of(window(limit, least=3), text)
    )
    assert all(len(chunk) <= limit for chunk in texts_of(sentences(limit), text))


# characters


def test_ten_characters_by_four_with_an_overlap_of_two():
    assert characters(size=4, overlap=2).cut("abcdefghij") == [(0, 4), (2, 6), (4, 8), (6, 10)]


@given(st.integers(0, 60), st.integers(1, 12), st.data())
def test_every_chunk_but_the_last_has_the_size_and_none_lies_within_another(length, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    spans = characters(size, overlap).cut("x" * length)
    assert all(end - start == size for start, end in spans[:-1])
    assert all(b - a == size - overlap for (a, _), (b, _) in pairwise(spans))
    assert not spans or spans[-1][1] == length
    assert all(one < two for (_, one), (_, two) in pairwise(spans))


@pytest.mark.parametrize(
    ("size", "overlap"), [(0, 0), (-1, 0), (4, 4), (4, 5), (4, -1), (0, -1), (float("nan"), 0), (4, float("nan"))]
)
def test_sizes_that_would_not_end_are_refused(size, overlap):
    with pytest.raises(ValueError, match="size is"):
        characters(size, overlap)


@pytest.mark.parametrize("make", [sentences, window])
@pytest.mark.parametrize("size", [0, -3])
def test_a_chunk_of_nothing_is_refused(make, size):
    with pytest.raises(ValueError, match=f"is {size}"):
        make(size)


@pytest.mark.parametrize("way", WAYS, ids=repr)
@pytest.mark.parametrize("text", ["", " ", "\n\n\t"])
def test_a_blank_text_gives_no_chunk(way, text):
    assert way.cut(text) == []


# sentences and headings


def test_sentences_are_not_cut_at_abbreviations_nor_at_decimals():
    found = texts_of(sentences(size=45), MARKDOWN)
    assert found[:2] == ["# Pump manual\n\nThe pump has one button.", "Hold it for 3.5 seconds, e.g. with a pen."]
    assert found[2] == "It resets!\n\n## Parts\n\n- gasket GK-14\n- fuse"


def test_a_sentence_longer_than_the_size_is_cut_between_words_and_a_word_between_letters():
    assert texts_of(sentences(size=10), "one two three four") == ["one two", "three four"]
    assert texts_of(sentences(size=4), "abcdefghij") == ["ab", "cde", "fg", "hij"]


def test_headings_of_markdown_and_of_docstrings():
    assert [chunk.split("\n")[0] for chunk in texts_of(headings(), MARKDOWN)] == [
        "# Pump manual",
        "## Parts",
        "## Returns",
    ]
    assert [chunk.split("\n")[0] for chunk in texts_of(headings(), DOCSTRING)] == [
        "numpy.thing",
        "Parameters",
        "Returns",
    ]


def test_a_hash_in_code_and_the_rule_of_a_table_are_no_headings():
    assert len(headings().cut("# A\n\n```sh\n# a comment\n```\n\nEnd.")) == 1
    assert len(headings().cut("# A\n\n~~~\n# never closed")) == 1
    assert len(headings().cut("| a | b |\n| --- | --- |\n| 1 | 2 |")) == 1


def test_a_short_section_joins_its_neighbour_where_both_fit():
    text = "# A\n\nShort.\n\n## B\n\n" + "Words of a section. " * 10 + "\n\n## C\n\n" + "More words here. " * 10
    assert [chunk[:4] for chunk in texts_of(window(limit=400, least=20), text)] == ["# A\n", "## C"]
    assert [chunk[:4] for chunk in texts_of(window(limit=400, least=1), text)] == ["# A\n", "## B", "## C"]


def test_an_own_count_has_a_name():
    with pytest.raises(ValueError, match="counted_by"):
        window(count=len)
    by_letters = window(limit=10, count=len, counted_by="letters")
    assert by_letters.record == {"chunking": "window(limit=10, least=48, counted_by='letters')"}
    assert all(len(chunk) <= 10 for chunk in texts_of(by_letters, MARKDOWN))


# passages


def test_passages_know_where_they_stand_and_how_they_were_cut():
    docs = {"d1": "One. Two.", "d2": "", "d3": "Three."}
    passages = Passages(docs, sentences(size=5), {"corpus": "toy"})
    assert dict(passages) == {"d1#1": "One.", "d1#2": "Two.", "d3#1": "Thr", "d3#2": "ee."}
    assert passages.origin["d1#2"] == Passage("d1", 5, 9)
    assert passages.record == {"corpus": "toy", "chunking": "sentences(size=5)"}
    with pytest.raises(TypeError):
        passages.origin["d1#2"] = Passage("d1", 0, 1)
    for name, at in passages.origin.items():
        assert docs[at.doc_id][at.start : at.end] == passages[name]


# duplicates


def test_a_twin_is_found_whatever_its_white_space_and_its_title():
    docs = {"numpy.a": "numpy.a\n\nSame  text.", "numpy.b": "numpy.b\n\nSame text.\n", "numpy.c": "numpy.c\n\nOther."}
    assert aliases(docs) == {}
    assert aliases(docs, {name: name for name in docs}) == {"numpy.b": "numpy.a"}


def test_three_of_a_kind_point_to_the_first_and_blank_documents_to_none():
    assert aliases({"a": "x", "b": " ", "c": "x", "d": "x", "e": ""}) == {"c": "a", "d": "a"}


@given(st.text(), st.text())
def test_texts_with_one_hash_have_the_same_words(a, b):
    assert (content_hash(a) == content_hash(b)) == (a.split() == b.split())


def test_the_share_is_that_of_the_shorter_text():
    longer = {"short": "one two three four five six", "long": "zero one two three four five six seven eight"}
    (pair,) = near_duplicates(longer)
    assert pair == ("short", "long", 1.0)
    assert (
        near_duplicates({"a": "one two three four five six", "b": "one two three four five seven"}, share=0.51) == []
    )


@given(st.dictionaries(st.sampled_from("abcd"), st.text(st.sampled_from("xy "), max_size=20), max_size=4))
def test_near_duplicates_are_those_of_the_definition(docs):
    expected = set()
    for a in docs:
        for b in docs:
            one, two = shingles(docs[a], 2), shingles(docs[b], 2)
            if list(docs).index(a) < list(docs).index(b) and one and two:
                share = len(one & two) / min(len(one), len(two))
                if share >= 0.5:
                    expected.add((a, b, share))
    assert {tuple(pair) for pair in near_duplicates(docs, size=2)} == expected


@pytest.mark.parametrize("share", [0, -1, 1.1, float("nan")])
def test_a_share_is_above_zero_and_at_most_one(share):
    with pytest.raises(ValueError, match="share is"):
        near_duplicates({}, share=share)


def test_a_shingle_has_a_word():
    with pytest.raises(ValueError, match="size is 0"):
        shingles("one", size=0)
    assert shingles("One  two", 5) == {("one", "two")}
    assert shingles(" ") == set()
