from django.db import migrations

# What people changed in profiles and comments is kept as it was. A deleted profile or comment takes its
# story with it: only UPDATE is refused.
TABLES = ("profileversion", "commentedit")
TRIGGERS = "".join(
    f"""
CREATE TRIGGER {table}_append_only BEFORE UPDATE ON simulation_{table}
    FOR EACH ROW EXECUTE FUNCTION synthpai_append_only();
"""
    for table in TABLES
)
WORKSPACE = "INSERT INTO simulation_workspace (id, spent, held, counted_from) VALUES (1, 0, 0, now()) ON CONFLICT DO NOTHING;"
REVERSE = "".join(f"DROP TRIGGER {table}_append_only ON simulation_{table};" for table in TABLES)


class Migration(migrations.Migration):
    dependencies = [("simulation", "0008_money_profiles_and_control")]
    operations = [
        migrations.RunSQL(TRIGGERS, REVERSE),
        migrations.RunSQL(WORKSPACE, migrations.RunSQL.noop),
    ]
