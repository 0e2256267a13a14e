from django.db import migrations

# One function for every append-only table of the product; the message names the table.
FUNCTION = """
CREATE FUNCTION synthpai_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON simulation_auditentry
    FOR EACH ROW EXECUTE FUNCTION synthpai_append_only();
"""
REVERSE = """
DROP TRIGGER audit_append_only ON simulation_auditentry;
DROP FUNCTION synthpai_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("simulation", "0001_initial")]
    operations = [migrations.RunSQL(FUNCTION, REVERSE)]
