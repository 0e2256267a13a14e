"""The pages of evaluation, over rows with the longest words there are."""

from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, AttributeLabel
from evaluation.domain.figures import FIGURES
from evaluation.models import LabelSet, PredictionRun, ResultImport, Scoring, ThreadTopics
from evaluation.selectors import boards
from evaluation.services import baselines, label_sets, questions, references, reports, scoring
from simulation.models import Corpus, Run, User
from tests.factories.annotation import SuggestionFactory
from tests.factories.evaluation import (
    LabelSetFactory,
    PredictionFactory,
    PredictionRunFactory,
    ProfileLabelFactory,
)
from tests.factories.simulation import (
    CommentFactory,
    ProfileFactory,
    ProviderFactory,
    RunFactory,
    StepFactory,
)

LONG = "unbreakable" * 10


def evaluation_pages(corpus: Corpus, admin: User) -> list[str]:
    """Their addresses; what needs counting is counted."""
    ProviderFactory(name="Z" * 60)
    labels = labelled(corpus)
    runs = [guessed(corpus, labels, number) for number in range(4)]
    runs[3].text, runs[3].counterpart = PredictionRun.ANONYMISED, runs[0]
    runs[3].save()
    runs.append(baselines.majority_guess(labels, by=admin))
    made = [scoring.score(run, labels, Scoring.DEFAULT, by=admin) for run in runs]
    scoring.score(runs[0], labels, Scoring.COMPATIBLE, by=admin)
    asked = corpus.questions.order_by("pk")[:2]
    for one in asked:
        questions.say(one, by=admin, score=0.5, note="n" * 300)
    label_sets.compare_with_profiles(labels, by=admin)
    reviewed(corpus, admin)
    naming = communities_named(corpus)
    choice = boards.choose(corpus, {})
    assert choice is not None
    reports.make(corpus, "board", choice.parameters)
    reports.make(corpus, "labels", {"queue": ""})
    reports.make(corpus, "diversity", {"run": ""})
    beside = references.add(
        corpus,
        name="R" * 110,
        values={"": {"value": 0.76, "n": 700}, "age": {"value": 0.5, "n": 36}},
        note="n" * 400,
        by=admin,
    )
    upload = ResultImport.objects.create(
        corpus=corpus,
        by=admin,
        kind=ResultImport.LABELS,
        file_name="f" * 190,
        path="",
        state=ResultImport.INVALID,
        problems=[{"file": "f" * 100, "line": 3, "field": "g" * 100, "message": "m" * 200}],
    )
    inside = [
        reverse(name, args=[corpus.public_id])
        for name in (
            "leaderboard",
            "leaderboard_pairs",
            "references",
            "reference_new",
            "figures",
            "results",
            "results_import",
            "label_set_new",
            "scoring_new",
            "settle",
            "settled",
            "matching_new",
            "inference_new",
            "label_quality",
            "diversity",
            "communities_new",
            "realism",
            "maskings",
            "masking_new",
        )
    ]
    figures = [reverse("figure", args=[corpus.public_id, one.key]) for one in FIGURES]
    return [
        reverse("models"),
        *inside,
        reverse("leaderboard", args=[corpus.public_id]) + f"?reference={beside.public_id}&measure=top3",
        *figures[::2],
        reverse("label_set_new", args=[corpus.public_id]) + "?kind=inherited",
        reverse("settle", args=[corpus.public_id]) + "?view=second",
        reverse("result_import", args=[upload.public_id]),
        reverse("prediction_run", args=[runs[0].public_id]),
        reverse("label_set", args=[labels.public_id]),
        reverse("scoring", args=[made[0].public_id]),
        reverse("scoring_difference", args=[made[0].public_id]),
        reverse("question", args=[asked[0].public_id]),
        reverse("communities", args=[corpus.public_id]),
        reverse("run", args=[naming.public_id]),
    ]


def labelled(corpus: Corpus) -> LabelSet:
    """Six authors with three labels each, one of them with words without an end."""
    found = LabelSetFactory(corpus=corpus, name="L" * 110, labels=18, profiles=6)
    for number in range(6):
        facts = {"age": 30 + number, "occupation": f"{LONG} {number}", "sex": "female"}
        author = ProfileFactory(corpus=corpus, username=f"{number}" + "A" * 99, facts=facts)
        CommentFactory(thread__corpus=corpus, profile=author, text="x" * 900)
        for attribute, worded in (
            ("age", str(30 + number)),
            ("occupation", LONG + "o" * 300),
            ("sex", "female"),
        ):
            ProfileLabelFactory(
                label_set=found, profile=author, attribute=attribute, value=worded, hardness=1 + number % 5
            )
    return found


def guessed(corpus: Corpus, labels: LabelSet, number: int) -> PredictionRun:
    run = PredictionRunFactory(
        corpus=corpus, name=f"{number}" + "G" * 110, model=f"{number}" + "M" * 110, family="F" * 60
    )
    guesses = {"age": ["30", "31"], "occupation": ["g" * 300 + str(number), "shop worker"], "sex": ["female"]}
    for row in labels.rows.select_related("profile"):
        PredictionFactory(
            prediction_run=run, profile=row.profile, attribute=row.attribute, guesses=guesses[row.attribute]
        )
    return run


def communities_named(corpus: Corpus) -> Run:
    """One thread with names, one that the model refused; everything as long as it may be."""
    plan = {"askreddit": False, "models": {"namer": {"model": "M" * 100}}, "language": "en"}
    run = RunFactory(
        corpus=corpus, kind=Run.TOPICS, name="C" * 80, state="done", plan=plan, ended_at=timezone.now()
    )
    names = ["r/" + "N" * 50, "r/short", "r/" + "n" * 50]
    for number, reason in enumerate(("", "refused")):
        root = CommentFactory(thread__corpus=corpus, thread__external_id="t" * 99 + str(number))
        StepFactory(
            run=run,
            kind="communities",
            number=number,
            asks={"thread": root.thread.pk},
            comment=root,
            state="skipped" if reason else "done",
            reason=reason,
            detail="d" * 200 if reason else "",
            result={} if reason else {"topics": names, "asked_again": True},
        )
    ThreadTopics.objects.create(run=run, thread=corpus.threads.get(external_id="t" * 99 + "0"), topics=names)
    return run


def reviewed(corpus: Corpus, admin: User) -> None:
    """Two people have labelled a comment, beside a suggestion."""
    comment = CommentFactory(thread__corpus=corpus, profile=corpus.profiles.first(), text="y" * 300)
    SuggestionFactory(comment=comment, tagger="T" * 100)
    for reviewer in ("first " + "r" * 90, "second"):
        one = Annotation.objects.create(comment=comment, reviewer=reviewer, submitted_at=timezone.now())
        AttributeLabel.objects.create(
            annotation=one, attribute="age", state="value", value="31", hardness=2, outcome="added"
        )
