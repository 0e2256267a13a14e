"""What is said of the diversity of a corpus: the numbers of a report, and the definitions of its tables.

Everything here is plain: a report is kept as JSON and read back (`boards.as_json`, `boards.from_json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation.domain.realism_areas import Area, Grouping

FEW = 30
"""Below so many items a number is marked as resting on few."""
PAPER = "H. Yukhymenko, R. Staab, M. Vero, M. Vechev (2024), arXiv:2406.07217"
WILSON = "Intervals: E. B. Wilson (1927), JASA 22, 209-212, at 95 %."
NO_EMBEDDER = (
    "No embedder is set. Install one (pip install '.[embedder]'), set EMBEDDER=wordllama for web and worker, "
    "and reload: the numbers are counted anew."
)
QUANTILES = ("0.05", "0.25", "0.5", "0.75", "0.95")


@dataclass(frozen=True)
class Spread:
    """Mean, sample deviation, ends and quantiles (by `QUANTILES`) of n numbers; None and empty for none."""

    n: int = 0
    mean: float | None = None
    std: float | None = None
    low: float | None = None
    high: float | None = None
    quantiles: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """So many of those counted, their share (0 to 1) and its 95 % interval."""

    name: str
    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Groups:
    """One attribute's groups, large ones first. `missing` had no value. `different` is how many values there
    are as they stand, before grouping; None where that was not asked."""

    groups: tuple[Group, ...]
    n: int
    missing: int
    entropy: float | None = None
    evenness: float | None = None
    simpson: float | None = None
    effective: float | None = None
    different: int | None = None


@dataclass(frozen=True)
class Likeness:
    """Mean cosine of pairs of `sampled` of `texts` comments by `authors` authors; `words` says what lacks."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    texts: int = 0
    sampled: int = 0
    authors: int = 0
    words: str = ""


@dataclass(frozen=True)
class Embedded:
    """Mean cosine distance of the vectors of `n` comments, between pairs (0 to 2) and to their centre (0 to
    1), by the embedder of that name and version; `zeros` comments had no direction. `words` says what lacks.
    """

    embedder: str = ""
    version: str = ""
    pairs: float | None = None
    centre: float | None = None
    n: int = 0
    zeros: int = 0
    words: str = NO_EMBEDDER

    @property
    def called(self) -> str:
        """Name and version of the embedder; empty without one."""
        return f"{self.embedder} {self.version}".strip()


@dataclass(frozen=True)
class Naming:
    """Whose topics were counted: a run's, by public id, name and model; all empty: what threads say.

    `threads` name any, `namings` in all; `distinct` different ones with letter case aside, `written` as they
    stand.
    """

    run: str = ""
    name: str = ""
    model: str = ""
    askreddit: bool | None = None
    """Whether r/AskReddit was allowed; None where nobody knows."""
    threads: int = 0
    namings: int = 0
    distinct: int = 0
    written: int = 0


@dataclass(frozen=True)
class Counted:
    """The diversity of a corpus or of one simulation run.

    `profiles` counts the approved profiles of the corpus, or the cast of the run; `writing` those of them
    that wrote a comment. `is_exact` is False where different words were estimated. Histograms map a number,
    written as text, to comments: `depths` levels below the post, `chains` comments from post to leaf,
    `replies` and `root_replies` answers to a reply and to a post. `overlap` maps the number of attributes
    that two profiles share to pairs of `compared` profiles. `embedded` and `naming` are not in reports of
    earlier versions.
    """

    comments: int
    withdrawn: int
    threads: int
    authors: int
    profiles: int
    writing: int
    lengths: Mapping[str, Spread]
    words: int
    types: float
    distinct: Mapping[str, float | None]
    mattr: float | None
    window: int
    is_exact: bool
    likeness: Likeness
    seed: int
    depths: Mapping[str, int]
    chains: Mapping[str, int]
    replies: Mapping[str, int]
    root_replies: Mapping[str, int]
    oddities: Mapping[str, int]
    overlap: Mapping[str, int]
    compared: int
    groups: Mapping[str, Groups]
    targets: Groups
    topics: Mapping[str, Groups]
    embedded: Embedded = field(default_factory=Embedded)
    naming: Naming = field(default_factory=Naming)


LENGTHS = {
    "characters": "Characters a comment",
    "words": "Words a comment",
    "per_author": "Comments an author",
    "per_thread": "Comments a thread",
    "agents": "Authors a thread",
    "chain": "Mean chain of a thread",
    "age": "Age of profiles, in years",
}
"""Numbers of which a distribution is shown."""
ODDITIES = {
    "self_replies": "Replies to oneself",
    "replies_by_thread_author": "Replies by the author of the thread",
    "same_author_twice_under_one_parent": "Second replies of an author to the same comment",
}
SHAPES = {
    "depths": ("Depth", "comments"),
    "chains": ("Chain from post to leaf", "leaves"),
    "replies": ("Replies to a reply", "replies"),
    "root_replies": ("Replies to a post", "posts"),
}
BIRTH = "birth_countries"
"""The key of the table of countries of birth, which is beside those of attributes."""


@dataclass(frozen=True)
class Definition:
    """A table: its name, what its numbers mean, where the formulas come from."""

    key: str
    name: str
    sentence: str
    source: str


DEFINITIONS = {
    one.key: one
    for one in (
        Definition(
            "size",
            "Size",
            "Comments that are not withdrawn; threads with at least one of them; authors who wrote one. "
            "Words are runs of letters and digits, letter case aside: no tokens of a model.",
            f"{PAPER}, Table 1.",
        ),
        Definition(
            "lengths",
            "Lengths",
            "Characters of the text as it stands. The deviation is that of a sample; a quantile between two "
            "numbers is taken in proportion. A chain counts comments from the post to one without replies.",
            f"{PAPER}, Table 1 and appendix A.2. Quantiles: R. J. Hyndman, Y. Fan (1996), American "
            "Statistician 50, 361-365, type 7.",
        ),
        Definition(
            "words",
            "Richness of words and likeness of texts",
            "Distinct-n: different runs of n words within comments / all of them; type/token is distinct-1. "
            "Both fall as a corpus grows: compare corpora of the same number of words only. MATTR: the mean "
            "share of different words in windows of {window} words; length does not matter to it. Likeness: "
            "the mean cosine of pairs of comments (TF-IDF of words), 0 where no two share a word, 1 where "
            "all are the same; its 95 % interval takes an author’s comments together.",
            "J. Li and others (2016), NAACL, 110-119; M. A. Covington, J. D. McFall (2010), Journal of "
            "Quantitative Linguistics 17, 94-100; G. Salton, C. Buckley (1988), Information Processing & "
            "Management 24, 513-523; interval: W. Hoeffding (1948), Annals of Mathematical Statistics 19, "
            "293-325.",
        ),
        Definition(
            "embedding",
            "Spread of embeddings",
            "The mean of 1 - cosine of the vectors that an embedder gives for comments: between all pairs (0 "
            "to 2) and to the mean direction (0 to 1). 0 where all point one way. Numbers of different "
            "embedders or versions cannot be compared.",
            "K. V. Mardia, P. E. Jupp (2000), Directional Statistics, chapter 9 (mean resultant length).",
        ),
        Definition(
            "shape",
            "Shape of threads",
            "The post has depth 0. A comment whose parent is withdrawn keeps its depth and counts as a reply "
            "to nobody.",
            f"{PAPER}, appendix A.2.",
        ),
        Definition(
            "overlap",
            "Facts that two profiles share",
            "Of all pairs of profiles, those with so many of the eight target attributes exactly alike. "
            "Values are compared as they stand; income in words is not among them.",
            f"{PAPER}, Fig. 3.",
        ),
        Definition(
            "profiles",
            "Profiles by attribute",
            "Ages in bands, education by degree, places by country, occupations by field of work, the others "
            "by their vocabulary. Profiles without the value are left out of n.",
            f"{PAPER}, appendix A.3 (Figs. 9-12). {WILSON}",
        ),
        Definition(
            "evenness",
            "How evenly profiles are spread",
            "Entropy in bits; evenness: entropy / its largest value for as many groups; Simpson: the "
            "probability that two profiles are of different groups; effective groups: equal groups of the "
            "same entropy. Different values are counted before grouping, letter case included.",
            "C. E. Shannon (1948); E. C. Pielou (1966), Journal of Theoretical Biology 13, 131-144; E. H. "
            "Simpson (1949), Nature 163, 688; M. O. Hill (1973), Ecology 54, 427-432.",
        ),
        Definition(
            "targets",
            "Threads by target",
            "The attribute that a thread's post asks about: as the run planned it, else by the thread's "
            "phrase, else by its name (thread_age_3).",
            f"{PAPER}, section 4.1. {WILSON}",
        ),
        Definition(
            "topics",
            "Topics by target",
            "Communities (subreddits) that a model named for each thread from its post, or that the thread "
            "says itself, letter case aside; a thread counts once for each.",
            f"{PAPER}, appendix A.4. {WILSON}",
        ),
    )
}


@dataclass(frozen=True)
class Telling:
    """A feature that speaks for one side: a word or two ("word"), or three to five characters
    ("characters"), with the texts of each side that hold it and its contribution in log odds."""

    kind: str
    text: str
    ours: int
    theirs: int
    contribution: float

    @property
    def seen(self) -> str:
        """The feature with blanks that can be seen: characters begin and end at the edges of words."""
        return self.text.replace(" ", "·") if self.kind == "characters" else self.text


@dataclass(frozen=True)
class Side:
    """One side of a comparison: all it has, what was drawn of it, and how many authors have more than may be
    drawn, so that they never are."""

    name: str
    texts: int
    authors: int
    drawn: int
    drawn_authors: int
    too_large: int = 0


@dataclass(frozen=True)
class Realism:
    """How well a machine tells the comments of a corpus from other texts.

    `auc`, `low` and `high` are None where `words` says why; they are those of the grouping by authors.
    `groupings` and `threads` are empty where they were not kept. `state` is how the corpus was: another one
    now means that it has changed since. `own_groups`: the other texts name no authors, each stands for one.
    """

    ours: Side
    theirs: Side
    auc: float | None
    low: float | None
    high: float | None
    folds: int
    seed: int
    our_words: tuple[Telling, ...] = ()
    their_words: tuple[Telling, ...] = ()
    words: str = ""
    state: str = ""
    own_groups: bool = False
    groupings: tuple[Grouping, ...] = ()
    threads: tuple[Area, ...] = ()
    """By thread of this corpus, best told first; those with too few texts come last."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both, this corpus first."""
        return self.ours, self.theirs

    @property
    def is_below(self) -> bool:
        """Whether the area lies below 0.5, by which no difference is shown either."""
        return self.auc is not None and self.auc < 0.5

    @property
    def is_told_apart(self) -> bool | None:
        """Whether the interval lies above 0.5; None where nothing was measured."""
        return None if self.low is None else self.low > 0.5
