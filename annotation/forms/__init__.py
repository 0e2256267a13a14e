"""What pages send, read and checked."""

from annotation.forms.exchange import ExportForm, ImportForm
from annotation.forms.gold import GoldForm, GoldRow, read_gold
from annotation.forms.import_columns import ColumnsForm
from annotation.forms.queues import GuidelineForm, QueueForm, SteeringForm
from annotation.forms.review import DRAFTED, Review, as_uuid, drafted, read_review
from annotation.forms.tagging import CheckForm, ProviderChoice, TagForm

__all__ = [
    "DRAFTED",
    "CheckForm",
    "ColumnsForm",
    "ExportForm",
    "GoldForm",
    "GoldRow",
    "GuidelineForm",
    "ImportForm",
    "ProviderChoice",
    "QueueForm",
    "Review",
    "SteeringForm",
    "TagForm",
    "as_uuid",
    "drafted",
    "read_gold",
    "read_review",
]
