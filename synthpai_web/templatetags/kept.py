"""Parts of pages that are drawn once and used again: what says the same on every page, and comments of trees.

Drawing with templates is most of the time that a page takes. What stands here depends on nothing but its
arguments: no request, no person, no token.
"""

from functools import lru_cache
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from simulation.domain.attributes import CERTAINTY, HARDNESS, TARGETS
from simulation.domain.tree import Step
from synthpai_web.templatetags.parts import icon

register = template.Library()
CONSTANT = {"hardness": HARDNESS, "certainty": CERTAINTY, "attributes": TARGETS}
NAMED = 3
"""So many of those who wrote folded replies are named."""


@register.simple_tag
@lru_cache(maxsize=16)
def still(name: str) -> SafeString:
    """A template that is given nothing but the catalogue and the scales."""
    return render_to_string(name, CONSTANT)


@register.simple_tag
def reply_path(steps: list[Step], whole: str) -> SafeString:
    """The path to a comment with what stands beside it folded (see `simulation.selectors.threads.path_to`).

    `whole` is the address of the thread, for who has no script to fetch what is folded.
    """
    return mark_safe("".join(_drawn(step, whole) for step in steps))  # noqa: S308 - parts are escaped


def _drawn(step: Step, whole: str) -> str:
    if step.kind == "node":
        node = step.node
        assert node is not None
        context = "" if node.is_target or not node.on_path else " context"
        above = node.parent.comment if step.flat and node.parent else None
        answers = format_html('<p class="answers small faint">answers {}</p>', _name(above)) if above else ""
        drawn: Any = node.comment
        return f'<li class="node{context}">{answers}{_comment(drawn, node.is_target)}'
    if step.kind == "fold":
        return _fold(step, whole)
    return MARKS[step.kind]


MARKS = {
    "end_node": "</li>",
    "list": '<ol class="tree">',
    "end_list": "</ol>",
    "end_fold": "</ol></details></li>",
}


def _name(comment: Any) -> str:
    return str(comment.username)


@lru_cache(maxsize=4096)
def _comment(comment: Any, is_target: bool) -> SafeString:
    """One comment of the path. `comment` is a row without a life of its own: equal ones look equal."""
    node = {"comment": comment, "on_path": True}
    return render_to_string("components/comment.html", {"node": node, "role": "target" if is_target else ""})


def _fold(step: Step, whole: str) -> SafeString:
    count = len(step.folded)
    beside = "" if step.node and step.node.is_target else "sibling "
    names = format_html_join(", ", "{}", ((_name(node.comment),) for node in step.folded[:NAMED]))
    return format_html(
        '<li class="node"><details class="folded" data-lazy><summary>{}{} {}{} folded · {}{}</summary>'
        '<ol class="tree"><li class="node"><a class="small" href="{}">Read them in the whole thread</a></li>',
        icon("chev"),
        count,
        beside,
        "reply" if count == 1 else "replies",
        names,
        " and more" if count > NAMED else "",
        whole,
    )
