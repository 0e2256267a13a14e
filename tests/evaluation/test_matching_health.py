"""How judges do: no verdict, flips, spread, agreement with people."""

import pytest
from django.template.loader import render_to_string

from evaluation.models import Opinion
from evaluation.selectors.matching import Figure, judge_health
from evaluation.services import questions
from simulation.models import Run
from tests.factories.evaluation import QuestionFactory
from tests.factories.simulation import CorpusFactory, ProviderFactory, RunFactory, UserFactory

pytestmark = pytest.mark.django_db


def judge_run(corpus, model="judge-1", **fields):
    plan = {"models": {"judge": {"model": model, "provider": fields.pop("elsewhere", "")}}}
    return RunFactory(corpus=corpus, kind=Run.MATCH, state="done", plan=plan, **fields)


def say(run, *scores, asked):
    questions.judged(run, None, [(one.pk, score) for one, score in zip(asked, scores, strict=True)])


def people_say(person, *scores, asked):
    for one, score in zip(asked, scores, strict=True):
        if score is not None:
            questions.say(one, by=person, score=score)


@pytest.fixture
def asked(corpus):
    return [QuestionFactory(corpus=corpus, guess=f"guess {number}") for number in range(4)]


def test_counts_flips_and_agreement_by_hand(corpus, asked, researcher):
    first = judge_run(corpus)
    say(first, 1, 0.5, 0, None, asked=asked)
    say(judge_run(corpus, provider=first.provider), 1, 0, 0, 1, asked=asked)
    people_say(researcher, 1, 0.5, 0, None, asked=asked)
    (found,) = judge_health(corpus)
    assert (found.model, found.provider, found.runs) == ("judge-1", first.provider.name, 2)
    assert (found.answered, found.unsaid.hits, found.unsaid.n) == (4, 1, 8)
    # Three questions have two answers; those to the second differ, by a half.
    assert (found.flips.value, found.flips.n) == (pytest.approx(1 / 3), 3)
    assert found.spread == pytest.approx(0.5 / 3)
    # The latest answers are 1, 0, 0; people say 1, 0.5, 0.
    assert (found.percent.value, found.percent.n) == (pytest.approx(2 / 3), 3)
    assert found.kappa.value == pytest.approx(1 - (1 / 3) / (6 / 9))
    assert found.percent.few
    assert found.percent.low < found.percent.value < found.percent.high


def test_each_question_weighs_the_same_however_often_it_was_asked(corpus, asked):
    provider = ProviderFactory()
    for scores in ((1, 1), (0, 1), (1, 1)):
        say(judge_run(corpus, provider=provider), *scores, asked=asked[:2])
    (found,) = judge_health(corpus)
    # 1, 0, 1: two of three pairs differ; 1, 1, 1: none does.
    assert found.flips.value == pytest.approx((2 / 3 + 0) / 2)


def test_the_order_of_the_scale_counts_for_alpha_and_not_for_kappa(corpus, researcher):
    asked = [QuestionFactory(corpus=corpus) for _ in range(12)]
    truth = [0, 0.5, 1] * 4
    near, far = list(truth), list(truth)
    near[0], far[0] = 0.5, 1
    people_say(researcher, *truth, asked=asked)
    say(judge_run(corpus, "near"), *near, asked=asked)
    say(judge_run(corpus, "far"), *far, asked=asked)
    far, near = judge_health(corpus)
    assert (far.model, near.model) == ("far", "near")
    assert far.kappa.value == pytest.approx(near.kappa.value)
    assert far.alpha.value < near.alpha.value < 1


def test_what_people_have_not_settled_is_compared_with_nothing(corpus, asked, researcher):
    say(judge_run(corpus), 1, 1, 1, 1, asked=asked)
    people_say(researcher, 0, None, None, None, asked=asked)
    questions.say(asked[0], by=UserFactory(), score=1.0)  # they differ
    (found,) = judge_health(corpus)
    assert (found.percent.n, found.percent.value) == (0, None)
    for figure in (found.percent, found.kappa, found.alpha):
        assert figure.words == "no question was answered by both"
    assert (found.flips.words, found.spread) == ("no question was asked twice", None)


def test_where_one_verdict_alone_was_given_chance_is_unknown_and_words_say_so(corpus, asked, researcher):
    say(judge_run(corpus), 0, 0, 0, 0, asked=asked)
    people_say(researcher, 0, 0, 0, 0, asked=asked)
    (found,) = judge_health(corpus)
    assert (found.percent.value, found.kappa.value, found.alpha.value) == (1, None, None)
    assert "one and the same verdict" in found.kappa.words
    assert found.percent.low < 1


def test_a_judge_is_a_model_at_a_provider_and_other_corpora_and_sources_do_not_count(
    corpus, asked, researcher
):
    here, elsewhere = ProviderFactory(name="here"), ProviderFactory(name="there")
    say(judge_run(corpus, provider=here), 1, 1, 1, 1, asked=asked)
    say(judge_run(corpus, provider=here, elsewhere=elsewhere.public_id), 1, 1, 1, 1, asked=asked)
    questions.recorded(corpus, "a.jsonl", [(asked[0].pk, 0.0)])
    other = QuestionFactory()
    say(judge_run(other.corpus), 1, asked=[other])
    assert [(one.model, one.provider, one.answered) for one in judge_health(corpus)] == [
        ("judge-1", "here", 4),
        ("judge-1", "there", 4),
    ]
    assert judge_health(CorpusFactory()) == []


def test_a_second_try_within_a_run_is_one_answer(corpus, asked):
    run = judge_run(corpus)
    say(run, None, asked=asked[:1])
    say(run, 1, asked=asked[:1])
    assert Opinion.objects.count() == 2
    (found,) = judge_health(corpus)
    assert (found.answered, found.unsaid.hits, found.unsaid.n, found.flips.n) == (1, 0, 1, 0)


def test_the_number_of_queries_does_not_depend_on_how_much_there_is(corpus, asked, django_assert_num_queries):
    say(judge_run(corpus), 1, 1, 1, 1, asked=asked)
    with django_assert_num_queries(4):
        judge_health(corpus)
    more = [QuestionFactory(corpus=corpus) for _ in range(20)]
    for model in ("a", "b", "c"):
        say(judge_run(corpus, model), *[1] * 20, asked=more)
    with django_assert_num_queries(4):
        assert len(judge_health(corpus)) == 4


def test_the_part_says_every_number_with_its_n_and_marks_few(corpus, asked, researcher):
    first = judge_run(corpus)
    say(first, 1, 0.5, 0, None, asked=asked)
    say(judge_run(corpus, provider=first.provider), 1, 0, 0, 1, asked=asked)
    people_say(researcher, 1, 0.5, 0, None, asked=asked)
    page = " ".join(
        render_to_string("evaluation/_judge_health.html", {"health": judge_health(corpus)}).split()
    )
    assert "<b>12.5 %</b>" in page
    assert "1 of 8" in page
    assert '<b class="few-n">33.3 %</b>' in page
    assert "n = 3, few" in page
    assert "guess 1" not in page
    assert "No judge has been asked" in render_to_string("evaluation/_judge_health.html", {"health": []})


def test_numbers_are_written_with_their_ends():
    assert (Figure(0.5, 0.25, 0.75, 40).said, Figure(0.5, 0.25, 0.75, 40).interval) == (
        "50.0 %",
        "25.0 to 75.0",
    )
    small = Figure(-0.001, None, None, 30, is_share=False)
    assert (small.said, small.interval, small.few) == ("0.00", "", False)
    assert (Figure(None, None, None, 0).said, Figure(None, None, None, 0).few) == ("", False)
