"""Finding comments: a filter as a query.

What is asked of suggestions and labels can hold in either of them: `branches` has one query for each, which
the database answers from an index; `matching` is both in one, for those who want every comment once.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import Exists, Func, OuterRef, Q, QuerySet, TextField, Value

from annotation.domain.comment_filter import LABEL_STATES, SCALES, CommentFilter
from annotation.models import Annotation, AttributeLabel, Decision, Item, Suggestion
from annotation.models.suggestions import GUESSED_WORDS, GUESSES
from simulation.domain.attributes import CATALOGUE
from simulation.models import Comment, Corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    Conditions = list[Exists | Q]

WORDS = SearchVector("text", config="english")
"""The very expression of the index `comment_words`: another one would not be found in it."""
VALUE_WORDS = SearchVector(
    Func(
        "value",
        Value("[^[:alnum:]]+"),
        Value(" "),
        Value("g"),
        function="regexp_replace",
        output_field=TextField(),
    ),
    config="simple",
)
"""The words of a label's value. There are only as many as people have set: no index is kept for them."""
A_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> SearchQuery:
    """`text` in the syntax of web search, for `WORDS`."""
    return SearchQuery(text, config="english", search_type="websearch")


def matching(corpus: Corpus, asked: CommentFilter) -> QuerySet[Comment]:
    """The comments of `corpus` that `asked` means, in no order, each once.

    Attribute, value, scales and tagger must hold of one suggestion or one label together. Which of the two,
    `said` decides: a label state means a label (its tagger is that of the suggestion it judges), “suggested”
    a suggestion; otherwise either will do, a label only with a value. A tagger alone means its suggestions,
    a person their own labels.
    """
    every, some = _said(asked)
    found = _of_comments(corpus, asked, every)
    return found.filter(reduce(or_, (Q(one) for one in some))) if some else found


def branches(corpus: Corpus, asked: CommentFilter) -> Sequence[QuerySet[Comment]]:
    """Queries that together find what `matching` finds; a comment may be in more than one of them."""
    every, some = _said(asked)
    found = _of_comments(corpus, asked, every)
    return [found.filter(one) for one in some] if some else [found]


def _of_comments(corpus: Corpus, asked: CommentFilter, every: Conditions) -> QuerySet[Comment]:
    found = Comment.objects.filter(corpus=corpus)
    if asked.state != "both":
        found = found.filter(state=asked.state or "active")
    if asked.thread:
        found = found.filter(thread__public_id=asked.thread)
    if asked.author:
        found = found.filter(username=asked.author)
    for condition in every:
        found = found.filter(condition)
    if asked.text:
        found = found.alias(words=WORDS).filter(words=words(asked.text))
    return found


def _said(asked: CommentFilter) -> tuple[Conditions, list[Exists]]:
    """What must all hold of what was said about a comment, and that of which one must hold."""
    if asked.said in LABEL_STATES:
        return [Exists(_labels(asked))], []
    if asked.said == "suggested":
        return [Exists(_suggestions(asked)), *_by_person(asked)], []
    if asked.said == "unsuggested":
        bare = CommentFilter(attribute=asked.attribute, tagger=asked.tagger)
        rest = replace(asked, tagger="", said="")
        every, some = _aspects(rest) if rest.narrows else (_by_person(asked), [])
        return [~Q(Exists(_suggestions(bare))), *every], some
    if asked.said == "unreviewed":
        every, some = _aspects(replace(asked, person=""))
        return [~Q(Exists(_annotations(asked))), *every], some
    every, some = _aspects(asked)
    return [*_reviewed(asked), *every], some


def _reviewed(asked: CommentFilter) -> Conditions:
    """Conditions on reviews and queues; “differs” and “settled” speak about the attribute themselves."""
    items = Item.objects.filter(comment=OuterRef("pk"), queue__trashed_at=None)
    if asked.said == "reviewed":
        return [Exists(_annotations(asked))]
    if asked.said == "flagged":
        return [Exists(items.filter(flagged=True))]
    if asked.said == "differs":
        items = items.filter(agreement=Item.DIFFERS)
        return [Exists(items.filter(differing__contains=[asked.attribute]) if asked.attribute else items)]
    if asked.said == "settled":
        items = items.filter(agreement=Item.SETTLED)
        decided = Decision.objects.filter(item=OuterRef("pk"), attribute=asked.attribute)
        return [Exists(items.filter(Exists(decided)) if asked.attribute else items)]
    return []


def _aspects(asked: CommentFilter) -> tuple[Conditions, list[Exists]]:
    """Some suggestion or label has all that is asked of one."""
    attribute_is_met = asked.said in ("differs", "settled")
    if not asked.narrows and (not asked.attribute or attribute_is_met):
        return _by_person(asked), []
    if asked.person:
        return [Exists(_labels(asked))], []
    if asked.tagger:
        return [Exists(_suggestions(asked))], []
    return [], [Exists(_suggestions(asked)), Exists(_labels(asked))]


def _by_person(asked: CommentFilter) -> Conditions:
    return [Exists(_annotations(asked))] if asked.person else []


def _annotations(asked: CommentFilter) -> QuerySet[Annotation]:
    """What people here said about the comment: the one asked for, or anybody."""
    there = Annotation.objects.filter(comment=OuterRef("pk"))
    return there.filter(person__public_id=asked.person) if asked.person else there.exclude(person=None)


def _suggestions(asked: CommentFilter) -> QuerySet[Suggestion]:
    there = Suggestion.objects.filter(comment=OuterRef("pk"), **_scales(asked))
    if asked.tagger:
        there = there.filter(tagger=asked.tagger)
    elif not asked.attribute and any(getattr(asked, scale) for scale in SCALES):
        # An index by attribute and scales serves the scales alone when it is told all attributes there are.
        there = there.filter(attribute__in=list(CATALOGUE))
    if asked.value:
        inside = json.dumps(asked.value, ensure_ascii=False)[1:-1]
        there = there.alias(guessed=GUESSES).filter(guessed__icontains=inside)
        if query := _word_starts(asked.value):
            there = there.alias(guessed_words=GUESSED_WORDS).filter(guessed_words=query)
    return there


def _labels(asked: CommentFilter) -> QuerySet[AttributeLabel]:
    there = AttributeLabel.objects.filter(annotation__comment=OuterRef("pk"), **_scales(asked))
    if asked.said in LABEL_STATES:
        there = there.filter(Q(outcome=asked.said) | Q(outcome="imported", state=asked.said))
    else:
        there = there.filter(state="value")
    if asked.tagger:
        there = there.filter(suggestion__tagger=asked.tagger)
    if asked.value:
        there = there.filter(value__icontains=asked.value)
        if query := _word_starts(asked.value):
            there = there.alias(value_words=VALUE_WORDS).filter(value_words=query)
    if asked.person:
        there = there.filter(annotation__person__public_id=asked.person)
    return there


def _word_starts(value: str) -> SearchQuery | None:
    """Every word of `value` as the start of a word, which an index of words answers; None without a word."""
    starts = " & ".join(f"{word}:*" for word in A_WORD.findall(value))
    return SearchQuery(starts, config="simple", search_type="raw") if starts else None


def _scales(asked: CommentFilter) -> dict[str, str | int]:
    """The conditions that suggestions and labels share, as lookups."""
    asked_for = {
        "attribute": asked.attribute,
        "hardness__gte": asked.hardness_from,
        "hardness__lte": asked.hardness_to,
        "certainty__gte": asked.certainty_from,
        "certainty__lte": asked.certainty_to,
    }
    return {lookup: value for lookup, value in asked_for.items() if value not in ("", None)}
