"""Jaro-Winkler similarity of two words, in the two forms that are in use.

Winkler 1990: J + 0.1 · p · (1 − J), where J is Jaro's similarity and p the number of letters, up to 4, that
both begin with. The classic form adds the prefix always; most libraries of today only where J > 0.7. The
published scores of SynthPAI agree better with the classic form.
"""

from itertools import takewhile

from rapidfuzz.distance import Jaro

PREFIX_WEIGHT = 0.1
LONGEST_PREFIX = 4
BOOST_ABOVE = 0.7
"""Jaro similarity from which the thresholded form adds the prefix."""
LIKE_ABOVE = 0.75
"""Two words are like each other above this similarity (published scoring)."""
LONGEST = 1000
"""Characters of a text that are compared."""


def jaro_winkler(a: str, b: str, *, classic: bool = True) -> float:
    """Similarity from 0 (no letter shared) to 1 (the same), symmetric; letter case and blanks count.

    Two empty texts are the same (1), an empty and another one share nothing (0). Of long texts the first
    1000 characters count. Never raises.
    """
    a, b = a[:LONGEST], b[:LONGEST]
    jaro = Jaro.similarity(a, b)
    if not classic and jaro <= BOOST_ABOVE:
        return jaro
    pairs = zip(a[:LONGEST_PREFIX], b[:LONGEST_PREFIX], strict=False)
    prefix = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return jaro + PREFIX_WEIGHT * prefix * (1 - jaro)


def is_like(a: str, b: str, *, classic: bool = True) -> bool:
    """Whether the published scoring takes the two for the same: a similarity above 0.75."""
    return jaro_winkler(a, b, classic=classic) > LIKE_ABOVE
