"""The floor of this stack, not a product: the least view that claims a row, and the least that answers it.

Behind the same middleware as every page: session, login, CSRF. Raw SQL, no template.
"""

import json
import uuid

from django.db import connection, transaction
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.views.decorators.http import require_GET, require_POST

from simulation.selectors.access import PersonRequest, signed_in

TABLES = """
DROP TABLE IF EXISTS bench_answer, bench_task;
CREATE TABLE bench_task (
    id bigint PRIMARY KEY, position bigint NOT NULL, text text NOT NULL, state varchar(10) NOT NULL,
    person_id bigint, leased_until timestamptz, lease uuid
);
CREATE INDEX bench_task_open ON bench_task (position) WHERE state = 'open';
CREATE TABLE bench_answer (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task_id bigint NOT NULL REFERENCES bench_task,
    person_id bigint NOT NULL, answers jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now()
);
"""
CLAIM = """
UPDATE bench_task
SET state = 'leased', person_id = %s, leased_until = now() + interval '30 minutes', lease = %s
WHERE id = (
    SELECT id FROM bench_task WHERE state = 'open' ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING id, text
"""
FINISH = """
UPDATE bench_task SET state = 'done', leased_until = NULL, lease = NULL
WHERE id = %s AND person_id = %s AND lease = %s
"""


@signed_in
@require_GET
def claim(request: PersonRequest) -> HttpResponse:
    """One open row, leased to the person."""
    lease = uuid.uuid4()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM, [request.user.pk, lease])
        found = cursor.fetchone()
    if found is None:
        return JsonResponse({"task": None})
    return JsonResponse(
        {"task": found[0], "text": found[1], "lease": str(lease), "token": get_token(request)}
    )


@signed_in
@require_POST
def submit(request: PersonRequest) -> HttpResponse:
    """The row is done, the answers are stored, committed."""
    answers = json.dumps({name: value for name, value in request.POST.items() if "-" in name})
    task = request.POST["task"]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FINISH, [task, request.user.pk, request.POST["lease"]])
        cursor.execute(
            "INSERT INTO bench_answer (task_id, person_id, answers) VALUES (%s, %s, %s)",
            [task, request.user.pk, answers],
        )
    return JsonResponse({"stored": True})
