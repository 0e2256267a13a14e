from django.db import migrations

TRIGGER = """
CREATE TRIGGER opinion_append_only BEFORE UPDATE OR DELETE ON evaluation_opinion
    FOR EACH ROW EXECUTE FUNCTION synthpai_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0001_initial"),
        ("simulation", "0002_append_only_audit"),
    ]
    operations = [
        migrations.RunSQL(TRIGGER, "DROP TRIGGER opinion_append_only ON evaluation_opinion;"),
    ]
