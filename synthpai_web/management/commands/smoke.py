"""`make smoke`: the demo's whole path once, by HTTP, then the end."""

import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from annotation.models import Suggestion
from annotation.services import queues
from evaluation.models import Release
from simulation.domain.run_states import RunState
from simulation.domain.scopes import Scope
from simulation.models import Comment, Corpus, Run, User
from simulation.services import api_tokens
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
                said += f"; {walk_release(base, accounts, run.corpus, model.paid)}"
        except Stopped:
            raise CommandError("smoke failed: stopped by a signal") from None
        except (ChildEnded, WalkFailed, simulated.NotPaid) as error:
            raise CommandError(f"smoke failed: {error}") from None
        self.stdout.write(said)


@dataclass(frozen=True)
class Pages:
    """Addresses by who may open them."""

    everybody: list[str]
    researchers: list[str]
    admins: list[str]


def _pages(corpus: Corpus) -> Pages:
    comment = corpus.comments.order_by("sequence")[0]
    profile = corpus.profiles.order_by("pk")[0]
    home = f"/corpora/{corpus.public_id}/"
    open_to_all = ["/", "/help/", "/account/", "/corpora/", home, f"{home}comments/"]
    open_to_all += [f"/threads/{comment.thread.public_id}/", f"/comments/{comment.public_id}/"]
    researchers = [f"{home}profiles/", f"/profiles/{profile.public_id}/", f"{home}import/", f"{home}export/"]
    open_to_all += ["/account/tokens/", "/api/v1/docs/", "/api/v1/me/", "/api/v1/corpora/"]
    open_to_all += [f"/comments/{comment.public_id}/author/", f"{home}comments/?q=my"]
    researchers += [f"{home}queues/new/", "/trash/", f"{home}profiles/check/", f"{home}tags/checks/"]
    researchers += ["/corpora/new/", "/prices/", "/budget/"]
    researchers += ["/models/"]
    evaluated = ("leaderboard", "figures", "label-quality", "results", "labels/new", "settle", "references")
    researchers += [f"{home}{page}/" for page in evaluated]
    admins = ["/people/", "/people/invite/", "/people/audit/", "/providers/", "/runs/presets/"]
    admins += [f"{home}{page}/" for page in ("profiles/new", "profiles/generate", "artefacts", "runs/new")]
    admins += ["/operations/", "/people/audit.csv", f"{home}webhooks/", f"{home}webhooks/new/"]
    admins += [f"{home}communities/new/"]
    researchers += [f"{home}communities/", f"{home}releases/", f"{home}releases/new/"]
    researchers += [f"/comments/{comment.public_id}/lineage/occupation/"]
    admins += [f"{home}tagging/new/", f"{home}tags/checks/new/", f"{home}inference/new/"]
    return Pages(open_to_all, researchers, admins)


def _look(visitor: Visitor, role: str, pages: Pages, home: str) -> None:
    """Every page, open to whom it is and to nobody else."""
    for path in pages.everybody:
        visitor.get(path)
    for path in pages.researchers:
        visitor.get(path, expect=200 if role in {"researcher", "admin"} else 403)
    visitor.get(f"{home}tags/compare/", expect=403 if role == "labeler" else 200)
    for path in pages.admins:
        visitor.get(path, expect=200 if role == "admin" else 403)


def walk(base: str, accounts: list[starter.Account], corpus: Corpus) -> str:
    """The whole path; raises WalkFailed at the first thing that is not as it must be."""
    visitors = {account.role: Visitor(base) for account in accounts}
    pages = _pages(corpus)
    for account in accounts:
        visitors[account.role].sign_in(account.username, account.password)
        _look(visitors[account.role], account.role, pages, f"/corpora/{corpus.public_id}/")
    home = f"/corpora/{corpus.public_id}/"
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


def walk_release(base: str, accounts: list[starter.Account], corpus: Corpus, paid: bool) -> str:
    """The demo's release, once the worker has made it: its page, every file by the API against its digest,
    and where one of its labels comes from."""
    (account,) = [one for one in accounts if one.role == "researcher"]
    person = User.objects.get(username=account.username)
    release = Release.objects.filter(corpus=corpus).first()
    if release is None:
        if paid:
            return "no release"
        raise WalkFailed("the demo made no release")
    name = f"smoke {time.time():.0f}"
    token, text = api_tokens.make_token(by=None, person=person, name=name, scopes=list(Scope), days=1)
    visitor, api = Visitor(base), Visitor(base, token=text)
    visitor.sign_in(account.username, account.password)
    address = f"/api/v1/releases/{release.public_id}/"
    end = time.monotonic() + BOARD_SECONDS
    while (found := json.loads(api.get(address).text))["state"] not in ("ready", "failed"):
        if time.monotonic() > end:
            raise WalkFailed(f"the release is still {found['state']}")
        time.sleep(0.5)
    if found["state"] != "ready":
        raise WalkFailed(f"the release is {found['state']}: {found['reason']}")
    files = json.loads(api.get(f"{address}files/").text)["files"]
    for file in files:
        content = api.content(f"{address}files/{file['name']}/")
        if hashlib.sha256(content).hexdigest() != file["sha256"]:
            raise WalkFailed(f"{file['name']} of the release is not what its manifest says")
    label = json.loads(api.content(f"{address}files/labels.jsonl/").splitlines()[0])
    asked = urlencode({"comment": label["comment_id"], "attribute": label["attribute"]})
    for page in ("", f"lineage/?{asked}"):
        visitor.get(f"/releases/{release.public_id}/{page}")
    api_tokens.revoke_token(by=None, token=token)
    api.get(address, expect=401)
    return f"release {release.name} of {len(files)} files"
