"""What a person may be about to type: names of places and occupations, from public lists only.

Neither the corpus nor a profile is asked, so nothing of the truth can come out of here. The answer is the
same for everybody, and a browser may keep it for an hour.
"""

from django.http import Http404, HttpResponse, JsonResponse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from simulation.domain import occupations, places
from simulation.domain.attributes import CATALOGUE, Kind
from simulation.domain.roles import Right
from simulation.selectors.access import PersonRequest, needs

LONGEST = 100
AT_MOST = 8
KEPT = 3600
"""Seconds for which a browser may keep an answer."""


@needs(Right.REVIEW)
@require_safe
def lookup(request: PersonRequest, attribute: str) -> HttpResponse:
    """{"values": names that `q` may be the beginning of, likeliest first}; nothing for an endless `q`."""
    wanted = CATALOGUE.get(attribute)
    if wanted is not None and wanted.kind is Kind.PLACE:
        suggest = places.suggest
    elif attribute == "occupation":
        suggest = occupations.suggest
    else:
        raise Http404("nothing can be looked up for this attribute")
    text = request.GET.get("q", "")
    answer = JsonResponse({"values": suggest(text, AT_MOST) if len(text) <= LONGEST else []})
    patch_cache_control(answer, private=True, max_age=KEPT)
    return answer
