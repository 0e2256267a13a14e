from django.db import migrations

# What a ready release is made of stays as it is, and the release stays. Added later may be: a DOI, where copies
# were pushed to, a withdrawal with its notice.
FUNCTION = """
CREATE FUNCTION evaluation_release_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a release that is ready is never deleted' USING ERRCODE = 'restrict_violation';
    END IF;
    IF (OLD.corpus_id, OLD.name, OLD.title, OLD.description, OLD.licence, OLD.query, OLD.policy, OLD.state,
        OLD.folder, OLD.manifest, OLD.digest, OLD.size, OLD.created_at)
       IS DISTINCT FROM
       (NEW.corpus_id, NEW.name, NEW.title, NEW.description, NEW.licence, NEW.query, NEW.policy, NEW.state,
        NEW.folder, NEW.manifest, NEW.digest, NEW.size, NEW.created_at)
       OR OLD.agreeing IS DISTINCT FROM NEW.agreeing
       OR (OLD.withdrawn_at IS NOT NULL AND NEW.withdrawn_at IS DISTINCT FROM OLD.withdrawn_at) THEN
        RAISE EXCEPTION 'a release that is ready never changes' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER release_frozen BEFORE UPDATE OR DELETE ON evaluation_release FOR EACH ROW
    WHEN (OLD.state = 'ready') EXECUTE FUNCTION evaluation_release_frozen();
"""
UNDO = """
DROP TRIGGER release_frozen ON evaluation_release;
DROP FUNCTION evaluation_release_frozen();
"""
# Runs on masked texts said which in their recipe; now they point to it.
POINT = """
UPDATE evaluation_predictionrun AS p SET masking_id = m.id
FROM evaluation_masking AS m
WHERE p.masking_id IS NULL AND m.corpus_id = p.corpus_id AND p.recipe ->> 'masking' = m.public_id;
"""


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0004_releases_and_topics")]
    operations = [
        migrations.RunSQL(FUNCTION, UNDO),
        migrations.RunSQL(POINT, migrations.RunSQL.noop),
    ]
