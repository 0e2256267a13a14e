"""From a label back to the persona, and forward to what was built on it."""

import json

import pytest
from django.urls import reverse

from annotation.models import AnnotationEvent, Decision, DecisionEvent
from evaluation.models import Release
from evaluation.selectors import lineage
from simulation.domain.attributes import TARGETS
from tests.factories.annotation import SuggestionFactory, queue_over
from tests.factories.evaluation import LabelSetFactory, ProfileLabelFactory
from tests.factories.overview import submit
from tests.factories.simulation import (
    CommentFactory,
    CorpusFactory,
    MembershipFactory,
    ModelCallFactory,
    ProfileFactory,
    RunFactory,
    StepFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain(labeler, adjudicator):
    """A comment that a run wrote, tagged, answered twice and decided."""
    corpus = CorpusFactory()
    profile = ProfileFactory(corpus=corpus, external_id="pers7", facts={"age": 31})
    comment = CommentFactory(thread__corpus=corpus, profile=profile, author="pers7")
    run = RunFactory(corpus=corpus, kind="simulate", state="done")
    step = StepFactory(run=run, kind="turn", comment=comment)
    ModelCallFactory(run=run, step=step, purpose="comment")
    run.cast.create(profile=profile, external_id="pers7", username="x", facts={"age": 30}, version=1)
    SuggestionFactory(comment=comment)
    queue = queue_over(corpus, people=2)
    item = queue.items.get()
    submit(labeler, item, age="confirmed")
    submit(labeler, item, age="corrected")
    said = {"state": "value", "value": "51", "hardness": 1, "certainty": 5}
    Decision.objects.create(item=item, attribute="age", by=adjudicator, reason="slip", **said)
    DecisionEvent.objects.create(item=item, person=adjudicator, attribute="age", old=None, new=said)
    return comment


def page(client, comment, attribute="age"):
    return client.get(reverse("comment_lineage", args=[comment.public_id, attribute]))


def test_a_label_leads_back_to_decision_answers_tag_run_and_persona(client_of, researcher, chain, labeler):
    answer = page(client_of(researcher), chain)
    assert answer.status_code == 200
    found = answer.context["chain"]
    assert [one.decision.value for one in found.decisions] == ["51"]
    assert [one.label.value for one in found.answers] == ["51"]
    assert [one.new["value"] for one in found.answers[0].changes.shown] == ["51", "30"]
    assert found.tags[0].suggestion.words == ["30", "35", "25"]
    assert found.tags[0].seen_by == [labeler.username]
    assert found.origin.step.kind == "turn"
    assert len(found.origin.calls) == 1
    assert (found.persona.fact, found.persona.fact_then) == (31, 30)
    text = answer.content.decode()
    assert "was 30 in that run" in text
    assert found.origin.calls[0].prompt.digest[:12] in text


def test_annotators_are_numbered_for_who_may_not_manage_queues(chain, labeler):
    age = next(one for one in TARGETS if one.key == "age")
    found = lineage.of(chain, age, names_people=False)
    assert [one.who for one in found.answers] == ["annotator 1"]
    assert [one.who for one in found.decisions] == ["an adjudicator"]
    assert labeler.username not in str([one.changes.shown for one in found.answers])


def test_forward_it_names_label_sets_and_releases(client_of, researcher, chain):
    labels = LabelSetFactory(corpus=chain.corpus, name="gold labels")
    ProfileLabelFactory(label_set=labels, profile=chain.profile, comment=chain, attribute="age")
    Release.objects.create(
        corpus=chain.corpus, name="1.0", state="ready", manifest={}, policy="adjudicated", digest="d" * 64
    )
    built = page(client_of(researcher), chain).context["chain"].built
    assert [one.name for one in built.label_sets] == ["gold labels"]
    assert [one.name for one in built.releases] == ["1.0"]


def test_a_release_shows_the_row_of_its_file(client_of, researcher, chain, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    (tmp_path / "r").mkdir()
    row = {"comment_id": chain.external_id, "attribute": "age", "value": "51", "n_people": 2}
    other = row | {"attribute": "sex"}
    (tmp_path / "r" / "labels.jsonl").write_text(f"{json.dumps(other)}\n{json.dumps(row)}\n")
    release = Release.objects.create(
        corpus=chain.corpus, name="1.0", state="ready", manifest={}, policy="adjudicated", folder="r"
    )
    address = reverse("lineage", args=[release.public_id])
    answer = client_of(researcher).get(address, {"comment": chain.external_id, "attribute": "age"})
    assert answer.context["released"] == row
    assert "n_people" in answer.content.decode()
    missing = client_of(researcher).get(address, {"comment": "nobody", "attribute": "age"})
    assert missing.status_code == 404


def test_it_needs_the_right_to_see_profiles_in_this_corpus(client_of, labeler, adjudicator, chain):
    for person in (labeler, adjudicator):
        assert page(client_of(person), chain).status_code == 403
    foreign = MembershipFactory(role="researcher", corpus=CorpusFactory()).person
    assert page(client_of(foreign), chain).status_code == 404
    assert page(client_of(foreign), chain, "shoe_size").status_code == 404


def test_an_imported_comment_names_its_import(client_of, researcher, chain):
    plain = CommentFactory(thread=chain.thread)
    chain.corpus.imports.create(
        by=researcher, file_name="rows.jsonl", path="x", state="done",
        made={"simulation.comment": [[plain.pk, plain.pk]]},
    )  # fmt: skip
    chain.corpus.imports.create(
        by=researcher, file_name="others.jsonl", path="x", state="done",
        made={"simulation.comment": [[plain.pk + 1, plain.pk + 9]]},
    )  # fmt: skip
    text = page(client_of(researcher), plain).content.decode()
    assert "rows.jsonl" in text
    assert "others.jsonl" not in text


def test_the_number_of_queries_does_not_grow_with_what_was_said(
    client_of, researcher, chain, django_assert_max_num_queries, labeler
):
    with django_assert_max_num_queries(45) as few:
        page(client_of(researcher), chain)
    item = chain.items.get()
    for way in ("confirmed", "corrected", "confirmed", "rejected"):
        submit(labeler, item, age=way)
    for number in range(5):
        SuggestionFactory(comment=chain, tagger=f"other {number}")
        tagged = RunFactory(corpus=chain.corpus, kind="tag")
        step = StepFactory(run=tagged, kind="tag")
        call = ModelCallFactory(run=tagged, step=step)
        SuggestionFactory(comment=chain, tagger="t", run=tagged, call=call)
    with django_assert_max_num_queries(45) as many:
        page(client_of(researcher), chain)
    assert len(many) == len(few)


def test_each_change_of_a_decision_names_who_made_it(client_of, researcher, chain, adjudicator):
    """And not who decided last."""
    item = chain.items.get()
    other = MembershipFactory(role="adjudicator", corpus=chain.corpus).person
    said = {"state": "value", "value": "52", "hardness": 1, "certainty": 5}
    Decision.objects.filter(item=item).update(by=other, value="52")
    DecisionEvent.objects.create(item=item, person=other, attribute="age", old={"state": "none"}, new=said)
    answer = page(client_of(researcher), chain)
    (settled,) = answer.context["chain"].decisions
    assert (settled.who, [one.who for one in settled.changes.shown]) == (
        other.username,
        [other.username, adjudicator.username],
    )
    assert answer.content.decode().count(adjudicator.username) == 1


def test_of_thousands_of_changes_the_newest_are_read_and_the_others_counted(client_of, researcher, chain):
    annotation = chain.annotations.get()
    AnnotationEvent.objects.bulk_create(
        AnnotationEvent(
            annotation=annotation,
            person=annotation.person,
            attribute="age",
            old=None,
            new={"state": "value", "value": f"<script>{n}"},
            source="human",
        )
        for n in range(3000)
    )
    answer = page(client_of(researcher), chain)
    (one,) = answer.context["chain"].answers
    assert (len(one.changes.shown), one.changes.older) == (lineage.CHANGES, 3002 - lineage.CHANGES)
    assert one.changes.shown[0].new["value"] == "<script>2999"
    assert "and 2952 older" in answer.content.decode()
    assert "<script>2999" not in answer.content.decode()
