"""Sends the bench’s release as the site does, and reads it piece by piece; prints the number of bytes.

Run as `python -m tests.bench.exchanging_download`.
"""

import django

django.setup()

from django.test import Client  # noqa: E402 - after the setup
from django.urls import reverse  # noqa: E402

from evaluation.models import Release  # noqa: E402
from simulation.domain.roles import Role  # noqa: E402
from simulation.services import people  # noqa: E402
from tests.bench.plan import PASSWORD, READER  # noqa: E402

release = Release.objects.get(name="1.0")
person = people.create_user(
    username=READER, email="reader@bench.example", password=PASSWORD, role=Role.RESEARCHER
)
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
answer = client.get(reverse("release_zip", args=[release.public_id]))
assert answer.status_code == 200, answer.status_code
print(sum(len(piece) for piece in answer.streaming_content))
