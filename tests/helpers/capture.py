"""Capture of the bytes that cross the loopback interface."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_ALL_PROTOCOLS = 0x0003
_ETHERNET_BYTES = 14
_TCP = 6
_SOL_PACKET, _PACKET_STATISTICS = 263, 6
_SO_RCVBUFFORCE = 33
_BUFFER_BYTES = 1 << 28
_OUTGOING = 4  # a packet on loopback is seen twice, as it leaves and as it arrives


class Segment(NamedTuple):
    """A TCP segment with content."""

    source: int
    target: int
    number: int
    content: bytes


@dataclass
class Capture:
    """The TCP segments between ports of this machine, as they were sent."""

    segments: list[Segment] = field(default_factory=list)
    n_dropped: int = 0

    def streams(self, ports: set[int]) -> dict[tuple[int, int], bytes]:
        """Return the bytes of each direction of the connections with some ports."""
        pieces: dict[tuple[int, int], dict[int, bytes]] = {}
        for one in self.segments:
            if {one.source, one.target} & ports:
                pieces.setdefault((one.source, one.target), {})[one.number] = one.content
        # In the order sent: numbers begin anywhere, and go round.
        return {way: b"".join(parts.values()) for way, parts in pieces.items()}


def why_not() -> str:
    """Return why nothing can be captured here; nothing if it can."""
    if not sys.platform.startswith("linux"):
        return "packets are captured on Linux alone"
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except PermissionError:
        return "only root may capture packets"
    return ""


@contextlib.contextmanager
def captured() -> Iterator[Capture]:
    """Capture all TCP segments on the loopback interface meanwhile."""
    found, ended = Capture(), threading.Event()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(_ALL_PROTOCOLS)) as packets:
        packets.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        packets.bind(("lo", 0))
        packets.settimeout(0.2)
        thread = threading.Thread(target=_listen, args=(packets, found, ended))
        thread.start()
        try:
            yield found
        finally:
            ended.set()
            thread.join()
            counts = packets.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
            found.n_dropped = struct.unpack("II", counts)[1]


def _listen(packets: socket.socket, found: Capture, ended: threading.Event) -> None:
    while True:
        try:
            packet, address = packets.recvfrom(1 << 17)
        except TimeoutError:
            if ended.is_set():
                return
            continue
        if address[2] != _OUTGOING:
            segment = _segment(packet[_ETHERNET_BYTES:])
            if segment is not None and segment.content:
                found.segments.append(segment)


def _segment(packet: bytes) -> Segment | None:
    """Return the TCP segment in an IPv4 packet, None if it is something else."""
    if packet[0] >> 4 != 4 or packet[9] != _TCP:
        return None
    length = int.from_bytes(packet[2:4]) or len(packet)
    segment = packet[(packet[0] & 15) * 4 : length]
    source, target, number = struct.unpack("!HHI", segment[:8])
    return Segment(source, target, number, segment[(segment[12] >> 4) * 4 :])
