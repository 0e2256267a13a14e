"""What stands in the tables that imports write, byte for byte."""

from django.db import connection

TABLES = (
    "simulation_profile",
    "simulation_thread",
    "simulation_comment",
    "annotation_suggestion",
    "annotation_suggestioncheck",
    "annotation_annotation",
    "annotation_attributelabel",
    "annotation_annotationevent",
)


def digests() -> dict[str, str]:
    """Rows and a digest of each table, every column of every row, in the order of keys."""
    found = {}
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(
                f"SELECT count(*) || ' ' || md5(string_agg(t::text, E'\\n' ORDER BY t.id)) FROM {table} t"
            )
            found[table] = cursor.fetchone()[0]
    return found
