"""Calls go to the open internet by https and to listed private endpoints, and nowhere else."""

from __future__ import annotations

import socket

import pytest

from simulation.domain.addresses import AddressGuard, BadAddress, Unresolved
from simulation.llm.errors import LLMError, Trouble
from simulation.llm.messages import ChatReply
from tests.simulation.llm.talking import asked, call, canned, guard_for

ANSWER = {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}
SOMEWHERE = "8.8.8.8"


def leads_to(*addresses: str) -> AddressGuard:
    return AddressGuard(resolver=lambda host, port: addresses)


class Rebinding:
    """A name server that gives another answer every time."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), 0

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        return [self.answers.pop(0)]


def test_https_to_the_open_internet_is_allowed():
    leads_to(SOMEWHERE, "2001:4860:4860::8888").check_url("https://api.example.org/v1")
    leads_to(SOMEWHERE).check_url("https://API.Example.org.:8443/v1/")


def test_a_listed_endpoint_may_be_private_and_http():
    guard = AddressGuard(["127.0.0.1:8900", "[::1]:8000", "ollama"], resolver=lambda host, port: ["10.0.0.7"])
    guard.check_url("http://127.0.0.1:8900/v1")
    guard.check_url("http://[::1]:8000/v1")
    guard.check_url("http://[0:0:0::1]:8000/v1")
    guard.check_url("http://Ollama:11434/v1")
    guard.check_url("https://ollama/v1")


def test_a_listed_port_does_not_open_its_neighbours():
    guard = AddressGuard(["127.0.0.1:8900"])
    with pytest.raises(BadAddress, match=r"use https, or list 127\.0\.0\.1:8901"):
        guard.check_url("http://127.0.0.1:8901/v1")
    with pytest.raises(BadAddress, match="not on the open internet"):
        guard.check_url("https://127.0.0.1:6379")
    with pytest.raises(BadAddress, match="use https"):
        guard.check_url("http://localhost:8900/v1")


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "fd00:ec2::254",
        "fe80::1%lo",
        "127.0.0.1",
        "127.9.9.9",
        "::1",
        "0.0.0.0",
        "::",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "192.0.0.192",
        "198.18.0.1",
        "192.0.2.1",
        "224.0.0.1",
        "ff02::1",
        "240.0.0.1",
        "255.255.255.255",
        "fc00::1",
        "fec0::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
    ],
)
def test_a_name_that_leads_to_a_private_address_is_refused(address):
    with pytest.raises(BadAddress, match=r"not on the open internet.*private endpoints"):
        leads_to(address).check_url("https://models.example.org/v1")


def test_ipv4_addresses_inside_ipv6_count_as_themselves():
    leads_to("::ffff:8.8.8.8").check_url("https://models.example.org/v1")
    leads_to("64:ff9b::808:808").check_url("https://models.example.org/v1")


def test_one_private_address_among_others_is_enough_to_refuse():
    with pytest.raises(BadAddress, match=r"10\.0\.0\.1"):
        leads_to(SOMEWHERE, "10.0.0.1").check_url("https://models.example.org/v1")


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:7f00:1]",
        "１２７.0.0.1",
        "169.254.169.254",
        "0xa9fea9fe",
    ],
)
def test_every_way_to_write_this_machine_is_refused_by_the_real_resolver(host):
    with pytest.raises(BadAddress):
        AddressGuard().check_url(f"https://{host}/v1")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://api.example.org/v1", "use https"),
        ("ftp://api.example.org", "begin with https"),
        ("file:///etc/passwd", "begin with https"),
        ("api.example.org/v1", "begin with https"),
        ("scripted:", "begin with https"),
        ("", "begin with https"),
        ("https://", "no host"),
        ("https:///v1", "no host"),
        ("https://user:pass@api.example.org/v1", "name or password"),
        ("https://user@api.example.org/v1", "name or password"),
        ("https://@api.example.org/v1", "name or password"),
        ("https://api.example.org/v1?key=1", "from"),
        ("https://api.example.org/v1?", "from"),
        ("https://api.example.org/v1#x", "from"),
        ("https://api.example.org:99999/v1", "cannot be read"),
        ("https://api.example.org:x/v1", "cannot be read"),
        ("https://[::1/v1", "cannot be read"),
        (" https://api.example.org", "blank"),
        ("https://api.exam ple.org", "blank"),
        ("https://api.example.org\n", "blank"),
        ("https://api.example.org\\@10.0.0.1/", "blank"),
        ("https://api.example.org\x00", "blank"),
    ],
)
def test_a_url_of_the_wrong_form_is_refused_with_what_to_do(url, problem):
    with pytest.raises(BadAddress, match=problem):
        leads_to(SOMEWHERE).check_url(url)


def test_a_host_that_does_not_resolve_says_so():
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(Unresolved, match=r"nowhere.example does not resolve.*check the name"):
        AddressGuard(resolver=unknown).check_url("https://nowhere.example/v1")
    with pytest.raises(Unresolved):
        leads_to().check_url("https://nowhere.example/v1")
    with pytest.raises(Unresolved):
        AddressGuard().check_url("https://a..b/v1")
    with pytest.raises(Unresolved):
        AddressGuard().check_url(f"https://{'a' * 70}.example/v1")


@pytest.mark.parametrize(
    "entry", ["", "http://localhost:1", "localhost/v1", "host:port", "a@b", "x:1:2", ":80"]
)
def test_a_listed_endpoint_that_is_none_is_named(entry):
    with pytest.raises(BadAddress, match="is not a private endpoint"):
        AddressGuard([entry])


def test_a_name_that_changes_to_a_private_address_is_refused_when_connecting():
    rebinding = Rebinding(SOMEWHERE, "127.0.0.1")
    guard = AddressGuard(resolver=rebinding)
    with canned(ANSWER) as server:
        url = f"https://models.example.org:{server.server_address[1]}/v1"
        guard.check_url(url)
        error = call(url, asked(), guard=guard)
        assert not server.seen
    assert isinstance(error, LLMError)
    assert error.trouble is Trouble.PERMANENT
    assert "address refused: models.example.org is at 127.0.0.1" in error.detail
    assert rebinding.asked == 2


def test_the_address_that_was_judged_is_the_one_connected_to():
    rebinding = Rebinding("127.0.0.1")
    with canned(ANSWER) as server:
        url = f"http://models.test:{server.server_address[1]}/v1"
        reply = call(url, asked(), guard=guard_for(url, resolver=rebinding))
        assert server.seen[0][0]["host"] == url.split("/")[2]
    assert isinstance(reply, ChatReply)
    assert rebinding.asked == 1


def test_the_next_address_is_tried_where_the_first_does_not_answer():
    with canned(ANSWER) as server:
        url = f"http://models.test:{server.server_address[1]}/v1"
        guard = guard_for(url, resolver=lambda host, port: ["127.0.0.9", "::1", "127.0.0.1"])
        assert isinstance(call(url, asked(), guard=guard), ChatReply)


def test_a_name_server_that_fails_while_calling_is_a_passing_fault():
    def away(host: str, port: int) -> list[str]:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    error = call("https://models.example.org/v1", asked(), guard=AddressGuard(resolver=away))
    assert error.trouble is Trouble.TRANSIENT
    assert "does not resolve" in error.detail


def test_a_redirect_to_a_private_address_is_not_followed():
    with canned(ANSWER) as inner, canned(b"", 302, Location=inner.url) as outer:
        error = call(outer.url, asked(), guard=guard_for(outer.url, inner.url))
        assert not inner.seen
    assert error.trouble is Trouble.PERMANENT
