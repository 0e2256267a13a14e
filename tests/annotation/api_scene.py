"""What a tagger outside sends."""

from typing import Any


def pushed(comment: str, *, batch: str = "b1", **fields: Any) -> dict[str, Any]:
    one = {
        "comment": comment,
        "attribute": "occupation",
        "guesses": ["nurse", "midwife"],
        "hardness": "indirect",
        "certainty": 4,
    }
    return {"tagger": "my-tagger", "batch": batch, "suggestions": [one | fields]}
