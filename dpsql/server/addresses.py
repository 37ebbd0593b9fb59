"""Where a client is, as limits count it.

    network_of("10.0.0.7")              10.0.0.7
    network_of("2001:db8:1:2:3::4")     2001:db8:1:2::/64      one household or host has all addresses of it

Test: tests/unit/test_server_backoff.py
"""

from __future__ import annotations

import ipaddress


def network_of(address: str) -> str:
    """Return what counts as one place: an IPv4 address, the /64 of an IPv6 address, else the text itself."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"
