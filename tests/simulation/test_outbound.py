"""The second door: what goes out, where it may go, and that nothing that comes back holds or fills us."""

import itertools
import socket
import ssl
import subprocess
import threading
from urllib.parse import urlsplit

import pytest

from simulation.domain.addresses import AddressGuard, BadAddress
from simulation.outbound.posting import MOST_READ, MOST_TOLD, Answer, post
from tests.receiving import Say, receiving

BODY = b'{"type":"ping"}'


def guard_for(*receivers, **options):
    return AddressGuard([receiver.endpoint for receiver in receivers], **options)


def send(url, guard, *, timeout=10.0, headers=None):
    return post(url, BODY, headers or {}, guard=guard, timeout=timeout)


def test_the_body_arrives_as_it_is_with_our_headers_and_the_query():
    with receiving() as there:
        answer = send(there.url, guard_for(there), headers={"Webhook-Id": "m1"})
        (seen,) = there.seen
    assert (answer.status, answer.detail) == (204, "")
    assert answer.ms >= 0
    assert (seen.path, seen.body, seen.headers["webhook-id"]) == ("/hook?key=abc", BODY, "m1")
    assert seen.headers["user-agent"].startswith("SynthPAI-Studio/")
    assert seen.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://hooks.example.org/x", "http is for listed private endpoints only"),
        ("ftp://hooks.example.org/x", "must begin with https://"),
        ("file:///etc/passwd", "must begin with https://"),
        ("gopher://127.0.0.1:6379/_x", "must begin with https://"),
        ("https://me:pw@hooks.example.org/x", "a name or password"),
        ("https://hooks.example.org\\@127.0.0.1/x", "a blank, a backslash"),
        ("https://hooks.example.org/x y", "a blank, a backslash"),
        ("https://hooks.example.org/x#part", "from # on"),
        ("https://", "has no host"),
        ("https://127.0.0.1/x", "not on the open internet"),
        ("https://[::1]/x", "not on the open internet"),
        ("https://[::ffff:10.0.0.1]/x", "not on the open internet"),
        ("https://169.254.169.254/latest/meta-data", "not on the open internet"),
        ("https://0x7f000001/x", "not on the open internet"),
        ("https://2130706433/x", "not on the open internet"),
    ],
)
def test_where_nothing_may_go_nothing_goes(url, said):
    answer = send(url, AddressGuard())
    assert answer.status is None
    assert answer.detail.startswith("not sent: ")
    assert said in answer.detail


def test_a_name_that_leads_to_a_private_address_is_refused():
    guard = AddressGuard(resolver=lambda host, port: ["93.184.215.14", "10.0.0.7"])
    assert "hooks.example.org is at 10.0.0.7" in send("https://hooks.example.org/x", guard).detail


def test_a_name_that_changes_after_it_was_judged_is_judged_again_and_reached_nowhere():
    """Rebinding: public when the address is checked, ours when it is connected to."""
    asked = []

    def rebinding(host, port):
        asked.append(host)
        return ["93.184.215.14"] if len(asked) == 1 else ["127.0.0.1"]

    guard = AddressGuard(resolver=rebinding)
    with receiving() as there:
        url = f"https://hooks.example.org:{there.server_address[1]}/x"
        guard.check_url(url, whole=True)
        answer = send(url, guard)
        assert there.seen == []
    assert "hooks.example.org is at 127.0.0.1" in answer.detail


def test_the_address_that_was_judged_is_the_one_connected_to():
    asked = []

    def once(host, port):
        asked.append(host)
        assert len(asked) == 1
        return ["127.0.0.1"]

    with receiving() as there:
        port = there.server_address[1]
        answer = send(f"http://hooks.test:{port}/x", AddressGuard([f"hooks.test:{port}"], resolver=once))
        assert there.seen[0].headers["host"] == f"hooks.test:{port}"
    assert answer.status == 204
    assert asked == ["hooks.test"]


def test_the_next_address_is_tried_where_the_first_does_not_answer():
    with receiving() as there:
        port = there.server_address[1]
        guard = AddressGuard([f"hooks.test:{port}"], resolver=lambda *_: ["127.0.0.9", "127.0.0.1"])
        assert send(f"http://hooks.test:{port}/x", guard).status == 204


def test_a_redirect_is_not_followed():
    with receiving() as inner, receiving(Say(307, headers={"Location": inner.url})) as outer:
        answer = send(outer.url, guard_for(outer, inner))
        assert inner.seen == []
    assert answer.status == 307
    assert "redirects are not followed" in answer.detail


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    with receiving() as proxy, receiving() as there:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://{proxy.endpoint}")
        assert send(there.url, guard_for(there)).status == 204
        assert proxy.seen == []


def test_a_refusal_is_told_in_one_short_line():
    with receiving(Say(422, b"no such\x00 hook\r\n<b>" + "é".encode() * 900)) as there:
        answer = send(there.url, guard_for(there))
    assert answer.status == 422
    assert answer.detail.startswith("no such hook <b>éé")
    assert len(answer.detail) == MOST_TOLD


@pytest.mark.parametrize("status", [200, 500])
def test_an_endless_answer_is_not_read_to_its_end(status):
    told = itertools.count()

    def endless():
        while True:
            next(told)
            yield b"x" * 65536

    with receiving(Say(status, chunks=endless)) as there:
        answer = send(there.url, guard_for(there))
    assert answer.status == status
    assert next(told) < 1000
    assert MOST_READ < 65536


def test_an_answer_that_never_comes_ends_at_the_deadline():
    with receiving(Say()) as there:
        there.answers[0].first = there.wait_for_ever
        answer = send(there.url, guard_for(there), timeout=0.3)
    assert answer == Answer(None, answer.ms, "no answer within 0.3 s")


def test_a_byte_now_and_then_does_not_put_the_deadline_off():
    """Headers that drip: each read is quick, all of them together are not."""
    done = threading.Event()

    def drip(server):
        with server.accept()[0] as peer:
            peer.recv(65536)
            peer.sendall(b"HTTP/1.1 200 OK\r\n")
            for number in itertools.count():
                if done.wait(0.02):
                    return
                try:
                    peer.sendall(f"X-{number}: y\r\n".encode())
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        endpoint = f"127.0.0.1:{server.getsockname()[1]}"
        answer = send(f"http://{endpoint}/", AddressGuard([endpoint]), timeout=0.4)
        done.set()
        thread.join()
    assert (answer.status, answer.detail) == (None, "no answer within 0.4 s")


def test_a_body_that_does_not_end_takes_nothing_from_the_status():
    with receiving() as there:

        def hanging():
            yield b"half"
            there.wait_for_ever()

        there.answers = [Say(500, chunks=hanging)]
        answer = send(there.url, guard_for(there), timeout=0.4)
    assert (answer.status, answer.detail) == (500, "half")


def test_a_name_server_that_hangs_ends_at_the_deadline():
    over = threading.Event()

    def hangs(host, port):
        over.wait()
        return ["127.0.0.1"]

    answer = send("https://hooks.example.org/x", AddressGuard(resolver=hangs), timeout=0.2)
    over.set()
    assert (answer.status, answer.detail) == (None, "no answer within 0.2 s")


def test_a_name_that_does_not_resolve_and_a_closed_port_are_answers_too():
    def unknown(host, port):
        raise socket.gaierror(-2, "Name or service not known")

    assert "does not resolve" in send("https://nowhere.example/x", AddressGuard(resolver=unknown)).detail
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"127.0.0.1:{server.getsockname()[1]}"
    answer = send(f"http://{endpoint}/x", AddressGuard([endpoint]))
    assert answer.status is None
    assert answer.detail.startswith("no answer: ")


def test_what_is_not_http_is_no_answer():
    def babble(server):
        with server.accept()[0] as peer:
            peer.recv(65536)
            peer.sendall(b"220 smtp.example.org ready\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=babble, args=(server,))
        thread.start()
        endpoint = f"127.0.0.1:{server.getsockname()[1]}"
        answer = send(f"http://{endpoint}/", AddressGuard([endpoint]))
        thread.join()
    assert answer.status is None
    assert answer.detail.startswith("no answer: ")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """For hooks.test, by itself."""
    folder = tmp_path_factory.mktemp("tls")
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    made += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"), "-days", "2"]
    made += ["-subj", "/CN=hooks.test", "-addext", "subjectAltName=DNS:hooks.test"]
    subprocess.run(made, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    ("trusted", "name", "arrives"),
    [(True, "hooks.test", True), (True, "other.test", False), (False, "hooks.test", False)],
)
def test_a_certificate_has_to_be_trusted_and_to_carry_the_name(
    certificate, monkeypatch, trusted, name, arrives
):
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with receiving(context=context) as there:
        port = urlsplit(there.url).port
        guard = AddressGuard([f"{name}:{port}"], resolver=lambda *_: ["127.0.0.1"])
        answer = send(f"https://{name}:{port}/x", guard)
        assert bool(there.seen) is arrives
    assert answer.status == (204 if arrives else None)
    if not arrives:
        assert "certificate" in answer.detail.lower()


def test_a_base_and_a_whole_address_are_judged_by_their_own_rules():
    guard = AddressGuard(resolver=lambda *_: ["93.184.215.14"])
    guard.check_url("https://hooks.example.org/x?key=1", whole=True)
    with pytest.raises(BadAddress, match="is a base such as"):
        guard.check_url("https://hooks.example.org/x?key=1")
