#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Decode captured UET packets and check each by the rules of the wire format.

usage: wire_decode.py [OPTION...] CAPTURE...

Each CAPTURE (classic pcap, as of "tcpdump -w") holds what one host sent; they are
merged by time. Give all hosts' captures for the checks of acknowledgments.
Prints a summary, then the violations; exit code 1 if there are any, or no UET.

This is written from the description of the wire format, not from the driver.
"""

import argparse
import collections
import struct
import sys

PORT = 4793
PAYLOAD_MTUS = (1024, 2048, 4096, 8192)
MAX_ACK_DATA = 16

# PDS packet types
TSS, RUD, ROD, RUDI_REQ, RUDI_RESP, UUD, ACK, ACK_CC, ACK_CCX, NACK, CP, NACK_CCX, \
    RUD_CC, ROD_CC = range(1, 15)
TYPE_NAMES = {RUD: "RUD", ROD: "ROD", RUDI_REQ: "RUDI", RUDI_RESP: "RUDI response",
              UUD: "UUD", ACK: "ACK", ACK_CC: "ACK_CC", ACK_CCX: "ACK_CCX", NACK: "NACK",
              CP: "CP", NACK_CCX: "NACK_CCX", RUD_CC: "RUD_CC", ROD_CC: "ROD_CC"}
REQUESTS = (RUD, ROD, RUD_CC, ROD_CC)
ACKS = (ACK, ACK_CC)
MODE = {RUD: "RUD", RUD_CC: "RUD", ROD: "ROD", ROD_CC: "ROD"}

# next_hdr
NONE, SMALL, MEDIUM, STANDARD, RESPONSE, RESPONSE_DATA, RESPONSE_SMALL = range(7)

# control types
NOOP, ACK_REQUEST, CLEAR, CLEAR_REQUEST, CLOSE, CLOSE_REQUEST, PROBE, CREDIT, \
    CREDIT_REQUEST, NEGOTIATION = range(10)

# SES request opcodes
OPS = ["NO_OP", "WRITE", "READ", "ATOMIC", "FETCHING_ATOMIC", "SEND", "RENDEZVOUS_SEND",
       "DATAGRAM_SEND", "DEFERRABLE_SEND", "TAGGED_SEND", "RENDEZVOUS_TSEND",
       "DEFERRABLE_TSEND", "DEFERRABLE_RTR", "TSEND_ATOMIC", "TSEND_FETCH_ATOMIC",
       "MSG_ERROR"]
OP = {name: number for number, name in enumerate(OPS)}
SEND_INVALIDATE, FLUSH = 0x30, 0x31     # ours, in the range for vendors
ATOMICS = (OP["ATOMIC"], OP["FETCHING_ATOMIC"], OP["TSEND_ATOMIC"], OP["TSEND_FETCH_ATOMIC"])
RENDEZVOUS = (OP["RENDEZVOUS_SEND"], OP["RENDEZVOUS_TSEND"])
SWAPS = range(0x0D, 0x14)       # CSWAP .. MSWAP
EMPTY = (OP["NO_OP"], OP["READ"], OP["DEFERRABLE_RTR"], OP["MSG_ERROR"], FLUSH)
KEYED = (OP["WRITE"], OP["READ"], FLUSH) + ATOMICS[:2]

RC_OK = 1
RC_MAX = 0x24
NACK_CODES = set(range(0x01, 0x0C)) | set(range(0x0D, 0x1B)) | {0xFD, 0xFE, 0xFF}
INV_DPDCID = 0x0E
NACK_NO_PDC = (0x04, 0x05, 0x06, INV_DPDCID, 0x0F)
NACK_NEW_START = 0x17


class Malformed(Exception):
    """The packet cannot be decoded any further."""


def psn_diff(a, b):
    """a - b, modulo 2^32, signed."""
    diff = (a - b) & 0xFFFFFFFF
    return diff - (1 << 32) if diff >= 1 << 31 else diff


def psn_add(a, b):
    return (a + b) & 0xFFFFFFFF


class Fields:
    """A header decoded: attributes, and a printable form."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __repr__(self):
        return " ".join(f"{key}={value:#x}" if isinstance(value, int) and value > 9
                        else f"{key}={value}" for key, value in self.__dict__.items()
                        if not isinstance(value, bytes))

    def like(self, other, except_for=()):
        names = (self.__dict__.keys() | other.__dict__.keys()) - set(except_for)
        return all(getattr(self, n, None) == getattr(other, n, None) for n in names)


# --------------------------------------------------------------------------
# From frame to UET packet


def read_pcap(path):
    """Yield (time in ns, frame, original length)."""
    with open(path, "rb") as file:
        head = file.read(24)
        if len(head) < 24:
            raise SystemExit(f"{path}: no pcap file")
        for order in "<>":
            magic, _, _, _, _, _, link = struct.unpack(order + "IHHiIII", head)
            if magic in (0xA1B2C3D4, 0xA1B23C4D):
                break
        else:
            raise SystemExit(f"{path}: no pcap file")
        if link != 1:
            raise SystemExit(f"{path}: link type {link}, not Ethernet")
        unit = 1 if magic == 0xA1B23C4D else 1000
        while True:
            head = file.read(16)
            if len(head) < 16:
                return
            seconds, fraction, length, original = struct.unpack(order + "IIII", head)
            yield seconds * 10 ** 9 + fraction * unit, file.read(length), original


def ones_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Checker:
    """Collects violations; the packet under way is self.packet."""

    def __init__(self):
        self.violations = []
        self.packet = None

    def bad(self, text):
        self.violations.append((self.packet, text))

    def expect(self, good, text):
        if not good:
            self.bad(text)


class Packet:
    """One UET packet: addresses, pds, ses, payload."""

    def __init__(self, number=0, time=0):
        self.number = number
        self.time = time
        self.src = self.dst = self.udp = b""
        self.sport = 0
        self.tos = 0
        self.pds = None
        self.ses = None
        self.payload = b""
        self.ses_bytes = b""

    def __str__(self):
        text = f"packet {self.number} at {self.time / 1e9:.6f}"
        if self.pds:
            text += f": {TYPE_NAMES.get(self.pds.type, self.pds.type)} {self.pds}"
        if self.ses:
            text += f" | {self.ses}"
        return f"{text} | {len(self.payload)} bytes"


def decode_ip(check, packet, frame, original):
    """Fill in addresses; return the UDP payload, or None if it is not ours."""
    kind = struct.unpack(">H", frame[12:14])[0] if len(frame) >= 14 else 0
    if kind == 0x0800 and len(frame) >= 34:
        head = frame[14:34]
        protocol, packet.src, packet.dst = head[9], head[12:16], head[16:20]
        size = struct.unpack(">H", head[2:4])[0] - 20
        at = 34
        packet.tos, hops = head[1], head[8]
        if icmp_about_us(frame, at, protocol == 1, 20):
            check.bad("the peer's network stack refused UET with an ICMP error")
        if protocol != 17 or struct.unpack(">H", frame[36:38])[0] != PORT:
            return None
        ident, fragment = struct.unpack(">HH", head[4:8])
        check.expect(head[0] == 0x45, f"IPv4 version and header length {head[0]:#x}")
        check.expect(ident == 0, f"IPv4 identification {ident:#x}, not 0")
        check.expect(fragment == 0x4000, f"IPv4 flags and fragment offset {fragment:#x}, not DF")
        check.expect(ones_sum(head) == 0xFFFF, "IPv4 header checksum")
    elif kind == 0x86DD and len(frame) >= 54:
        head = frame[14:54]
        protocol, packet.src, packet.dst = head[6], head[8:24], head[24:40]
        size = struct.unpack(">H", head[4:6])[0]
        at = 54
        packet.tos, hops = struct.unpack(">H", head[:2])[0] >> 4 & 0xFF, head[7]
        if icmp_about_us(frame, at, protocol == 58 and frame[at:at + 1] < b"\x80", 40):
            check.bad("the peer's network stack refused UET with an ICMPv6 error")
        if protocol != 17 or struct.unpack(">H", frame[56:58])[0] != PORT:
            return None
    else:
        return None
    check.packet = packet
    check.expect(hops > 1, f"TTL or hop limit {hops}")
    packet.udp = frame[at:at + 8]
    packet.sport, _, udp_len, checksum = struct.unpack(">HHHH", packet.udp)
    check.expect(original == len(frame), "the capture cut the packet off")
    check.expect(len(frame) == at + size, f"frame of {len(frame)} bytes, IP says {at + size}")
    check.expect(udp_len == size, f"UDP length {udp_len}, {size} bytes in the IP packet")
    check.expect(checksum == 0, f"UDP checksum {checksum:#x} on a single packet")
    check.expect(packet.sport != 0, "UDP source port (entropy) 0")
    return frame[at + 8:at + size]


def crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def strip_trailer(check, packet, data):
    """Check the CRC trailer: over addresses, UDP header and all behind it."""
    if len(data) < 4:
        raise Malformed("no room for a CRC trailer")
    want = crc32c(packet.src + packet.dst + packet.udp + data[:-4])
    have = struct.unpack("<I", data[-4:])[0]
    check.expect(have == want, f"CRC trailer {have:#010x}, not {want:#010x}")
    return data[:-4]


def icmp_about_us(frame, at, is_error, ip_len):
    inner = at + 8 + ip_len
    return is_error and len(frame) >= inner + 4 and \
        struct.unpack(">H", frame[inner + 2:inner + 4])[0] == PORT


# --------------------------------------------------------------------------
# PDS


def take(data, size, what):
    if len(data) < size:
        raise Malformed(f"{what} of {size} bytes, {len(data)} are left")
    return data[:size], data[size:]


def decode_request(check, data, kind, flags, next_hdr):
    cc = kind in (RUD_CC, ROD_CC)
    head, rest = take(data, 16 if cc else 12, "PDS request")
    clear, psn, spdcid, last = struct.unpack(">hIHH", head[2:12])
    syn = bool(flags & 4)
    pds = Fields(type=kind, next_hdr=next_hdr, flags=flags, retx=bool(flags & 0x10),
                 ar=bool(flags & 8), syn=syn, psn=psn, clear_psn=psn_add(psn, clear),
                 spdcid=spdcid)
    check.expect(not flags & 0x63, f"reserved flags {flags & 0x63:#x} in a request")
    check.expect(clear <= 0, f"clear_psn_offset {clear} is positive")
    check.expect(spdcid != 0, "spdcid 0")
    if syn:
        pds.psn_offset = last & 0xFFF
        pds.start_psn = psn_add(psn, -pds.psn_offset)
        check.expect(last >> 12 == 0, f"pdc_info {last >> 12:#x}, not 0")
    else:
        pds.dpdcid = last
        check.expect(last != 0, "dpdcid 0 without SYN")
    if cc:
        word = struct.unpack(">I", head[12:16])[0]
        pds.ccc_id, pds.credit_target = word >> 24, word & 0xFFFFFF
    if next_hdr not in (SMALL, MEDIUM, STANDARD, RESPONSE_DATA, RESPONSE_SMALL):
        raise Malformed(f"next_hdr {next_hdr} in a request")
    return pds, rest


def decode_ack(check, data, kind, flags, next_hdr):
    head, rest = take(data, 32 if kind == ACK_CC else 12, "ACK")
    offset, cack, spdcid, dpdcid = struct.unpack(">hIHH", head[2:12])
    probe = bool(flags & 8)
    pds = Fields(type=kind, next_hdr=next_hdr, flags=flags, m=bool(flags & 0x20),
                 retx=bool(flags & 0x10), probe=probe, req=flags >> 1 & 3, cack=cack,
                 spdcid=spdcid, dpdcid=dpdcid)
    if probe:
        pds.opaque = offset & 0xFFFF
    else:
        pds.ack_psn = psn_add(cack, offset)
    check.expect(not flags & 0x41, f"reserved flags {flags & 0x41:#x} in an ACK")
    check.expect(pds.req != 3, "req 3 in an ACK is reserved")
    check.expect(spdcid and dpdcid, "PDCID 0 in an ACK")
    if next_hdr not in (NONE, RESPONSE, RESPONSE_DATA, RESPONSE_SMALL):
        raise Malformed(f"next_hdr {next_hdr} in an ACK")
    if kind == ACK_CC:
        cc, mpr, sack, bitmap, state = struct.unpack(">BBhQQ", head[12:32])
        pds.mpr, pds.sack_base, pds.bitmap = mpr, psn_add(cack, sack), bitmap
        pds.cc_type, pds.cc_state = cc >> 4, state
        check.expect(cc & 15 == 0, f"cc_flags {cc & 15:#x}, not 0")
        check.expect(pds.cc_type in (0, 1, 14, 15), f"cc_type {pds.cc_type}")
        check.expect(pds.cc_type != 1 or not state >> 16 & 0xFFFFFF, "reserved bits of CREDIT")
        check.expect(mpr != 0, "mpr 0")
    return pds, rest


def decode_nack(check, data, kind, flags, next_hdr):
    head, rest = take(data, 16, "NACK")
    code, vendor, psn, spdcid, dpdcid, word = struct.unpack(">BBIHHI", head[2:16])
    pds = Fields(type=kind, next_hdr=next_hdr, flags=flags, m=bool(flags & 0x20),
                 retx=bool(flags & 0x10), nt=bool(flags & 8), code=code, psn=psn,
                 spdcid=spdcid, dpdcid=dpdcid, word=word)
    check.expect(not flags & 0x47, f"reserved flags {flags & 0x47:#x} in a NACK")
    check.expect(next_hdr == 0, f"next_hdr {next_hdr} in a NACK")
    check.expect(code in NACK_CODES, f"NACK code {code:#x} is not defined")
    check.expect(vendor == 0 or code >= 0xFD, f"vendor code {vendor:#x}, not 0")
    check.expect(code not in NACK_NO_PDC or spdcid == 0,
                 f"NACK code {code:#x} with spdcid {spdcid:#x}, not 0")
    check.expect(pds.nt == (dpdcid == 0), "dpdcid of a NACK")
    return pds, rest


def decode_cp(check, data, kind, flags, next_hdr):
    head, rest = take(data, 16, "CP")
    opaque, psn, spdcid, last, word = struct.unpack(">HIHHI", head[2:16])
    syn = bool(flags & 4)
    pds = Fields(type=kind, ctl=next_hdr, flags=flags, rod=bool(flags & 0x20),
                 retx=bool(flags & 0x10), ar=bool(flags & 8), syn=syn, psn=psn,
                 spdcid=spdcid, word=word, opaque=opaque)
    check.expect(not flags & 0x43, f"reserved flags {flags & 0x43:#x} in a CP")
    check.expect(next_hdr <= NEGOTIATION, f"control type {next_hdr} is not defined")
    check.expect(spdcid != 0, "spdcid 0 in a CP")
    check.expect(opaque == 0 or next_hdr == PROBE, "probe_opaque set in a CP that is no probe")
    if syn:
        pds.psn_offset = last & 0xFFF
        pds.start_psn = psn_add(psn, -pds.psn_offset)
        check.expect(last >> 12 == 0, f"pdc_info {last >> 12:#x}, not 0")
        check.expect(next_hdr != PROBE, "a probe cannot open a PDC")
    else:
        pds.dpdcid = last
        check.expect(last != 0, "dpdcid 0 without SYN in a CP")
    check.expect(not pds.rod or next_hdr in (NOOP, NEGOTIATION), "isROD in this CP")
    if next_hdr in (CLEAR, CLEAR_REQUEST):
        check.expect(not pds.ar, "AR in a clear CP, which is not acknowledged")
    if next_hdr == CLEAR:
        check.expect(psn == 0, f"psn {psn:#x} in a Clear Command, not 0")
    if next_hdr in (CLOSE, CLOSE_REQUEST):
        check.expect(pds.ar, "no AR in a close CP")
    if next_hdr in (NOOP, CLOSE, CLOSE_REQUEST):
        check.expect(word == 0, f"payload {word:#x} in a CP that has none")
    return pds, rest


def decode_uud(check, data, kind, flags, next_hdr):
    head, rest = take(data, 4, "UUD")
    reserved = struct.unpack(">H", head[2:4])[0]
    check.expect(flags == 0 and reserved == 0, "reserved bits in a UUD header")
    if next_hdr not in (SMALL, MEDIUM, STANDARD):
        raise Malformed(f"next_hdr {next_hdr} in a UUD packet")
    return Fields(type=kind, next_hdr=next_hdr, flags=flags), rest


def decode_rudi(check, data, kind, flags, next_hdr):
    head, rest = take(data, 8, "RUDI")
    reserved, pkt_id = struct.unpack(">HI", head[2:8])
    allowed = 0x30 if kind == RUDI_RESP else 0x10
    check.expect(not flags & ~allowed and reserved == 0, "reserved bits in a RUDI header")
    good = (SMALL, MEDIUM, STANDARD) if kind == RUDI_REQ else \
        (RESPONSE, RESPONSE_DATA, RESPONSE_SMALL)
    if next_hdr not in good:
        raise Malformed(f"next_hdr {next_hdr} in a RUDI packet")
    return Fields(type=kind, next_hdr=next_hdr, flags=flags, pkt_id=pkt_id), rest


PDS_DECODERS = {RUD: decode_request, ROD: decode_request, RUD_CC: decode_request,
                ROD_CC: decode_request, ACK: decode_ack, ACK_CC: decode_ack,
                NACK: decode_nack, CP: decode_cp, UUD: decode_uud, RUDI_REQ: decode_rudi,
                RUDI_RESP: decode_rudi}


# --------------------------------------------------------------------------
# SES


def decode_common(check, head):
    ses = Fields(opcode=head[0] & 0x3F, rel=bool(head[1] & 8), hd=bool(head[1] & 4),
                 eom=bool(head[1] & 2), som=bool(head[1] & 1), ie=bool(head[1] & 0x10),
                 dc=bool(head[1] & 0x20))
    word, ses.generation = struct.unpack(">HB", head[2:5])
    ses.job = int.from_bytes(head[5:8], "big")
    ses.pid, ses.ri = struct.unpack(">HH", head[8:12])
    check.expect(head[0] >> 6 == 0, "reserved bits in front of the SES opcode")
    check.expect(head[1] >> 6 == 0, f"SES version {head[1] >> 6}")
    check.expect(ses.pid < 0x1000, f"PIDonFEP {ses.pid:#x} has more than 12 bits")
    check.expect(ses.ri < 0x1000, f"resource index {ses.ri:#x} has more than 12 bits")
    check.expect(ses.job or not ses.rel, "relative addresses, and no job to which they belong")
    check.expect(ses.opcode < len(OPS) or ses.opcode in (SEND_INVALIDATE, FLUSH),
                 f"SES opcode {ses.opcode:#x}")
    return ses, word


def decode_standard(check, data):
    head, rest = take(data, 44, "SES standard header")
    ses, ses.message_id = decode_common(check, head)
    ses.offset, ses.initiator, ses.key = struct.unpack(">QIQ", head[12:32])
    ses.length = struct.unpack(">I", head[40:44])[0]
    if ses.som:
        ses.header_data = struct.unpack(">Q", head[32:40])[0]
        ses.at = 0
        check.expect(ses.hd or ses.header_data == 0, "header data without HD")
    else:
        word, ses.at = struct.unpack(">II", head[32:40])
        ses.payload_length = word & 0x3FFF
        check.expect(word >> 14 == 0, "reserved bits in front of payload_length")
        check.expect(ses.at > 0, "message_offset 0 without SOM")
    if ses.opcode in KEYED:
        check.expect(not ses.key >> 56 & 0x3F, f"reserved bits in the memory key {ses.key:#x}")
        check.expect(not ses.key >> 62 & 1, "optimised memory key in a standard header")
    return ses, rest


def decode_short(check, data, next_hdr):
    head, rest = take(data, 20 if next_hdr == SMALL else 32, "SES header")
    ses, word = decode_common(check, head)
    ses.message_id, ses.length, ses.at = None, word & 0x3FFF, 0
    first = struct.unpack(">Q", head[12:20])[0]
    if next_hdr == MEDIUM:
        ses.initiator, ses.key = struct.unpack(">IQ", head[20:32])
    else:
        ses.initiator = ses.key = None
    if ses.hd and next_hdr == MEDIUM:
        ses.header_data, ses.offset = first, 0
    else:
        ses.offset = first
    check.expect(word >> 14 == 0, "reserved bits in front of request_length")
    check.expect(ses.som and ses.eom, "a message of several packets without a standard header")
    check.expect(not (ses.hd and next_hdr == SMALL), "HD in a small header")
    return ses, rest


def take_extension(check, ses, rest):
    if ses.opcode in RENDEZVOUS:
        ext, rest = take(rest, 24, "rendezvous extension")
        ses.eager, word, ses.read_offset, ses.read_key = struct.unpack(">IIQQ", ext)
        ses.read_pid, ses.read_ri = word >> 12 & 0xFFF, word & 0xFFF
    elif ses.opcode in ATOMICS:
        ext, rest = take(rest, 4, "atomic extension")
        ses.amo, ses.datatype = ext[0], ext[1]
        check.expect(ses.amo <= 0x14 or 0xE0 <= ses.amo <= 0xFE, f"AMO opcode {ses.amo:#x}")
        check.expect(ses.datatype <= 0x11, f"datatype {ses.datatype:#x}")
        check.expect(not ext[2] & ~3 and ext[3] == 0, "reserved bits in the atomic extension")
        if ses.amo in SWAPS:
            _, rest = take(rest, 32, "compare-and-swap operands")
    return rest


def check_payload(check, ses, size):
    """How much payload the header promises, against how much there is."""
    left = ses.length - ses.at
    check.expect(left >= 0, f"message_offset {ses.at} behind the end of the message")
    if ses.opcode in EMPTY or (ses.opcode in ATOMICS and ses.amo in SWAPS):
        check.expect(size == 0, f"{size} bytes of payload in {op_name(ses.opcode)}")
        if ses.opcode == OP["READ"]:
            asked = ses.payload_length if not ses.som else left if ses.eom else None
            check.expect(asked is None or asked <= min(left, PAYLOAD_MTUS[-1]),
                         f"READ of {asked} bytes at {ses.at} of {ses.length}")
            check.expect(not asked or ses.eom == (asked == left), "EOM of a READ")
        return
    if ses.opcode in RENDEZVOUS:
        check.expect(size == ses.eager, f"{size} bytes of payload, eager_length {ses.eager}")
        return
    if not ses.som:
        check.expect(ses.payload_length == size,
                     f"payload_length {ses.payload_length}, payload {size} bytes")
    check.expect(ses.eom == (size == left),
                 f"EOM is {ses.eom}, payload ends at {ses.at + size} of {ses.length}")
    if not ses.eom:
        check.expect(size in PAYLOAD_MTUS, f"{size} bytes in a packet that is not the last")
    check.expect(size <= PAYLOAD_MTUS[-1], f"payload of {size} bytes")
    check.expect(size or ses.length == 0, "no payload in a message that has some")


def op_name(opcode):
    return OPS[opcode] if opcode < len(OPS) else f"opcode {opcode:#x}"


def decode_response(check, data, next_hdr):
    size = {RESPONSE: 12, RESPONSE_DATA: 20, RESPONSE_SMALL: 12}[next_hdr]
    head, rest = take(data, size, "SES response")
    ses = Fields(list=head[0] >> 6, opcode=head[0] & 0x3F, rc=head[1] & 0x3F)
    ses.job = int.from_bytes(head[5:8], "big")
    check.expect(head[1] >> 6 == 0, f"SES version {head[1] >> 6} of a response")
    check.expect(ses.opcode <= 3, f"SES response opcode {ses.opcode:#x}")
    check.expect(ses.list <= 1, f"list {ses.list} of a response")
    check.expect(ses.rc <= RC_MAX, f"return code {ses.rc:#x}")
    check.expect(ses.opcode or ses.rc <= RC_OK, f"default response with return code {ses.rc:#x}")
    if next_hdr == RESPONSE:
        ses.message_id, ses.generation, = struct.unpack(">HB", head[2:5])
        ses.modified = struct.unpack(">I", head[8:12])[0]
        check.expect(ses.opcode != 2, "RESPONSE_W_DATA without data")
        check.expect(ses.rc <= RC_OK or ses.modified == 0,
                     f"modified_length {ses.modified} with return code {ses.rc:#x}")
        return ses, rest
    check.expect(head[4] == 0, "reserved byte of a response with data")
    check.expect(ses.opcode == 2, f"opcode {ses.opcode} of a response with data")
    if next_hdr == RESPONSE_DATA:
        ses.message_id, word, ses.modified, ses.at = struct.unpack(">HHII", head[8:20])
    else:
        word = struct.unpack(">H", head[2:4])[0]
        ses.request_psn = struct.unpack(">I", head[8:12])[0]
    ses.payload_length = word & 0x3FFF
    check.expect(word >> 14 == 0, "reserved bits in front of payload_length")
    check.expect(ses.payload_length == len(rest),
                 f"payload_length {ses.payload_length} of a response, {len(rest)} bytes")
    check.expect(len(rest) <= PAYLOAD_MTUS[-1], f"response with {len(rest)} bytes")
    return ses, rest


def decode_ses(check, packet, data):
    """Decode what follows the PDS header into packet.ses and packet.payload."""
    next_hdr = packet.pds.next_hdr
    if next_hdr == NONE:
        check.expect(not data, f"{len(data)} bytes behind the header")
        return
    if next_hdr in (RESPONSE, RESPONSE_DATA, RESPONSE_SMALL):
        packet.ses, rest = decode_response(check, data, next_hdr)
        check.expect(next_hdr != RESPONSE or not rest, f"{len(rest)} bytes behind the response")
    else:
        if next_hdr == STANDARD:
            packet.ses, rest = decode_standard(check, data)
        else:
            packet.ses, rest = decode_short(check, data, next_hdr)
        rest = take_extension(check, packet.ses, rest)
        check_payload(check, packet.ses, len(rest))
    packet.ses_bytes, packet.payload = data[:len(data) - len(rest)], rest


def decode_uet(check, packet, data):
    """Decode PDS and SES. Raises Malformed when that cannot go on."""
    check.packet = packet
    word = struct.unpack(">H", take(data, 2, "prologue")[0])[0]
    kind, next_hdr, flags = word >> 11, word >> 7 & 15, word & 0x7F
    if kind not in PDS_DECODERS:
        raise Malformed(f"PDS type {kind}")
    packet.pds, rest = PDS_DECODERS[kind](check, data, kind, flags, next_hdr)
    if kind in (NACK, CP):
        check.expect(not rest, f"{len(rest)} bytes behind the header")
        return
    decode_ses(check, packet, rest)
    if kind == UUD:
        check.expect(packet.ses.opcode == OP["DATAGRAM_SEND"],
                     f"{op_name(packet.ses.opcode)} in a UUD packet")
        check.expect(packet.ses.som and packet.ses.eom, "datagram of several packets")
        check.expect(not packet.ses.message_id, "message id in a datagram")
    elif kind in REQUESTS and next_hdr <= STANDARD:
        check.expect(packet.ses.opcode != OP["DATAGRAM_SEND"], "DATAGRAM_SEND outside UUD")


# --------------------------------------------------------------------------
# Conversations

# ms that an answer may be under way: in a queue, lost, or with a processor that stands still
SYN_GRACE = 4000


def withdrawn(first, packet):
    """Whether a copy of READ data says that the data may not be read any more.

    The reader may have it and be done, so that the target's QP or memory goes, while
    only the ACK was lost.
    """
    data = (RESPONSE_DATA, RESPONSE_SMALL)
    return packet.pds.next_hdr in data and first.pds.next_hdr == packet.pds.next_hdr and \
        first.ses.rc <= RC_OK < packet.ses.rc and not packet.payload and \
        packet.ses.like(first.ses, except_for=("rc", "modified", "payload_length"))


class Sent:
    """A PSN that was sent."""

    def __init__(self, packet, cack):
        self.packet = packet
        self.cack = cack            # newest CACK_PSN seen when it was sent first
        self.ports = {packet.sport}
        self.again = False


class Direction:
    """What one side of a PDC sent, and what the other said to it. PSNs are
    counted from Start_PSN here."""

    def __init__(self):
        self.high = -1
        self.sent = {}
        self.clear = -1             # newest CLEAR_PSN
        self.clear_in_order = -1    # that of the newest PSN
        self.cack = -1              # newest CACK_PSN
        self.syn = True             # no PSN has left without SYN
        self.acked = -1             # all up to this one are acknowledged
        self.explicit = set()       # and these above it
        self.mpr = 8
        self.open = None            # message with packets to come
        self.next_at = 0
        self.ids = {}               # message id: PSN of its last packet
        self.failed = set()         # messages refused by the peer, which may end early
        self.closed_at = None

    def acknowledge(self, psn):
        if psn > self.acked:
            self.explicit.add(psn)

    def is_open(self):
        """Are packets of a message to come that was not refused?"""
        return self.open and self.open.ses.message_id not in self.failed

    def settle(self):
        """Move self.acked: all PSNs up to it are acknowledged."""
        self.acked = max(self.acked, self.cack)
        while self.acked + 1 in self.explicit:
            self.acked += 1
            self.explicit.remove(self.acked)


class Read:
    def __init__(self, length):
        self.length = length
        self.asked = {}             # offset: bytes
        self.got = set()


class Pdc:
    def __init__(self, packet, start):
        self.initiator, self.target = packet.src, packet.dst
        self.ids = [packet.pds.spdcid, None]
        self.start = start
        self.mode = MODE.get(packet.pds.type)
        self.dirs = [Direction(), Direction()]
        self.spoke = None           # time at which the target was first heard
        self.mtu = None
        self.reads = {}
        self.closed = False

    def side(self, packet):
        return 0 if packet.src == self.initiator else 1


class Conversation:
    """The checks that need more than one packet."""

    def __init__(self, check, options):
        self.check = check
        self.options = options
        self.pdcs = {}
        self.all = []
        self.retransmitted = 0
        self.bytes = 0
        self.messages = collections.Counter()
        self.kinds = collections.Counter()

    # finding the PDC

    def by_initiator(self, packet):
        return self.pdcs.get((packet.src, packet.dst, packet.pds.spdcid))

    def by_target(self, packet):
        """The PDC whose initiator this packet, sent by the target, goes to."""
        return self.pdcs.get((packet.dst, packet.src, packet.pds.dpdcid))

    def open(self, packet):
        """A packet with SYN: the PDC it belongs to, made by the first."""
        pds, check = packet.pds, self.check
        pdc = self.by_initiator(packet)
        if pdc and (pdc.closed or pdc.start != pds.start_psn):
            check.expect(pdc.closed, "SYN with another Start_PSN on a PDC in use")
            pdc = None
        if not pdc:
            pdc = Pdc(packet, pds.start_psn)
            self.pdcs[packet.src, packet.dst, pds.spdcid] = pdc
            self.all.append(pdc)
        return pdc

    def find(self, packet):
        """(PDC, side of the sender) of a packet without SYN."""
        pds = packet.pds
        pdc = self.by_initiator(packet)
        if pdc and pds.dpdcid == pdc.ids[1]:
            return pdc, 0
        pdc = self.by_target(packet)
        if pdc and pdc.ids[1] in (None, pds.spdcid):
            return pdc, 1
        return None, None

    def learn_target(self, pdc, packet):
        if pdc.ids[1] is None:
            pdc.ids[1] = packet.pds.spdcid
        if pdc.spoke is None:
            pdc.spoke = packet.time

    # requests

    def request(self, packet):
        pds = packet.pds
        if pds.syn:
            pdc, side = self.open(packet), 0
        else:
            pdc, side = self.find(packet)
        if not pdc:
            self.check.bad("request without SYN of an unknown PDC")
            return
        if side:
            self.learn_target(pdc, packet)
        if pdc.mode is None:        # opened by a CP
            pdc.mode = MODE[pds.type]
        self.check.expect(pdc.mode == MODE[pds.type], f"{MODE[pds.type]} packet on a {pdc.mode} PDC")
        self.check.expect((pds.next_hdr <= STANDARD) == (side == 0),
                          "response of the initiator, or request of the target")
        self.sequenced(pdc, side, packet)

    def sequenced(self, pdc, side, packet):
        """A packet that has a PSN of its own."""
        pds, check, out = packet.pds, self.check, pdc.dirs[side]
        psn = psn_diff(pds.psn, pdc.start)
        if psn <= out.high:
            self.again(out, psn, packet)
        else:
            check.expect(psn == out.high + 1,
                         f"PSN is Start_PSN + {psn}, the one before + {out.high}")
            check.expect(not pds.retx, "RETX on a packet sent for the first time")
            self.order_rules(pdc, side, packet)
            out.sent[psn] = Sent(packet, out.cack)
            out.high = psn
            check.expect(out.closed_at is None, "new PSN after the close command")
            if packet.ses:
                self.first(pdc, out, psn, packet)
        check.expect(psn <= out.cack + 128 * out.mpr,
                     f"PSN + {psn} outside the window of {128 * out.mpr} above CACK + {out.cack}")
        if hasattr(pds, "clear_psn"):
            self.clear_rule(pdc, out, pds.clear_psn)

    def clear_rule(self, pdc, out, clear_psn):
        clear = psn_diff(clear_psn, pdc.start)
        acked = out.acked
        self.check.expect(clear >= -1, f"CLEAR_PSN is Start_PSN + {clear}")
        self.check.expect(clear <= acked,
                          f"CLEAR_PSN + {clear} is not acknowledged yet (+ {acked} is)")
        out.clear = max(out.clear, clear)

    def order_rules(self, pdc, side, packet):
        """New PSNs leave in order, which CLEAR CPs and retransmissions do not."""
        pds, out = packet.pds, pdc.dirs[side]
        if hasattr(pds, "clear_psn"):
            clear = psn_diff(pds.clear_psn, pdc.start)
            self.check.expect(clear >= out.clear_in_order,
                              f"CLEAR_PSN went back from + {out.clear_in_order} to + {clear}")
            out.clear_in_order = clear
        if side:
            return
        if not pds.syn:
            self.check.expect(pdc.spoke is not None, "no SYN although the target never answered")
            out.syn = False
            return
        self.check.expect(out.syn, "SYN on a new PSN after one without")
        if pdc.spoke is not None:
            late = (packet.time - pdc.spoke) / 1e6
            self.check.expect(late <= SYN_GRACE,
                              f"SYN on a new PSN {late:.0f} ms after the target answered")

    def again(self, out, psn, packet):
        check, sent = self.check, out.sent.get(psn)
        self.retransmitted += 1
        check.expect(packet.pds.retx, "PSN sent again without RETX")
        if not sent:
            check.bad(f"PSN + {psn} sent again that was never sent")
            return
        sent.again = True
        sent.ports.add(packet.sport)
        first = sent.packet
        if packet.pds.type != CP and withdrawn(first, packet):
            # a third copy must say the same
            sent.packet = first = packet
        same = packet.ses_bytes == first.ses_bytes and packet.pds.type == first.pds.type
        # The reader may have its data, and the memory been written to, while only the ACK
        # was lost: then the data is that of now.
        if packet.pds.type == CP:
            same = same and packet.pds.ctl == first.pds.ctl
        elif packet.pds.next_hdr in (RESPONSE_DATA, RESPONSE_SMALL):
            same = same and len(packet.payload) == len(first.payload)
        else:
            same = same and packet.payload == first.payload
        check.expect(same, "retransmission differs from the first transmission")
        check.expect(not packet.pds.syn or first.pds.syn, "SYN only on the retransmission")

    # messages

    def first(self, pdc, out, psn, packet):
        """SES of a request sent for the first time."""
        ses = packet.ses
        self.bytes += len(packet.payload)
        if packet.pds.next_hdr in (RESPONSE_DATA, RESPONSE_SMALL):
            self.read_data(pdc, packet, in_ack=False)
            return
        if packet.pds.next_hdr != STANDARD:
            self.messages[op_name(ses.opcode)] += 1
            self.check.expect(not out.is_open(), "a message starts before the one before has ended")
            return
        self.check.expect(ses.message_id != 0, "message id 0")
        size = self.size_of(pdc, ses, packet)
        if ses.som:
            self.message_starts(pdc, out, packet)
        else:
            self.message_goes_on(pdc, out, packet)
        out.next_at = ses.at + size
        out.open = None if ses.eom else packet
        if ses.eom:
            out.ids[ses.message_id] = psn
        if ses.opcode == OP["READ"] and ses.message_id in pdc.reads:
            pdc.reads[ses.message_id].asked[ses.at] = size

    def size_of(self, pdc, ses, packet):
        """Bytes of the message that this packet carries or asks for."""
        size = len(packet.payload)
        if ses.opcode == OP["READ"]:
            size = ses.payload_length if not ses.som else ses.length
            if ses.som and not ses.eom:
                size = pdc.mtu or self.options.mtu or 0
        elif ses.opcode in EMPTY or ses.opcode in ATOMICS:
            return size
        if ses.eom:
            self.check.expect(not pdc.mtu or size <= pdc.mtu,
                              f"{size} bytes in a packet, payload MTU is {pdc.mtu}")
        elif not pdc.mtu:
            pdc.mtu = size or None
        else:
            self.check.expect(size == pdc.mtu, f"{size} bytes in a packet that is not the last, "
                              f"payload MTU is {pdc.mtu}")
        if self.options.mtu:
            self.check.expect(size <= self.options.mtu and (ses.eom or size == self.options.mtu),
                              f"{size} bytes in a packet, payload MTU is {self.options.mtu}")
        return size

    def message_starts(self, pdc, out, packet):
        ses = packet.ses
        self.messages[op_name(ses.opcode)] += 1
        self.kinds["relative"] += ses.rel
        self.kinds["in a job"] += ses.job != 0
        self.kinds["with DC"] += ses.dc
        self.check.expect(not out.is_open(), "a message starts before the one before has ended")
        out.failed.discard(ses.message_id)
        last = out.ids.get(ses.message_id, -1)
        self.check.expect(last <= out.acked,
                          f"message id {ses.message_id:#x} is still in use by PSN + {last}")
        if ses.opcode == OP["READ"]:
            pdc.reads[ses.message_id] = Read(ses.length)

    def message_goes_on(self, pdc, out, packet):
        ses, check = packet.ses, self.check
        if not out.open:
            check.bad("a packet without SOM, and no message has begun")
            return
        before = out.open.ses
        for field in ("message_id", "opcode", "length", "offset", "key", "initiator", "job",
                      "pid", "ri", "rel", "dc"):
            have, want = getattr(ses, field), getattr(before, field)
            check.expect(have == want, f"{field} changed within a message: {want} to {have}")
        if not (before.som and ses.opcode == OP["READ"]) or out.next_at:
            check.expect(ses.at == out.next_at,
                         f"message_offset {ses.at}, the packet before ended at {out.next_at}")
        else:                       # the SOM packet of a READ does not say how much it asks for
            check.expect(ses.at in PAYLOAD_MTUS, f"second READ packet at {ses.at}")
            pdc.mtu = ses.at

    def read_data(self, pdc, packet, in_ack):
        ses, check = packet.ses, self.check
        if packet.pds.next_hdr == RESPONSE_SMALL:
            return
        read = pdc.reads.get(ses.message_id)
        if not read:
            if not in_ack:
                check.bad(f"data for READ {ses.message_id:#x}, which nobody asked for")
            return
        check.expect((read.length <= MAX_ACK_DATA) == in_ack,
                     f"data of a READ of {read.length} bytes {'in an ACK' if in_ack else 'as request'}")
        size = len(packet.payload)
        # a target with smaller packets answers in parts
        check.expect(any(at == ses.at and not asked or at <= ses.at and ses.at + size <= at + asked
                         for at, asked in read.asked.items()),
                     f"{size} bytes at {ses.at} of READ {ses.message_id:#x}, not asked for")
        check.expect(ses.at + size <= read.length, "data behind the end of a READ")
        check.expect(ses.at not in read.got or in_ack, f"data at {ses.at} under a second PSN")
        read.got.add(ses.at)

    # acknowledgments

    def ack(self, packet):
        pds, check = packet.pds, self.check
        pdc, side = self.find(packet)
        if not pdc:
            check.bad("ACK of an unknown PDC")
            return
        if side:
            self.learn_target(pdc, packet)
        out = pdc.dirs[1 - side]
        check.expect(side == 1 or pds.req == 0, "req in an ACK of the initiator")
        cack = psn_diff(pds.cack, pdc.start)
        check.expect(-1 <= cack <= out.high, f"CACK_PSN + {cack}, + {out.high} was the last sent")
        out.cack = max(out.cack, cack)
        if pds.type == ACK_CC:
            out.mpr = max(out.mpr, pds.mpr)
            self.sack(pdc, out, pds)
        out.settle()
        if pds.probe:
            check.expect(pds.next_hdr == NONE, "answer to a probe with a response")
            return
        psn = psn_diff(pds.ack_psn, pdc.start)
        sent = out.sent.get(psn)
        if not sent:
            check.bad(f"ACK_PSN + {psn} was never sent")
            return
        # ACKs of two CPUs may overtake each other, but none is older than what it answers.
        check.expect(cack >= sent.cack,
                     f"CACK_PSN went back from + {sent.cack} to + {cack}")
        out.acknowledge(psn)
        out.settle()
        if sent.packet.pds.type == CP and sent.packet.pds.ctl == CLOSE and cack >= psn:
            pdc.closed = True
        self.answer(pdc, out, psn, sent, packet)

    def sack(self, pdc, out, pds):
        base = psn_diff(pds.sack_base, pdc.start)
        for bit in range(64):
            psn = base + bit
            if not pds.bitmap >> bit & 1 or psn < 0:
                continue
            if psn > out.high:
                self.check.bad(f"SACK of PSN + {psn}, + {out.high} was the last sent")
                return
            out.acknowledge(psn)

    def answer(self, pdc, out, psn, sent, packet):
        """Does an ACK fit the request it answers?"""
        pds, ses, check, request = packet.pds, packet.ses, self.check, sent.packet
        check.expect(not pds.retx or sent.again, "RETX in the ACK of a packet sent only once")
        check.expect(packet.sport in sent.ports,
                     f"entropy {packet.sport:#x} in the ACK, {sorted(sent.ports)} in the packet")
        if pds.req == 1:
            check.expect(out.cack < psn or out.clear >= psn,
                         "CACK_PSN passed a guaranteed response that was not cleared")
        if request.pds.type == CP:
            check.expect(ses is None, "SES response to a CP")
            return
        if ses is None:
            check.bad("no SES response in the ACK of a request")
            return
        # 2.13: what the PDS answers by itself has the ids of the request, or 0
        by_pds = ses.opcode == 0 and ses.message_id == 0
        check.expect(ses.job == request.ses.job or (by_pds and not ses.job),
                     f"JobID {ses.job:#x} in the response")
        if pds.next_hdr == RESPONSE and request.pds.next_hdr <= STANDARD:
            wanted = request.ses.message_id
            check.expect(wanted is None or by_pds or ses.message_id == wanted,
                         f"message id {ses.message_id:#x} in the response, {wanted} in the request")
        elif pds.next_hdr == RESPONSE_DATA:
            self.read_data(pdc, packet, in_ack=True)
        if ses.rc > RC_OK:
            out.failed.add(request.ses.message_id)
            check.expect(ses.opcode == 1, f"return code {ses.rc:#x} in a default response")
            check.expect(pds.req == 1, f"return code {ses.rc:#x} without REQ_CLEAR")

    def nack(self, packet):
        pds, check = packet.pds, self.check
        if pds.nt:
            return
        pdc, side = self.by_target(packet), 1
        if not pdc or (pds.spdcid and pdc.ids[1] not in (None, pds.spdcid)):
            pdc, side = self.by_initiator(packet), 0
        if not pdc:
            check.bad("NACK for an unknown PDC")
            return
        if side and pds.spdcid:
            self.learn_target(pdc, packet)
        out = pdc.dirs[1 - side]
        sent = out.sent.get(psn_diff(pds.psn, pdc.start))
        if not sent and pds.code == INV_DPDCID and not pds.psn and out.closed_at is not None:
            return      # a CLEAR, which has no PSN, came after the close command
        if not sent:
            check.bad("NACK of a PSN that was never sent")
            return
        check.expect(packet.sport in sent.ports, "entropy of the NACK is not that of the packet")
        check.expect(not pds.retx or sent.again, "RETX in the NACK of a packet sent only once")

    def cp(self, packet):
        pds, check = packet.pds, self.check
        if pds.syn:
            pdc, side = self.open(packet), 0
        else:
            pdc, side = self.find(packet)
        if not pdc:
            check.bad("CP of an unknown PDC")
            return
        if side:
            self.learn_target(pdc, packet)
        out = pdc.dirs[side]
        psn = psn_diff(pds.psn, pdc.start)
        if pds.ctl in (NOOP, CLOSE, CLOSE_REQUEST):
            check.expect(pds.ctl != CLOSE or side == 0, "close command of the target")
            check.expect(pds.ctl != CLOSE_REQUEST or side == 1, "close request of the initiator")
            if pds.ctl == CLOSE and psn > out.high:
                check.expect(out.acked == out.high,
                             f"close with PSNs + {out.acked + 1} .. {out.high} unacknowledged")
            self.sequenced(pdc, side, packet)
            if pds.ctl == CLOSE:
                out.closed_at = psn
        elif pds.ctl == ACK_REQUEST:
            check.expect(psn in out.sent, f"ACK request for PSN + {psn}, never sent")
        elif pds.ctl == CLEAR:
            self.clear_rule(pdc, out, pds.word)

    def packet(self, packet):
        check, kind = self.check, packet.pds.type
        check.packet = packet
        if kind in REQUESTS:
            check.expect(packet.tos & 3 == 2, f"ECN bits {packet.tos & 3} on a data packet, not ECT(0)")
            self.request(packet)
        elif kind in ACKS:
            self.ack(packet)
        elif kind == NACK:
            self.nack(packet)
        elif kind == CP:
            self.cp(packet)
        elif kind == UUD:
            self.messages["DATAGRAM_SEND"] += 1
            self.bytes += len(packet.payload)
            check.expect(len(packet.payload) <= (self.options.mtu or PAYLOAD_MTUS[-1]),
                         f"datagram of {len(packet.payload)} bytes")

    def end(self):
        """Nothing may be left open once the programs have ended."""
        self.check.packet = None
        for pdc in self.all:
            name = f"PDC {pdc.ids[0]:#x}"
            for side, out in enumerate(pdc.dirs):
                who = "target" if side else "initiator"
                self.check.expect(out.acked >= out.high,
                                  f"{name}: PSN + {out.acked + 1} of the {who} never acknowledged")
                self.check.expect(not out.is_open(), f"{name}: a message of the {who} has no end")
            for number, read in pdc.reads.items():
                missing = sorted(set(read.asked) - read.got)
                self.check.expect(not missing or read.length == 0,
                                  f"{name}: READ {number:#x} got no data for {missing[:5]}")


# --------------------------------------------------------------------------


def decode_frames(frames, options):
    """Decode (time, frame, length) in order of time; return a report."""
    check = Checker()
    talk = Conversation(check, options)
    count = collections.Counter()
    for number, (time, frame, original) in enumerate(frames, 1):
        packet = check.packet = Packet(number, time)
        data = decode_ip(check, packet, frame, original)
        if data is None:
            count["other"] += 1
            continue
        try:
            if options.crc:
                data = strip_trailer(check, packet, data)
            decode_uet(check, packet, data)
        except Malformed as error:
            check.bad(f"malformed: {error}")
            count["malformed"] += 1
            continue
        count[TYPE_NAMES[packet.pds.type]] += 1
        talk.packet(packet)
        if options.verbose:
            print(packet)
    if not options.partial:
        talk.end()
    return check, talk, count


def report(check, talk, count, options):
    ours = sum(n for name, n in count.items() if name != "other")
    print(f"# {ours} UET packets, {count['other']} others; " +
          ", ".join(f"{name} {n}" for name, n in sorted(count.items()) if name != "other"))
    mtus = sorted({pdc.mtu for pdc in talk.all if pdc.mtu})
    print(f"# {len(talk.all)} PDCs, {sum(p.closed for p in talk.all)} closed, payload MTU {mtus}, "
          f"{talk.bytes} bytes of payload, {talk.retransmitted} packets sent again")
    print("# messages: " + ", ".join(f"{name} {n}" for name, n in sorted(talk.messages.items())) +
          "; " + ", ".join(f"{name} {n}" for name, n in talk.kinds.items()))
    for packet, text in check.violations[:options.show]:
        print(f"VIOLATION: {text}" + (f"\n    {packet}" if packet else ""))
    if len(check.violations) > options.show:
        print(f"... and {len(check.violations) - options.show} violations more")
    if not ours:
        print("no UET packet was captured")
    return 1 if check.violations or not ours else 0


def parse_options(arguments):
    parser = argparse.ArgumentParser(description="check captured UET packets")
    parser.add_argument("captures", nargs="*")
    parser.add_argument("--mtu", type=int, help="the payload MTU all packets must have")
    parser.add_argument("--crc", action="store_true", help="packets have a CRC trailer")
    parser.add_argument("--partial", action="store_true",
                        help="the capture ends before the conversation does")
    parser.add_argument("--show", type=int, default=20, help="violations to show (20)")
    parser.add_argument("--verbose", action="store_true", help="print each packet")
    return parser.parse_args(arguments)


def main():
    options = parse_options(None)
    frames = [frame for path in options.captures for frame in read_pcap(path)]
    frames.sort(key=lambda frame: frame[0])
    return report(*decode_frames(frames, options), options)


if __name__ == "__main__":
    sys.exit(main())
