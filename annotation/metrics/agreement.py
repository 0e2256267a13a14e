"""The door to the agreement measures: which there are, what each is for, and what they give when they cannot.

- `percent_agreement`: what people ask for first; not corrected for chance.
- `nominal_alpha`, `ordinal_alpha`, `attribute_alpha`: Krippendorff's alpha for values that are equal or not,
  for a scale such as hardness, and for attributes where an answer can be partly right.
- `cohen_kappa`: two raters, such as a model's hardness against a person's; plain, linear or quadratic.
- `gwet_ac1`: beside alpha where nearly everybody gives the same value and alpha looks broken.

Ratings come from `gather` (unit, rater, value) or `from_columns`. Each measure returns an `Agreement`: the
value with a 95 % interval over units and the numbers of units, raters and values; where there is no value it
says why (`Undefined`) and in words. The same seed gives the same interval.
"""

from annotation.metrics.alpha import (
    BadDistance,
    TooManyValues,
    attribute_alpha,
    nominal_alpha,
    ordinal_alpha,
)
from annotation.metrics.kappa import Weights, cohen_kappa
from annotation.metrics.measured import WORDS, Agreement, Undefined
from annotation.metrics.ratings import NotOnScale, Ratings, RepeatedRating, from_columns, gather
from annotation.metrics.raw_agreement import gwet_ac1, percent_agreement

__all__ = [
    "WORDS",
    "Agreement",
    "BadDistance",
    "NotOnScale",
    "Ratings",
    "RepeatedRating",
    "TooManyValues",
    "Undefined",
    "Weights",
    "attribute_alpha",
    "cohen_kappa",
    "from_columns",
    "gather",
    "gwet_ac1",
    "nominal_alpha",
    "ordinal_alpha",
    "percent_agreement",
]
