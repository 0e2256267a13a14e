"""`make smoke`: the demo's whole path once, by HTTP, then the end."""

import time
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from annotation.models import Suggestion
from annotation.services import queues
from simulation.domain.run_states import RunState
from simulation.models import Comment, Corpus, Run, User
from synthpai_web import processes, simulated, starter
from synthpai_web.management.commands.demo import prepare, simulate, start_model
from synthpai_web.supervisor import ChildEnded, Stopped, Supervisor
from synthpai_web.walk import Visitor, WalkFailed, check_export, import_one, review_one

LAYOUTS = ("synthpai", "jsonl", "csv")


BOARD_SECONDS = 120.0
"""Within which a worker counts the demo's leaderboard."""


class Command(BaseCommand):
    help = "Walks every main page as each role, reviews one comment, exports, checks; prints one line."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with Supervisor(settings.VAR_DIR / "log") as supervisor:
                prepare()
                accounts, corpus = starter.sow(settings.VAR_DIR)
                port = processes.free_port(8700)
                model = start_model(supervisor, beside=port)
                processes.start(supervisor, port)
                run = simulate(model, self.stderr.write)
                base = f"http://{processes.HOST}:{port}"
                said = f"{walk(base, accounts, corpus)}; {walk_run(base, accounts, run, model.paid)}"
                said += f"; {walk_board(base, accounts, run.corpus, model.paid)}"
        except Stopped:
            raise CommandError("smoke failed: stopped by a signal") from None
        except (ChildEnded, WalkFailed, simulated.NotPaid) as error:
            raise CommandError(f"smoke failed: {error}") from None
        self.stdout.write(said)


def walk(base: str, accounts: list[starter.Account], corpus: Corpus) -> str:
    """The whole path; raises WalkFailed at the first thing that is not as it must be."""
    comment = corpus.comments.order_by("sequence")[0]
    profile = corpus.profiles.order_by("pk")[0]
    home = f"/corpora/{corpus.public_id}/"
    open_to_all = ["/", "/help/", "/account/", "/corpora/", home, f"{home}comments/"]
    open_to_all += [f"/threads/{comment.thread.public_id}/", f"/comments/{comment.public_id}/"]
    researchers = [f"{home}profiles/", f"/profiles/{profile.public_id}/", f"{home}import/", f"{home}export/"]
    open_to_all += [f"/comments/{comment.public_id}/author/", f"{home}comments/?q=my"]
    researchers += [f"{home}queues/new/", "/trash/", f"{home}profiles/check/", f"{home}tags/checks/"]
    researchers += ["/corpora/new/", "/prices/", "/budget/"]
    researchers += ["/models/"]
    evaluated = ("leaderboard", "figures", "label-quality", "results", "labels/new", "settle", "references")
    researchers += [f"{home}{page}/" for page in evaluated]
    admins = ["/people/", "/people/invite/", "/people/audit/", "/providers/", "/runs/presets/"]
    admins += [f"{home}{page}/" for page in ("profiles/new", "profiles/generate", "artefacts", "runs/new")]
    admins += [f"{home}tagging/new/", f"{home}tags/checks/new/", f"{home}inference/new/"]
    visitors = {account.role: Visitor(base) for account in accounts}
    for account in accounts:
        visitor = visitors[account.role]
        visitor.sign_in(account.username, account.password)
        for path in open_to_all:
            visitor.get(path)
        for path in researchers:
            visitor.get(path, expect=200 if account.role in {"researcher", "admin"} else 403)
        visitor.get(f"{home}tags/compare/", expect=403 if account.role == "labeler" else 200)
        for path in admins:
            visitor.get(path, expect=200 if account.role == "admin" else 403)
    queue = queues.create(
        by=User.objects.get(username="admin"),
        corpus=corpus,
        name=f"smoke {time.time():.0f}",
        people_per_item=1,
    )
    visitors["labeler"].get("/review/")
    review_one(visitors["labeler"], queue.public_id)
    for path in ("history/", "last/", "guidelines/"):
        visitors["labeler"].get(f"/review/{queue.public_id}/{path}")
    visitors["labeler"].get("/review/keys/")
    for path in ("", "settings/", "guidelines/", "gold/", "tables/people.csv"):
        visitors["researcher"].get(f"/queues/{queue.public_id}/{path}")
    visitors["researcher"].get(f"{home}authors/")
    for path in ("/adjudication/", f"/adjudication/{queue.public_id}/"):
        visitors["adjudicator"].get(path)
    import_one(visitors["researcher"], home, starter.FOLDER / "threads" / "thread_age_1.json")
    comments = corpus.comments.count()
    exported = {
        layout: check_export(
            layout,
            visitors["researcher"].get(f"{home}export/download/?format={layout}").text,
            comments=comments,
        )
        for layout in LAYOUTS
    }
    queues.set_state(by=User.objects.get(username="admin"), queue=queue, state="closed")
    return (
        f"smoke ok: {corpus.profiles.count()} profiles, {corpus.threads.count()} threads,"
        f" {Comment.objects.filter(corpus=corpus).count()} comments,"
        f" {Suggestion.objects.filter(comment__corpus=corpus).count()} tags, {exported['synthpai']} exported"
    )


def walk_run(base: str, accounts: list[starter.Account], run: Run, paid: bool) -> str:
    """The agents' run and what came of it: its pages, enough threads, comments and tags, one of them
    reviewed, all of them exported. A paid run may have stopped at its cap; then there is less."""
    corpus = run.corpus
    threads, comments = corpus.threads.count(), corpus.comments.count()
    tags = Suggestion.objects.filter(run__follows=run).count()
    if not paid:
        if run.state != RunState.DONE:
            raise WalkFailed(f"the simulation is {run.state}: {run.reason}")
        if threads < 3 or comments < 60 or tags < 20:
            raise WalkFailed(f"the agents wrote {threads} threads, {comments} comments, {tags} tags")
    thread = run.run_threads.filter(thread__isnull=False)[0]
    call = run.model_calls.filter(purpose="turn")[0]
    home = f"/runs/{run.public_id}/"
    for account in accounts:
        visitor = Visitor(base)
        visitor.sign_in(account.username, account.password)
        pages = ["/runs/", home, f"{home}events/", f"{home}threads/{thread.index + 1}/"]
        pages += [f"{home}calls/{call.public_id}/", f"{home}failures/"]
        for path in pages:
            visitor.get(path, expect=200 if account.role in {"researcher", "admin"} else 403)
        for page in ("replay/", "again/", f"threads/{thread.index + 1}/fork/"):
            visitor.get(f"{home}{page}", expect=200 if account.role == "admin" else 403)
        if account.role == "labeler":
            queue = corpus.queues.get(name=simulated.QUEUE)
            review_one(visitor, queue.public_id)
        if account.role == "researcher":
            address = f"/corpora/{corpus.public_id}/export/download/?format=synthpai"
            exported = visitor.get(address).text
    return f"simulated {threads} threads, {comments} comments, {tags} tags, " + (
        f"{len(exported.splitlines())} exported"
    )


def walk_board(base: str, accounts: list[starter.Account], corpus: Corpus, paid: bool) -> str:
    """The leaderboard of the agents' corpus, once a worker has counted it: its guesses, figures and files."""
    (account,) = [one for one in accounts if one.role == "researcher"]
    visitor = Visitor(base)
    visitor.sign_in(account.username, account.password)
    home = f"/corpora/{corpus.public_id}/"
    end = time.monotonic() + BOARD_SECONDS
    least = 2 if paid else 8
    while len(rows := visitor.get(f"{home}leaderboard/ranking.csv").text.splitlines()) < least:
        if time.monotonic() > end:
            if paid:
                return "no leaderboard"
            break
        visitor.get(f"{home}leaderboard/")
        time.sleep(1)
    if not paid and len(rows) != least:
        raise WalkFailed(
            f"the leaderboard has {len(rows) - 1} lines: two models, one of them also on the texts of three"
            " maskers, the tags and a baseline are meant"
        )
    if not paid and len(visitor.get(f"{home}masking/table.csv").text.splitlines()) < 4:
        raise WalkFailed("the table of maskings has fewer than the three that were made")
    for page in (
        "leaderboard/differences/",
        "figures/",
        "figures/ranking/",
        "results/",
        "settle/",
        "masking/",
    ):
        visitor.get(f"{home}{page}")
    if "<svg" not in visitor.get(f"{home}figures/ranking.svg").text:
        raise WalkFailed("the figure of the leaderboard is no SVG")
    return f"{len(rows) - 1} on the leaderboard"
