from django.db import migrations

TRIGGER = """
CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON annotation_annotationevent
    FOR EACH ROW EXECUTE FUNCTION synthpai_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0002_links_and_constraints"),
        ("simulation", "0002_append_only_audit"),
    ]
    operations = [
        migrations.RunSQL(TRIGGER, "DROP TRIGGER event_append_only ON annotation_annotationevent;"),
    ]
