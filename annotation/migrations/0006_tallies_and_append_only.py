from django.db import migrations

# Counts by person and the number of all slots, kept by the database itself: done + skipped + left = all,
# whatever changes slots. Rows are touched in the order of people, so that two statements cannot wait for
# each other.
FUNCTIONS = """
CREATE FUNCTION annotation_slots_came() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO annotation_tally AS t (queue_id, person_id, slots, done, skipped)
    SELECT * FROM (
        SELECT queue_id, NULL::bigint AS person_id, count(*) AS slots, 0 AS done, 0 AS skipped
        FROM came GROUP BY queue_id
        UNION ALL
        SELECT queue_id, person_id, 0, count(*) FILTER (WHERE state = 'done'),
               count(*) FILTER (WHERE state = 'skipped')
        FROM came WHERE state IN ('done', 'skipped') GROUP BY queue_id, person_id
    ) AS counted ORDER BY queue_id, person_id NULLS LAST
    ON CONFLICT (queue_id, person_id) DO UPDATE
    SET slots = t.slots + excluded.slots, done = t.done + excluded.done, skipped = t.skipped + excluded.skipped;
    RETURN NULL;
END $$;

CREATE FUNCTION annotation_slots_went() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE annotation_tally AS t
    SET slots = t.slots - counted.slots, done = t.done - counted.done, skipped = t.skipped - counted.skipped
    FROM (
        SELECT queue_id, NULL::bigint AS person_id, count(*) AS slots, 0 AS done, 0 AS skipped
        FROM went GROUP BY queue_id
        UNION ALL
        SELECT queue_id, person_id, 0, count(*) FILTER (WHERE state = 'done'),
               count(*) FILTER (WHERE state = 'skipped')
        FROM went WHERE state IN ('done', 'skipped') GROUP BY queue_id, person_id
    ) AS counted
    WHERE t.queue_id = counted.queue_id AND t.person_id IS NOT DISTINCT FROM counted.person_id;
    RETURN NULL;
END $$;

CREATE FUNCTION annotation_slot_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state IN ('done', 'skipped') THEN
        UPDATE annotation_tally SET
            done = done - (OLD.state = 'done')::int, skipped = skipped - (OLD.state = 'skipped')::int
        WHERE queue_id = OLD.queue_id AND person_id = OLD.person_id;
    END IF;
    IF NEW.state IN ('done', 'skipped') THEN
        INSERT INTO annotation_tally AS t (queue_id, person_id, slots, done, skipped)
        VALUES (NEW.queue_id, NEW.person_id, 0, (NEW.state = 'done')::int, (NEW.state = 'skipped')::int)
        ON CONFLICT (queue_id, person_id) DO UPDATE
        SET done = t.done + excluded.done, skipped = t.skipped + excluded.skipped;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER slots_came AFTER INSERT ON annotation_slot REFERENCING NEW TABLE AS came
    FOR EACH STATEMENT EXECUTE FUNCTION annotation_slots_came();
CREATE TRIGGER slots_went AFTER DELETE ON annotation_slot REFERENCING OLD TABLE AS went
    FOR EACH STATEMENT EXECUTE FUNCTION annotation_slots_went();
CREATE TRIGGER slot_changed AFTER UPDATE ON annotation_slot FOR EACH ROW
    WHEN ((OLD.state IN ('done', 'skipped') OR NEW.state IN ('done', 'skipped'))
          AND (OLD.state, OLD.person_id) IS DISTINCT FROM (NEW.state, NEW.person_id))
    EXECUTE FUNCTION annotation_slot_changed();
"""

COUNT_WHAT_IS_THERE = """
INSERT INTO annotation_tally (queue_id, person_id, slots, done, skipped)
SELECT queue_id, NULL, count(*), 0, 0 FROM annotation_slot GROUP BY queue_id
UNION ALL
SELECT queue_id, person_id, 0, count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'skipped')
FROM annotation_slot WHERE state IN ('done', 'skipped') GROUP BY queue_id, person_id;
"""

UNDO = """
DROP TRIGGER slots_came ON annotation_slot;
DROP TRIGGER slots_went ON annotation_slot;
DROP TRIGGER slot_changed ON annotation_slot;
DROP FUNCTION annotation_slots_came();
DROP FUNCTION annotation_slots_went();
DROP FUNCTION annotation_slot_changed();
"""

APPEND_ONLY = "".join(
    f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON annotation_{table}"
    " FOR EACH ROW EXECUTE FUNCTION synthpai_append_only();"
    for table in ("firstanswer", "decisionevent", "guideline")
)
CHANGEABLE = "".join(
    f"DROP TRIGGER {table}_append_only ON annotation_{table};"
    for table in ("firstanswer", "decisionevent", "guideline")
)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_workplace"), ("simulation", "0006_workplace")]
    operations = [
        migrations.RunSQL(FUNCTIONS, UNDO),
        migrations.RunSQL(COUNT_WHAT_IS_THERE, "DELETE FROM annotation_tally;"),
        migrations.RunSQL(APPEND_ONLY, CHANGEABLE),
    ]
