"""The network from which a request comes: requests of visitors without log-in are limited per network."""

from __future__ import annotations

import ipaddress

from allauth.account.adapter import get_adapter
from django.http import HttpRequest


def network_of(request: HttpRequest) -> str:
    """Return the client's IPv4 address, or the /64 network of its IPv6 address, since one household has all of it.

    An IPv4 address that is mapped to IPv6 counts as IPv4. Raises PermissionDenied if the request has no address.
    """
    address = get_adapter().get_client_ip(request)
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return str(address)
    # A server on an IPv6 socket sees all IPv4 clients in one /64 network.
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return str(ipaddress.ip_network(f"{ip}/64", strict=False)) if ip.version == 6 else str(ip)
