"""Which hosted zone an alias points into: that of AWS for its load balancers and its CDN, or one's own.

Source: the ids that AWS publishes for its services, as external-dns lists them. Regions that are missing here work
with the property `aws/target-hosted-zone`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_BY_REGION = {
    # region: zone of application and classic load balancers, zone of network load balancers
    "af-south-1": ("Z268VQBMOI5EKX", "Z203XCE67M25HM"),
    "ap-east-1": ("Z3DQVH9N71FHZ0", "Z12Y7K3UBGUAD1"),
    "ap-northeast-1": ("Z14GRHDCWA56QT", "Z31USIVHYNEOWT"),
    "ap-northeast-2": ("ZWKZPGTI48KDX", "ZIBE1TIR4HY56"),
    "ap-northeast-3": ("Z5LXEXXYW11ES", "Z1GWIQ4HH19I5X"),
    "ap-south-1": ("ZP97RAFLXTNZK", "ZVDDRBQ08TROA"),
    "ap-southeast-1": ("Z1LMS91P8CMLE5", "ZKVM4W9LS7TM"),
    "ap-southeast-2": ("Z1GM3OXH4ZPM65", "ZCT6FZBF4DROD"),
    "ca-central-1": ("ZQSVJUPU6J1EY", "Z2EPGBW3API2WT"),
    "eu-central-1": ("Z215JYRZR1TBD5", "Z3F0SRJ5LGBH90"),
    "eu-north-1": ("Z23TAZ6LKFMNIO", "Z1UDT6IFJ4EJM"),
    "eu-south-1": ("Z3ULH7SSC9OV64", "Z23146JA1KNAFP"),
    "eu-west-1": ("Z32O12XQLNTSW2", "Z2IFOLAFXWLO4F"),
    "eu-west-2": ("ZHURV8PSTC4K8", "ZD4D7Y8KGAS4G"),
    "eu-west-3": ("Z3Q77PNBQS71R4", "Z1CMS0P5QUZ6D5"),
    "me-south-1": ("ZS929ML54UICD", "Z3QSRYVP46NYYV"),
    "sa-east-1": ("Z2P70J7HTTTPLU", "ZTK26PT1VY4CU"),
    "us-east-1": ("Z35SXDOTRQ7X7K", "Z26RNL4JYFTOTI"),
    "us-east-2": ("Z3AADJGX6KTTL2", "ZLMOA37VPKANP"),
    "us-west-1": ("Z368ELLRRE2KJ0", "Z24FKFUX50B4VW"),
    "us-west-2": ("Z1H1FL5HABSF5", "Z18D5FSROUN65G"),
}


def _suffixes() -> Iterator[tuple[str, str]]:
    yield "cloudfront.net", "Z2FDTNDATAQYW2"
    yield "awsglobalaccelerator.com", "Z2BJ6XQ5FK7U4H"
    for region, (application, network) in _BY_REGION.items():
        yield f"{region}.elb.amazonaws.com", application
        yield f"elb.{region}.amazonaws.com", network


_ZONE_IDS: Mapping[str, str] = dict(_suffixes())


def aws_zone_id(target: str) -> str | None:
    """The hosted zone of a load balancer or a distribution of AWS, by its canonical name; None for any other name."""
    _, _, rest = target.partition(".")
    while rest:
        if rest in _ZONE_IDS:
            return _ZONE_IDS[rest]
        _, _, rest = rest.partition(".")
    return None
