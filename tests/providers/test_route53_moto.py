"""The provider aws with boto3 itself, against moto: that calls are what boto3 takes, and answers what it gives.

moto is not used for more: it creates what is there already, and deletes sets by their identifiers in all of a zone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gatepost.dns.endpoint import Changes, Endpoint, Property
from gatepost.providers.contract import ProviderError
from gatepost.providers.route53.provider import Route53Provider
from gatepost.providers.route53.settings import Route53Settings

boto3: Any = pytest.importorskip("boto3", reason="boto3 is not installed: pip install 'gatepost[aws]'")
moto: Any = pytest.importorskip("moto", reason="moto is not installed: pip install 'moto[route53]'")


@pytest.fixture
def zone_id(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with moto.mock_aws():
        client = boto3.client("route53", region_name="us-east-1")
        zone = client.create_hosted_zone(Name="example.com.", CallerReference="1")["HostedZone"]
        client.change_tags_for_resource(
            ResourceType="hostedzone",
            ResourceId=zone["Id"].rpartition("/")[2],
            AddTags=[{"Key": "team", "Value": "web"}],
        )
        client.create_hosted_zone(Name="example.org.", CallerReference="2")
        yield zone["Id"]


@pytest.fixture
def provider(zone_id: str) -> Route53Provider:
    return Route53Provider(Route53Settings(aws_zone_id=(zone_id,)))


async def held(provider: Route53Provider) -> list[Endpoint]:
    """What is listed, without the NS records that each zone has of its own."""
    return sorted((e for e in await provider.records() if e.record_type != "NS"), key=lambda endpoint: endpoint.key)


async def test_zones_are_found_by_id_and_by_tag(zone_id: str) -> None:
    assert await Route53Provider(Route53Settings()).zones() == ["example.com", "example.org"]
    assert await Route53Provider(Route53Settings(aws_zone_id=(zone_id,))).zones() == ["example.com"]
    assert await Route53Provider(Route53Settings(aws_zone_tags=("team=web",))).zones() == ["example.com"]


async def test_created_records_are_listed_as_they_were_wanted(provider: Route53Provider) -> None:
    alias = (Property("alias", "true"), Property("aws/evaluate-target-health", "true"))
    weight = (Property("aws/health-check-id", "h-1"), Property("aws/weight", "10"))
    wanted = [
        Endpoint("*.example.com", "A", ("192.0.2.1", "192.0.2.2"), 60),
        Endpoint("alias.example.com", "A", ("d1.cloudfront.net",), provider_specific=alias),
        Endpoint("b.example.com", "A", ("192.0.2.1",), 60, "blue", provider_specific=weight),
        Endpoint("m.example.com", "MX", ("10 mail.example.com",), 300),
        Endpoint("t.example.com", "TXT", ('"one, \\"two\\""',), 300),
        Endpoint("w.example.com", "CNAME", ("gw.example.org",), 300),
    ]
    await provider.zones()
    assert provider.adjust(wanted) == wanted
    assert {result.error for result in await provider.apply(Changes(create=tuple(wanted)))} == {""}
    assert await held(provider) == wanted


async def test_updates_and_deletions_reach_the_zone(provider: Route53Provider) -> None:
    kept = Endpoint("a.example.com", "A", ("192.0.2.1",), 60)
    gone = Endpoint("b.example.com", "A", ("192.0.2.1",), 60)
    await provider.apply(Changes(create=(kept, gone)))
    new = Endpoint("a.example.com", "A", ("192.0.2.2",), 120)
    await provider.apply(Changes(update_old=(kept,), update_new=(new,), delete=(gone,)))
    assert await held(provider) == [new]


async def test_an_alias_is_replaced_and_deleted_as_it_was_listed(provider: Route53Provider) -> None:
    alias = (Property("alias", "true"), Property("aws/evaluate-target-health", "true"))
    first = Endpoint("a.example.com", "A", ("d1.cloudfront.net",), provider_specific=alias)
    await provider.zones()
    await provider.apply(Changes(create=(first,)))
    [old] = await held(provider)
    second = Endpoint("a.example.com", "A", ("d2.cloudfront.net",), provider_specific=alias)
    [updated] = await provider.apply(Changes(update_old=(old,), update_new=(second,)))
    assert (updated.error, await held(provider)) == ("", [second])
    [deleted] = await provider.apply(Changes(delete=(second,)))
    assert (deleted.error, await held(provider)) == ("", [])


async def test_a_listing_of_several_pages_is_complete(provider: Route53Provider) -> None:
    wanted = tuple(Endpoint(f"n{number:03}.example.com", "A", ("192.0.2.1",), 60) for number in range(310))
    await provider.apply(Changes(create=wanted))
    assert tuple(await held(provider)) == wanted


async def test_missing_keys_are_told(zone_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    with pytest.raises(ProviderError, match="Route 53 cannot be asked: Unable to locate credentials"):
        await Route53Provider(Route53Settings()).zones()


async def test_a_role_leads_to_the_zones_of_its_account(zone_id: str) -> None:
    role = "arn:aws:iam::222222222222:role/dns"
    sts = boto3.client("sts", region_name="us-east-1")
    keys = sts.assume_role(RoleArn=role, RoleSessionName="tests")["Credentials"]
    other = boto3.client(
        "route53",
        region_name="us-east-1",
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )
    other.create_hosted_zone(Name="example.net.", CallerReference="3")
    assert await Route53Provider(Route53Settings()).zones() == ["example.com", "example.org"]
    settings = Route53Settings(aws_assume_role=role, aws_assume_role_external_id="secret")
    assert await Route53Provider(settings).zones() == ["example.net"]
