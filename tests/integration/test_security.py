"""Headers, cookies and logs."""

import json
import logging
import subprocess
import sys
from io import BytesIO
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse

from synthpai_web.middleware import RefuseNul, client_address


def test_the_policy_allows_our_own_files_and_nothing_else(client_of, labeler):
    policy = client_of(labeler).get(reverse("home"))["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_each_answer_carries_its_request_id_and_a_sensible_one_is_kept(client):
    assert len(client.get("/healthz")["X-Request-ID"]) == 32
    assert (
        client.get("/healthz", headers={"X-Request-ID": "proxy-12345678"})["X-Request-ID"] == "proxy-12345678"
    )
    assert "\n" not in client.get("/healthz", headers={"X-Request-ID": "bad id!"})["X-Request-ID"]


def test_the_request_log_has_facts_and_no_words_of_anybody(client_of, labeler, corpus, caplog):
    with caplog.at_level(logging.INFO, "synthpai.request"):
        client_of(labeler).get(reverse("comments", args=[corpus.public_id]), {"q": "my secret illness"})
    record = next(one for one in caplog.records if one.name == "synthpai.request")
    assert (record.method, record.view, record.status, record.person) == (
        "GET",
        "comments",
        200,
        labeler.public_id,
    )
    written = json.dumps({key: str(value) for key, value in vars(record).items()})
    for words in ("secret illness", f'"{labeler.username}', labeler.email):
        assert words not in written


def test_the_visitor_s_address_is_taken_from_our_own_proxy_only(rf, settings):
    request = rf.get("/", headers={"X-Forwarded-For": "6.6.6.6, 9.9.9.9"})
    settings.PROXY_COUNT = 0
    assert client_address(request) == "127.0.0.1"
    settings.PROXY_COUNT = 1
    assert client_address(request) == "9.9.9.9"
    settings.PROXY_COUNT = 3
    assert client_address(request) == "127.0.0.1"


@pytest.mark.parametrize(
    ("hop", "address"),
    [
        ("8.8.8.8:1234", "8.8.8.8"),
        ("[::1]:80", "::1"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("unknown", "127.0.0.1"),
        ("_hidden:80", "127.0.0.1"),
        ("[", "127.0.0.1"),
        ("1.2.3.4.5", "127.0.0.1"),
    ],
)
def test_an_address_with_a_port_is_read_and_junk_is_not_believed(rf, settings, hop, address):
    settings.PROXY_COUNT = 1
    assert client_address(rf.get("/", headers={"X-Forwarded-For": hop})) == address


NUL = "holds a NUL character"


def test_a_nul_in_an_address_is_refused_in_words(client_of, labeler, corpus):
    answer = client_of(labeler).get(f"/corpora/{corpus.public_id}/comments/?q=%00")
    assert answer.status_code == 400
    assert NUL in answer.content.decode()
    assert (
        client_of(labeler).get(reverse("comments", args=[corpus.public_id]), {"\0": "x"}).status_code == 400
    )


def test_a_nul_in_a_form_is_refused_and_says_that_nothing_is_lost(client_of, labeler):
    fields = {"email": "lena@example.org", "theme": "da\0rk"}
    answer = client_of(labeler).post(
        reverse("account"), urlencode(fields), content_type="application/x-www-form-urlencoded"
    )
    assert answer.status_code == 400
    assert NUL in answer.content.decode()
    assert "what you typed is still there" in answer.content.decode()


def test_a_form_that_a_script_sends_is_read_for_nuls_too(rf):
    request = rf.post("/", {"name": "a\0b"})  # multipart, as the test client sends
    assert RefuseNul(lambda _: HttpResponse()).process_view(request).status_code == 400


def test_an_upload_is_not_read_for_nuls_before_its_form_does(rf):
    request = rf.post("/", {"name": "a\0b", "file": BytesIO(b"x" * 1_000_000)})
    assert RefuseNul(lambda _: HttpResponse()).process_view(request) is None
    assert not hasattr(request, "_post")


def test_the_deployment_check_finds_nothing():
    ran = subprocess.run(
        [sys.executable, "-m", "synthpai_web.deploy_check"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.django_db
def test_an_unknown_address_is_a_plain_page_that_leads_home(client_of, labeler):
    answer = client_of(labeler).get("/nowhere/")
    assert answer.status_code == 404
    assert "Nothing at this address" in answer.content.decode()
