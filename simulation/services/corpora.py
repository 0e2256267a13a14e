"""Making a corpus."""

from __future__ import annotations

from django.conf.locale import LANG_INFO
from django.core.exceptions import ValidationError
from django.db import transaction

from simulation.models import Corpus, User
from simulation.services import audit, prompts

DEFAULT_LANGUAGE = "en"


def languages() -> list[tuple[str, str]]:
    """(code, name) of the languages in which threads can be written: those with a file for every prompt."""
    codes = {DEFAULT_LANGUAGE}
    for path in prompts.FOLDER.glob(f"{prompts.THREAD[0]}.*.md"):
        code = path.name.split(".")[-2]
        if all((prompts.FOLDER / f"{name}.{code}.md").is_file() for name in prompts.THREAD):
            codes.add(code)
    named = [(code, LANG_INFO.get(code, {}).get("name_local", code)) for code in codes]
    return sorted(named, key=lambda one: (one[0] != DEFAULT_LANGUAGE, one[1]))


@transaction.atomic
def create_corpus(
    *,
    name: str,
    by: User | None = None,
    description: str = "",
    licence: str = "",
    language: str = DEFAULT_LANGUAGE,
) -> Corpus:
    """A new, empty corpus; `by` is None for a command of the machine's operator.

    `language` is the code of one for which there are prompt files. Raises ValidationError for an empty or
    too long field and for a language without prompts, IntegrityError for a name that is taken.
    """
    offered = [code for code, _ in languages()]
    if language not in offered:
        raise ValidationError(
            {"language": f"There are no prompts for “{language}”; there are some for {', '.join(offered)}."}
        )
    corpus = Corpus(name=name.strip(), description=description, licence=licence, language=language)
    corpus.full_clean(validate_unique=False, validate_constraints=False)
    corpus.save()
    audit.record(by=by, action="corpus.created", target=corpus, corpus=corpus)
    return corpus
