"""The webhook client, against answers written byte by byte: what it sends, what it takes, and what it refuses."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace
from scripted_webhook import NEGOTIATED, TYPE, answer, webhook

from gatepost.dns.domain_filter import DomainFilter
from gatepost.dns.endpoint import Changes, Endpoint, Property
from gatepost.providers.contract import ProviderError
from gatepost.providers.rate_limiter import RateLimiter
from gatepost.providers.webhook.client import WebhookProvider
from gatepost.providers.webhook.settings import WebhookSettings
from sleeping_clock import SleepingClock

HANGS_UP = (b"", b"")  # a GET is sent a second time at once when the connection is lost
APP = Endpoint("app.example.com", "A", ("192.0.2.1",))


async def test_negotiation_asks_once_and_for_exactly_the_media_type() -> None:
    async with webhook(answer(body=b'{"include":["example.com",".example.org"]}')) as peer:
        provider = peer.provider()
        assert await provider.zones() == ["example.com", "example.org"]
        assert await provider.domains() == DomainFilter(include=("example.com", ".example.org"))
        assert peer.calls == ["GET /"]
        assert peer.headers(0)["accept"] == TYPE


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"{}", DomainFilter()),
        (b'{"include":["a.example"],"exclude":["b.a.example"]}', DomainFilter(("a.example",), ("b.a.example",))),
        (
            b'{"regexInclude":"\\\\.example$","regexExclude":"^x"}',
            DomainFilter(regex_include=r"\.example$", regex_exclude="^x"),
        ),
        (b'{"include":null,"filters":["ignored"]}', DomainFilter()),
    ],
)
async def test_both_forms_of_the_domain_filter_are_read(body: bytes, found: DomainFilter) -> None:
    async with webhook(answer(body=body)) as peer:
        assert await peer.provider().domains() == found


@pytest.mark.parametrize(
    "content_type", [TYPE + "; charset=utf-8", TYPE.replace(";", "; "), "application/json", TYPE.replace("=1", "=2")]
)
async def test_any_other_content_type_ends_the_negotiation(content_type: str) -> None:
    async with webhook(answer(body=b"{}", content_type=content_type)) as peer:
        with pytest.raises(ProviderError, match="is it a webhook provider"):
            await peer.provider().domains()


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b'{"include":["a"],"regexInclude":"b"}', b'{"regexInclude":"("}', b'{"include":"a"}']
)
async def test_a_domain_filter_that_makes_no_sense_ends_the_negotiation(body: bytes) -> None:
    async with webhook(answer(body=body)) as peer:
        with pytest.raises(ProviderError, match="domain filter"):
            await peer.provider().domains()


async def test_negotiation_is_tried_again_after_server_errors_and_lost_connections() -> None:
    async with webhook(answer("503 Service Unavailable"), *HANGS_UP, answer("500 Oops"), NEGOTIATED) as peer:
        assert not await peer.provider().domains()
        assert peer.waits == [0.5, 1.0, 2.0]


async def test_negotiation_gives_up_after_five_tries_and_starts_anew_when_asked_again() -> None:
    async with webhook(*[answer("503 Busy")] * 5, NEGOTIATED) as peer:
        provider = peer.provider()
        with pytest.raises(ProviderError, match="found status 503, wanted 200"):
            await provider.domains()
        assert not await provider.domains()


@pytest.mark.parametrize("status", ["302 Found", "401 Unauthorized", "404 Not Found"])
async def test_other_statuses_end_the_negotiation_at_once(status: str) -> None:
    async with webhook(answer(status, b"go away")) as peer:
        with pytest.raises(ProviderError, match=f"found status {status[:3]}, wanted 200: go away"):
            await peer.provider().domains()


async def test_records_are_read_with_everything_that_they_may_hold() -> None:
    listed = (
        b'[{"dnsName":"app.example.com","targets":["192.0.2.1","192.0.2.2"],"recordType":"A","setIdentifier":"blue",'
        b'"recordTTL":300,"labels":{"owner":"me"},"providerSpecific":[{"name":"aws/weight","value":"10"}]},'
        b'{"dnsName":"a-app.example.com","targets":["\\"heritage=external-dns\\""],"recordType":"TXT","new":1},'
        b'{"dnsName":"x.example.com","recordType":"A","targets":null,"labels":null,"providerSpecific":null}]\n'
    )
    async with webhook(NEGOTIATED, answer(body=listed)) as peer:
        assert await peer.provider().records() == (
            Endpoint(
                "app.example.com",
                "A",
                ("192.0.2.1", "192.0.2.2"),
                300,
                "blue",
                {"owner": "me"},
                (Property("aws/weight", "10"),),
            ),
            Endpoint("a-app.example.com", "TXT", ('"heritage=external-dns"',)),
            Endpoint("x.example.com", "A"),
        )
        assert peer.calls == ["GET /", "GET /records"]


async def test_null_is_an_empty_listing_as_go_writes_it() -> None:
    async with webhook(NEGOTIATED, answer(body=b"null\n")) as peer:
        assert await peer.provider().records() == ()


RECORDS = b'[{"dnsName":"a.example.com","targets":["192.0.2.1"],"recordType":"A"}]'
FAULTS = {
    "the answer is cut": answer(body=RECORDS)[:-20],
    "there is no answer": b"",
    "a chunk is missing": b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[{"dn',
    "the listing ends early": b"HTTP/1.1 200 OK\r\n\r\n" + RECORDS[:-10],
    "the answer is a page": answer(body=b"<html>log in</html>", content_type="text/html"),
    "the list is a mapping": answer(body=b'{"items":[]}'),
    "an endpoint has no name": answer(body=b'[{"recordType":"A","targets":["192.0.2.1"]}]'),
    "an endpoint has no type": answer(body=b'[{"dnsName":"a.example.com","targets":["192.0.2.1"]}]'),
    "an endpoint is null": answer(body=b"[null]"),
    "the status is 500": answer("500 Internal Server Error", b"no database"),
    "the status is 204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "the status leads elsewhere": b"HTTP/1.1 302 Found\r\nLocation: /records\r\nContent-Length: 0\r\n\r\n",
    "the answer is no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_listing_is_whole_or_an_error(fault: str) -> None:
    faults = HANGS_UP if FAULTS[fault] == b"" else (FAULTS[fault],)
    async with webhook(NEGOTIATED, *faults, answer(body=RECORDS)) as peer:
        provider = peer.provider()
        with pytest.raises(ProviderError):
            await provider.records()
        assert [record.dns_name for record in await provider.records()] == ["a.example.com"]


async def test_an_answer_over_the_limit_is_not_read_to_its_end() -> None:
    huge = answer(body=b"[" + b" " * 40_000_000 + b"]")
    async with webhook(NEGOTIATED, huge) as peer:
        with pytest.raises(ProviderError, match="more than 33554432 bytes; raise --webhook-provider-max-body-size"):
            await peer.provider().records()


async def test_without_a_limit_any_answer_is_read() -> None:
    async with webhook(NEGOTIATED, answer(body=b"[" + b" " * 40_000_000 + b"]")) as peer:
        assert await peer.provider(webhook_provider_max_body_size=0).records() == ()


async def test_endpoints_are_adjusted_and_get_their_labels_back() -> None:
    app = Endpoint("app.example.com", "A", ("192.0.2.1",), labels={"resource": "httproute/shop/app"})
    adjusted = b'[{"dnsName":"app.example.com","targets":["192.0.2.1"],"recordType":"A","recordTTL":60}]'
    async with webhook(NEGOTIATED, answer(body=adjusted)) as peer:
        assert await peer.provider().adjust_remotely([app]) == [
            Endpoint("app.example.com", "A", ("192.0.2.1",), 60, labels={"resource": "httproute/shop/app"})
        ]
        assert peer.calls[1] == "POST /adjustendpoints"
        assert (peer.headers(1)["content-type"], peer.headers(1)["accept"]) == (TYPE, TYPE)
        assert peer.body(1) == (
            b'[{"dnsName":"app.example.com","targets":["192.0.2.1"],"recordType":"A",'
            b'"labels":{"resource":"httproute/shop/app"}}]'
        )


async def test_changes_are_sent_as_external_dns_sends_them() -> None:
    old = Endpoint("b.example.com", "CNAME", ("x.example.net",), 300)
    new = Endpoint("b.example.com", "CNAME", ("y.example.net",), 300, "", {"owner": "me"}, (Property("alias", "true"),))
    async with webhook(NEGOTIATED, answer("204 No Content")) as peer:
        results = await peer.provider().apply(Changes(create=(APP,), update_old=(old,), update_new=(new,)))
        assert [(result.key.dns_name, result.error) for result in results] == [
            ("app.example.com", ""),
            ("b.example.com", ""),
        ]
        assert peer.calls == ["GET /", "POST /records"]
        assert peer.headers(1)["content-type"] == TYPE
        assert peer.body(1) == (
            b'{"create":[{"dnsName":"app.example.com","targets":["192.0.2.1"],"recordType":"A"}],'
            b'"updateOld":[{"dnsName":"b.example.com","targets":["x.example.net"],"recordType":"CNAME","recordTTL":300}],'
            b'"updateNew":[{"dnsName":"b.example.com","targets":["y.example.net"],"recordType":"CNAME","recordTTL":300,'
            b'"labels":{"owner":"me"},"providerSpecific":[{"name":"alias","value":"true"}]}]}'
        )


async def test_no_changes_are_no_call() -> None:
    async with webhook() as peer:
        assert await peer.provider().apply(Changes()) == ()


@pytest.mark.parametrize("fault", [b"", answer("503 Busy"), answer("502 Bad Gateway"), answer("504 Gateway Timeout")])
async def test_if_it_is_not_known_what_was_changed_that_is_an_error(fault: bytes) -> None:
    async with webhook(NEGOTIATED, fault) as peer:
        with pytest.raises(ProviderError):
            await peer.provider().apply(Changes(create=(APP,)))


async def test_the_one_record_that_a_batch_fails_for_is_found_and_the_others_are_made() -> None:
    names = ("a", "b", "c", "d")
    records = [Endpoint(f"{name}.example.com", "A", ("192.0.2.1",)) for name in names]
    refused = answer("500 Internal Server Error", b"quota")
    async with webhook(
        NEGOTIATED,
        refused,  # a b c d
        answer(body=b"[]"),
        answer("204 No Content"),  # a b
        refused,  # c d
        answer(body=b'[{"dnsName":"d.example.com","targets":["192.0.2.1"],"recordType":"A"}]'),  # d came in after all
        refused,  # c
        answer(body=b"[]"),
    ) as peer:
        results = await peer.provider().apply(Changes(create=tuple(records)))
        sent = [
            [record["dnsName"][0] for record in json.loads(peer.body(number))["create"]]
            for number, call in enumerate(peer.calls)
            if call == "POST /records"
        ]
    assert sent == [["a", "b", "c", "d"], ["a", "b"], ["c", "d"], ["c"]]
    assert [result.key.dns_name for result in results if result.error] == ["c.example.com"]
    assert "quota" in results[2].error


async def test_a_record_and_its_ownership_record_are_never_sent_apart() -> None:
    def owned(name: str) -> list[Endpoint]:
        labels = {"ownedRecord": f"{name}.example.com"}
        return [
            Endpoint(f"{name}.example.com", "A", ("192.0.2.1",)),
            Endpoint(f"a-{name}.example.com", "TXT", ('"heritage=external-dns"',), labels=labels),
        ]

    (app, app_txt), (www, www_txt) = owned("app"), owned("www")
    refused, nothing = answer("400 Bad Request"), answer(body=b"[]")
    async with webhook(NEGOTIATED, refused, nothing, refused, nothing, answer("204 No Content")) as peer:
        results = await peer.provider().apply(Changes(create=(app_txt, app, www_txt, www)))
        bodies = [json.loads(peer.body(number))["create"] for number in (1, 3, 5)]
    assert [sorted(record["dnsName"] for record in body) for body in bodies[1:]] == [
        ["a-app.example.com", "app.example.com"],
        ["a-www.example.com", "www.example.com"],
    ]
    assert {result.key.dns_name for result in results if result.error} == {"a-app.example.com", "app.example.com"}


@pytest.mark.parametrize("url", ["", "localhost:8888", "ftp://example.com", "http://"])
def test_a_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="--webhook-provider-url: found"):
        WebhookProvider(WebhookSettings(webhook_provider_url=url))


async def test_calls_that_come_too_fast_wait_as_long_as_they_are_asked_to_and_are_not_split() -> None:
    too_fast = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n"
    clock = SleepingClock()
    async with webhook(NEGOTIATED, too_fast, too_fast, answer("204 No Content")) as peer:
        settings = WebhookSettings(webhook_provider_url=f"http://127.0.0.1:{peer.port}")
        provider = WebhookProvider(settings, limiter=RateLimiter(None, clock))
        results = await provider.apply(Changes(create=(APP, replace(APP, dns_name="b.example.com"))))
        assert [result.error for result in results] == ["", ""]
        assert peer.calls == ["GET /", *["POST /records"] * 3]
        assert clock.slept == [3.0, 3.0]


async def test_whoever_asks_for_a_long_rest_is_not_called_again_before() -> None:
    too_fast = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n"
    clock = SleepingClock()
    async with webhook(NEGOTIATED, too_fast, answer(body=RECORDS)) as peer:
        settings = WebhookSettings(webhook_provider_url=f"http://127.0.0.1:{peer.port}")
        provider = WebhookProvider(settings, limiter=RateLimiter(None, clock))
        for _ in range(10):
            with pytest.raises(ProviderError):
                await provider.apply(Changes(create=(APP,)))
        assert peer.calls == ["GET /", "POST /records"]
        clock.time += 600.0
        assert len(await provider.records()) == 1
