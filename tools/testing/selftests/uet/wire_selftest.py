#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Show that wire_decode.py accepts what is right and finds what is wrong.

Golden vectors must decode to the values known for them, with no violation; cut off
at any byte, made longer, or with a reserved bit set they must give one. The same
for a small conversation, in which one thing at a time is spoilt.
"""

import struct
import sys

import wire_decode as wire

VECTORS = {
    "V1": "118cffff0001200000210000050b0101000a0b0c001200030000000000000000"
          "000000050000000000000000000000000000000000000004" "55455421",
    "V2": "1184fffe0001200100210001050d0102000a0b0c001200030000000000000000"
          "000000050000000000000000112233445566778800000410",
    "V3": "1188fffe0001200200210142050a0102000a0b0c001200030000000000000000"
          "000000050000000000000000000000100000040000000410"
          "000102030405060708090a0b0c0d0e0f",
    "V4": "3a000000000120000142002100010101000a0b0c00000004",
    "V5": "42200004000120010142002100080001000000000000000c000a000000120002"
          "00010105000a0b0c00000010",
    "V6": "50200100000120030142002100000000",
    "V7": "5a080000000120060021014200000000",
    "V8": "380000000001200601420021",
    "V9": "59000000000000000021014200012005",
    "V10": "1188fffd0001200400210142010f0103000a0b0c001200030000000000002000"
           "000000050000000000c0ffee00000000deadbeef00000010"
           "000102030405060708090a0b0c0d0e0f",
    "V11": "1188ffff0001200500210142040b0104000a0b0c001200030000000000000040"
           "000000050000000000c0ffee000000000000000000000008020700000000000000000001",
    "V12": "3a820001000120040142002102010000000a0b0c0104000800000008000000000000000000000029",
    "V13": "3a0200010001200301420021011d0103000a0b0c00000000",
    "V14": "6888ffff000200100022014307000010020b0020000a0b0c001200550000000000000800",
    "V15": "1908ffff0003010000230144090b0003000a0b0c00120003000000000000000000000005"
           "cafef00d00000001616263",
    "V16": "2180000000c0de01010b0106000a0b0c001200030000000000000100000000058000000000c0ffee"
           "00000000000000000000000401020304",
    "V17": "31800000070b0000000a0b0c0012000300000000000000000000000500000000000000000000000000"
           "00000000000002aa55",
    "V18": "5b005aa5000000000021014200012002",
    "V19": "40085aa5000120010142002100080001000000000000000c000a000000120002",
    "V20": "198cffff00040000002400000a0b0108000a0b0c00120003000000000000000000000005"
           "cafef00d000000020000000000000000000100000000000400045006"
           "000000000000100000000000000a11ce00010203",
    "V21": "1188ffff0001200800210142040b0109000a0b0c001200030000000000000080"
           "000000050000000000c0ffee0000000000000000000000200d070000"
           "0000000000000000000000000000000500000000000000000000000000000009",
    "V22": "118cffff00050000015100000c0b0201000a0b0c004500060000000000000000"
           "000000097700aa013300bb02000000000000000000010000",
    "V23": "1308ffff000200000143002202010020000a0b0c00020010000102030405060708090a0b0c0d0e0f"
           "101112131415161718191a1b1c1d1e1f",
}

SES = {"job": 0x0A0B0C}
REQUEST = {"pid": 0x12, "ri": 3, "initiator": 5, "rel": True, **SES}

# What must come out: fields of the PDS header, of the SES header, bytes of payload.
MEANING = {
    "V1": ({"type": wire.RUD, "ar": True, "syn": True, "psn": 0x12000, "clear_psn": 0x11FFF,
            "spdcid": 0x21, "psn_offset": 0, "start_psn": 0x12000},
           {"opcode": 5, "message_id": 0x101, "length": 4, "som": True, "eom": True, **REQUEST}, 4),
    "V2": ({"syn": True, "ar": False, "psn_offset": 1, "start_psn": 0x12000, "clear_psn": 0x11FFF},
           {"hd": True, "eom": False, "header_data": 0x1122334455667788, "length": 1040}, 1024),
    "V3": ({"syn": False, "dpdcid": 0x142, "psn": 0x12002, "clear_psn": 0x12000},
           {"som": False, "eom": True, "payload_length": 16, "at": 1024, "length": 1040}, 16),
    "V4": ({"type": wire.ACK, "cack": 0x12000, "ack_psn": 0x12000, "spdcid": 0x142,
            "dpdcid": 0x21}, {"opcode": 0, "rc": 1, "message_id": 0x101, "modified": 4}, 0),
    "V5": ({"type": wire.ACK_CC, "m": True, "ack_psn": 0x12005, "cack": 0x12001, "mpr": 8,
            "sack_base": 0x12002, "bitmap": 0xC}, {"message_id": 0x105, "modified": 16}, 0),
    "V6": ({"type": wire.NACK, "m": True, "code": 1, "psn": 0x12003, "nt": False}, None, 0),
    "V7": ({"type": wire.CP, "ctl": wire.CLOSE, "ar": True, "psn": 0x12006}, None, 0),
    "V8": ({"type": wire.ACK, "next_hdr": 0, "cack": 0x12006, "ack_psn": 0x12006}, None, 0),
    "V9": ({"type": wire.CP, "ctl": wire.CLEAR, "psn": 0, "word": 0x12005}, None, 0),
    "V10": ({"psn": 0x12004, "clear_psn": 0x12001},
            {"opcode": 1, "hd": True, "offset": 0x2000, "key": 0xC0FFEE,
             "header_data": 0xDEADBEEF, "length": 16}, 16),
    "V11": ({}, {"opcode": 4, "offset": 0x40, "amo": 2, "datatype": 7, "length": 8}, 8),
    "V12": ({"req": 1, "cack": 0x12004, "ack_psn": 0x12005},
            {"opcode": 2, "rc": 1, "message_id": 0x104, "payload_length": 8, "at": 0}, 8),
    "V13": ({"req": 1, "ack_psn": 0x12004}, {"opcode": 1, "rc": 0x1D, "modified": 0}, 0),
    "V14": ({"type": wire.RUD_CC, "ccc_id": 7, "credit_target": 16},
            {"opcode": 2, "length": 32, "ri": 0x55, "offset": 0x800}, 0),
    "V15": ({"type": wire.ROD}, {"opcode": 9, "length": 3, "key": 0xCAFEF00D00000001}, 3),
    "V16": ({"type": wire.RUDI_REQ, "pkt_id": 0xC0DE01},
            {"opcode": 1, "key": 0x8000000000C0FFEE, "offset": 0x100}, 4),
    "V17": ({"type": wire.UUD}, {"opcode": 7, "message_id": 0, "length": 2}, 2),
    "V18": ({"type": wire.CP, "ctl": wire.PROBE, "opaque": 0x5AA5, "word": 0x12002}, None, 0),
    "V19": ({"type": wire.ACK_CC, "probe": True, "opaque": 0x5AA5, "sack_base": 0x12002}, None, 0),
    "V20": ({"type": wire.ROD, "syn": True},
            {"opcode": 10, "eager": 4, "read_pid": 0x45, "read_ri": 6, "read_key": 0xA11CE}, 4),
    "V21": ({}, {"opcode": 4, "amo": 0x0D, "length": 32}, 0),
    "V22": ({"spdcid": 0x151}, {"opcode": 12, "key": 0x7700AA013300BB02, "length": 65536}, 0),
    "V23": ({"type": wire.RUD, "next_hdr": wire.RESPONSE_SMALL},
            {"opcode": 2, "payload_length": 32, "request_psn": 0x20010}, 32),
}

# vector: {byte: bits} that are reserved or would contradict the rest
SPOILT = {
    "V1": {1: 0x63, 10: 0xF0, 12: 0xC0, 13: 0xC0, 20: 0xF0, 22: 0xF0, 55: 1},
    "V2": {13: 2},
    "V3": {13: 3, 44: 0xFF, 45: 0xFF, 46: 0xC0, 47: 1, 55: 1},
    "V4": {1: 0x41, 13: 0xC0, 12: 0x80},
    "V5": {12: 0x0F},
    "V6": {0: 7, 1: 0x80 | 0x47, 2: 0x20, 3: 1},
    "V7": {1: 0x43, 2: 1, 15: 1},
    "V8": {1: 0x41},
    "V9": {1: 0x0B, 7: 1},
    "V10": {36: 0x40, 13: 2, 55: 1},
    "V11": {58: 0x04, 59: 1},
    "V12": {22: 0xC0, 23: 1, 16: 1},
    "V13": {13: 0xC0, 23: 1},
    "V14": {18: 0xC0, 17: 2},
    "V15": {14: 0xC0, 15: 1},
    "V16": {2: 1, 1: 0x4F},
    "V17": {1: 0x7F, 2: 1, 7: 1, 5: 1},
    "V20": {59: 1},
    "V23": {14: 0xC0, 15: 1, 16: 1},
}

failures = []


def fail(text):
    failures.append(text)
    print(f"# {text}")


def vector(name):
    data = bytes.fromhex(VECTORS[name])
    return data + bytes(range(256)) * 4 if name == "V2" else data


def violations(data):
    check, packet = wire.Checker(), wire.Packet()
    try:
        wire.decode_uet(check, packet, data)
    except wire.Malformed as error:
        check.bad(str(error))
    return [text for _, text in check.violations], packet


def test_vectors():
    for name, (pds, ses, size) in MEANING.items():
        found, packet = violations(vector(name))
        if found:
            fail(f"{name}: {found}")
            continue
        for header, want in ((packet.pds, pds), (packet.ses, ses or {})):
            for field, value in want.items():
                have = getattr(header, field, None)
                if have != value:
                    fail(f"{name}: {field} is {have}, not {value}")
        if len(packet.payload) != size:
            fail(f"{name}: {len(packet.payload)} bytes of payload, not {size}")


def test_lengths():
    for name in VECTORS:
        data = vector(name)
        for size in range(len(data)):
            if not violations(data[:size])[0]:
                fail(f"{name} cut off at {size} of {len(data)} bytes was accepted")
        if not violations(data + b"\0")[0]:
            fail(f"{name} with one byte more was accepted")


def test_spoilt():
    for name, places in SPOILT.items():
        for place, bits in places.items():
            for bit in (1 << n for n in range(8) if bits >> n & 1):
                data = bytearray(vector(name))
                data[place] ^= bit
                if not violations(bytes(data))[0]:
                    fail(f"{name} with bit {bit:#x} of byte {place} changed was accepted")


# The trailer of each vector, as it stands on the wire, where it is a UDP packet
TRAILERS = {
    "V1": "b70bd0f5", "V2": "f1340933", "V3": "21508666", "V4": "bd18a0ed", "V5": "0c175909",
    "V6": "414c50bf", "V7": "b40f0b00",
    "V8": "c3b7a6db", "V9": "664c2374", "V10": "7deae888", "V11": "d0b4bbe2", "V12": "684e534c",
    "V13": "cc92eb57", "V14": "fd5044c2", "V16": "9ba37be3", "V17": "7bb2337a", "V18": "41cb9ab0",
    "V19": "afd43b6e", "V20": "1a4e6a6a", "V21": "cbc5a170", "V22": "78a8e763", "V23": "272db9a5",
}
TO_A = ("V4", "V5", "V6", "V8", "V12", "V13", "V19", "V22", "V23")


def test_trailers():
    if wire.crc32c(b"123456789") != 0xE3069283:
        fail("CRC32C of 123456789")
    for name, trailer in TRAILERS.items():
        data = vector(name)
        check, packet = wire.Checker(), wire.Packet()
        packet.src, packet.dst = (B, A) if name in TO_A else (A, B)
        packet.udp = struct.pack(">HHHH", EV, wire.PORT, 12 + len(data), 0)
        if wire.strip_trailer(check, packet, data + bytes.fromhex(trailer)) != data:
            fail(f"{name}: something else than the trailer was taken off")
        if check.violations:
            fail(f"{name}: {check.violations}")
        wire.strip_trailer(check, packet, data[:-1] + bytes([data[-1] ^ 1]) + bytes.fromhex(trailer))
        if not check.violations:
            fail(f"{name}: a changed byte was not seen")


def with_trailers(frames):
    """The frames as they are with the setting on, IPv4."""
    for frame in frames:
        src, dst = frame[1][26:30], frame[1][30:34]
        longer = ipv4(src, dst, frame[1][15], struct.unpack(">H", frame[1][34:36])[0],
                      frame[1][UET:] + bytes(4))
        frame[1] = longer[:-4] + struct.pack("<I", wire.crc32c(longer[26:-4]))
    return frames


def test_crc_conversation():
    found, _, _ = decode(with_trailers(conversation()), "--crc")
    for text in found:
        fail(f"with trailers: {text}")
    if not any("CRC trailer" in text for text in decode(conversation(), "--crc")[0]):
        fail("missing trailers were not seen")
    if not decode(with_trailers(conversation()))[0]:
        fail("trailers that are not expected were not seen")


# --------------------------------------------------------------------------
# A conversation: A writes 2500 bytes, sends 5 (the last two packets lost once), reads
# 1500, reads 8, is refused once, clears, and closes; then a datagram.

A, B = bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2])
START, EV, JOB = 0xFFFFFFF0, 0xBEEF, 0
DATA = bytes(n * 7 & 255 for n in range(4096))


def ipv4(src, dst, tos, sport, uet):
    total = 28 + len(uet)
    head = struct.pack(">BBHHHBBH", 0x45, tos, total, 0, 0x4000, 64, 17, 0) + src + dst
    head = head[:10] + struct.pack(">H", wire.ones_sum(head) ^ 0xFFFF) + head[12:]
    return bytes(12) + b"\x08\0" + head + struct.pack(">HHHH", sport, wire.PORT, total - 20, 0) + uet


def ipv6(src, dst, tos, sport, uet):
    head = struct.pack(">IHBB", 6 << 28 | tos << 20, 8 + len(uet), 17, 64)
    return bytes(12) + b"\x86\xdd" + head + bytes(12) + src + bytes(12) + dst + \
        struct.pack(">HHHH", sport, wire.PORT, 8 + len(uet), 0) + uet


def seq(number):
    return START + number & 0xFFFFFFFF


class Builder:
    def __init__(self, ip=ipv4):
        self.ip = ip
        self.time = 0
        self.frames = []

    def send(self, src, tos, uet, sport=EV):
        self.time += 10000
        self.frames.append([self.time, self.ip(src, B if src == A else A, tos, sport, uet)])

    def request(self, psn, clear, ses, payload=b"", syn=False, retx=False, side=0, nh=3,
                last=None):
        flags = 0x08 | 4 * syn | 0x10 * retx
        if last is None:
            last = psn if syn else (0x21 if side else 0x142)
        head = struct.pack(">HhIHH", 3 << 11 | nh << 7 | flags, clear - psn, seq(psn),
                           0x142 if side else 0x21, last)
        self.send(B if side else A, 2, head + ses + payload)

    def ack(self, cack, psn, ses=b"", side=1, nh=4, req=0, retx=False, sack=None):
        kind = 7 if sack is None else 8
        head = struct.pack(">HhIHH", kind << 11 | nh << 7 | req << 1 | 0x10 * retx, psn - cack,
                           seq(cack), 0x142 if side else 0x21, 0x21 if side else 0x142)
        if sack is not None:
            head += struct.pack(">BBhQQ", 0, 8, sack[0] - cack, sack[1], 0)
        self.send(B if side else A, 0xB8, head + ses)

    def cp(self, ctl, psn=0, word=0, ar=False, absolute=True):
        self.send(A, 0xB8, struct.pack(">HHIHHI", 11 << 11 | ctl << 7 | 8 * ar, 0,
                                       seq(psn) if absolute else 0, 0x21, 0x142, word))


def standard(op, message, length, at=None, size=0, eom=True, key=0, offset=0, hd=None):
    flags = eom << 1 | (at is None) | (hd is not None) << 2
    middle = struct.pack(">Q", hd or 0) if at is None else struct.pack(">II", size, at)
    return struct.pack(">BBHIHHQIQ", op, flags, message, JOB, 0x12, 3, offset, 5, key) + \
        middle + struct.pack(">I", length)


def response(message, opcode=0, rc=1, modified=0):
    return struct.pack(">BBHII", opcode, rc, message, JOB, modified)


def with_data(message, at, data):
    return struct.pack(">BBHIHHII", 2, 1, 0, JOB, message, len(data), len(data), at) + data


def conversation(ip=ipv4):
    b = Builder(ip)
    write = dict(op=1, message=1, length=2500, key=0x77, offset=0x1000)
    b.request(0, -1, standard(**write, eom=False), DATA[:1024], syn=True)                       # 0
    b.request(1, -1, standard(**write, at=1024, size=1024, eom=False), DATA[1024:2048], syn=True)
    b.ack(0, 0, response(1))                                                                    # 2
    b.request(2, 0, standard(**write, at=2048, size=452), DATA[2048:2500])                      # 3
    b.request(3, 0, standard(5, 2, 5), DATA[:5])
    b.ack(1, 3, response(2), sack=(2, 2))                                                       # 5
    b.request(2, 1, standard(**write, at=2048, size=452), DATA[2048:2500], retx=True)           # 6
    b.ack(3, 2, response(1), retx=True)                                                         # 7
    b.request(4, 3, standard(2, 3, 1500, eom=False, key=0x78))                                  # 8
    b.request(5, 3, standard(2, 3, 1500, at=1024, size=476, key=0x78))                          # 9
    b.ack(5, 5, response(3))                                                                    # 10
    b.request(0, -1, with_data(3, 0, DATA[:1024]), side=1, nh=5)                                # 11
    b.request(1, -1, with_data(3, 1024, DATA[1024:1500]), side=1, nh=5)                         # 12
    b.ack(1, 1, response(0), side=0)                                                            # 13
    b.request(6, 5, standard(2, 4, 8, key=0x78))                                                # 14
    b.ack(6, 6, with_data(4, 0, DATA[:8]), nh=5)                                                # 15
    b.request(7, 6, standard(1, 5, 3, key=0x99), DATA[:3])                                      # 16
    b.ack(6, 7, response(5, 1, 0x1C), req=1)                                                    # 17
    b.cp(wire.CLEAR, word=seq(7), absolute=False)                                               # 18
    b.cp(wire.CLOSE, psn=8, ar=True)                                                            # 19
    b.ack(8, 8, nh=0)                                                                           # 20
    b.send(A, 2, struct.pack(">HH", 6 << 11 | 3 << 7, 0) + standard(7, 0, 2) + b"xy")           # 21
    return b.frames


UET = 42        # offset of the PDS header in an IPv4 frame
SES_AT = UET + 12


def edit(number, place, data):
    def change(frames):
        frame = bytearray(frames[number][1])
        frame[place:place + len(data)] = data
        frames[number][1] = bytes(frame)
    return change


def drop(number):
    return lambda frames: frames.pop(number)


def late(number):
    """Everything from this frame on comes ten seconds later."""
    def change(frames):
        for frame in frames[number:]:
            frame[0] += 10 ** 10
    return change


def both(*changes):
    def change(frames):
        for one in changes:
            one(frames)
    return change


# what is spoilt, how, and a word of the violation
WRONG = [
    ("PSN left out", drop(3), "the one before"),
    ("RETX missing", edit(6, UET + 1, b"\x88"), "without RETX"),
    ("RETX on a first copy", edit(4, UET + 1, b"\x98"), "RETX on a packet sent for the first"),
    ("retransmission with other data", edit(6, SES_AT + 44, b"\xff"), "differs"),
    ("retransmission of another length", edit(6, SES_AT + 40, struct.pack(">I", 2501)), "differs"),
    ("psn_offset wrong", edit(1, UET + 10, struct.pack(">H", 2)), "another Start_PSN"),
    ("SYN missing", edit(1, UET, struct.pack(">H", 3 << 11 | 3 << 7 | 8)), "unknown PDC"),
    ("SYN long after the answer",
     both(edit(3, UET, struct.pack(">H", 3 << 11 | 3 << 7 | 12)), edit(3, UET + 10, b"\0\2"),
          late(3)), "after the target answered"),
    ("CLEAR_PSN ahead of the ACKs", edit(3, UET + 2, struct.pack(">h", 0)), "not acknowledged yet"),
    ("CLEAR_PSN going back", edit(8, UET + 2, struct.pack(">h", -5)), "CLEAR_PSN went back"),
    ("CACK ahead of what was sent", edit(2, UET + 4, struct.pack(">I", seq(9))), "was the last sent"),
    ("CACK going back", edit(10, UET + 2, struct.pack(">hI", 5, seq(0))), "CACK_PSN went back"),
    ("SACK of what was not sent", edit(5, UET + 16, b"\x80"), "SACK of PSN"),
    ("RETX in the ACK of a first copy", edit(2, UET + 1, b"\x10"), "sent only once"),
    ("entropy not echoed", edit(2, UET - 8, b"\x12\x34"), "entropy"),
    ("response to another message", edit(2, SES_AT + 2, b"\0\x09"), "message id"),
    ("ACK without a response", lambda f: f.__setitem__(2, [
        f[2][0], ipv4(B, A, 0xB8, EV, f[2][1][UET:UET + 12][:1].replace(b"\x3a", b"\x38") +
                      f[2][1][UET + 1:UET + 12])]), "no SES response"),
    ("error without REQ_CLEAR", edit(17, UET + 1, b"\0"), "without REQ_CLEAR"),
    ("guaranteed response passed by CACK",
     edit(17, UET + 2, struct.pack(">hI", 0, seq(7))), "guaranteed response"),
    ("request_length changed", edit(3, SES_AT + 40, struct.pack(">I", 2501)), "length changed"),
    ("key changed", edit(1, SES_AT + 31, b"\x78"), "key changed"),
    ("relative, and no job", both(edit(4, SES_AT + 1, b"\x0b"), edit(4, SES_AT + 5, bytes(3))),
     "no job to which"),
    ("relative changed", edit(1, SES_AT + 1, b"\x08"), "rel changed"),
    ("job changed", edit(1, SES_AT + 7, b"\x01"), "job changed"),
    ("DC changed", edit(1, SES_AT + 1, b"\x20"), "dc changed"),
    ("message_offset wrong", edit(1, SES_AT + 36, struct.pack(">I", 1023)), "message_offset"),
    ("payload MTU changed", edit(9, SES_AT + 32, struct.pack(">II", 476, 2048)), "behind the end"),
    ("messages interleaved", lambda f: f.insert(1, [5, f[4][1][:UET] + struct.pack(
        ">HhIHH", 3 << 11 | 3 << 7 | 12, -2, seq(1), 0x21, 1) + f[4][1][UET + 12:]]), "before has ended"),
    ("message id used again", edit(4, SES_AT + 2, b"\0\1"), "still in use"),
    ("READ data not asked for", edit(12, SES_AT + 16, struct.pack(">I", 700)), "not asked for"),
    ("READ data missing", drop(12), "got no data"),
    ("short READ answered by a request", edit(14, SES_AT + 40, struct.pack(">I", 17)), "in an ACK"),
    ("return direction with another Start_PSN", edit(11, UET + 4, struct.pack(">I", 5)), "PSN"),
    ("mode changed", edit(4, UET, struct.pack(">H", 2 << 11 | 3 << 7 | 8)), "on a ROD PDC"),
    ("PSN of the close skipped", edit(19, UET + 4, struct.pack(">I", seq(9))), "the one before"),
    ("ACK never sent", drop(20), "never acknowledged"),
    ("UDP checksum", edit(0, UET - 2, b"\x12\x34"), "UDP checksum"),
    ("IP identification", edit(0, 18, b"\0\1"), "identification"),
    ("DF missing", edit(0, 20, b"\0\0"), "not DF"),
    ("not ECT", both(edit(0, 15, b"\0")), "not ECT"),
    ("TTL 0", edit(0, 22, b"\0"), "TTL"),
    ("UDP length", edit(0, UET - 4, b"\0\x08"), "UDP length"),
    ("datagram on a PDC", edit(4, SES_AT, b"\7"), "outside UUD"),
    ("SEND in UUD", edit(21, UET + 4, b"\5"), "in a UUD packet"),
    ("window exceeded", lambda f: f.__setitem__(1, [f[1][0], ipv4(A, B, 2, EV, struct.pack(
        ">HhIHH", 3 << 11 | 3 << 7 | 12, -1100, seq(1099), 0x21, 1099) + f[1][1][UET + 12:])]),
     "outside the window"),
]


def closed_twice(frames):
    """The ACK of the close command gets lost."""
    time, frame = frames[19]
    again = bytearray(frame)
    again[UET + 1] |= 0x10
    frames.insert(20, [time, bytes(again)])


def nack(frames, place, psn, code):
    """A NACK that does not name the target."""
    head = struct.pack(">HBBIHHI", 10 << 11, code, 0, psn, 0, 0x21, 0)
    frames.insert(place, [frames[place - 1][0], ipv4(B, A, 0xB8, EV, head)])


def cleared_late(frames):
    """A CLEAR comes after the close command, to a target that has forgotten the PDC."""
    nack(frames, 21, 0, wire.INV_DPDCID)


def late_ack(frames):
    """The first ACK was sent by a processor that then stood still."""
    frames.insert(11, [frames[10][0], frames[2][1]])


def withdrawn(message, rc=3, data=b""):
    """The ACK of READ data gets lost, and the QP that it was read for goes."""
    ses = bytearray(with_data(message, 0, data))
    ses[1] = rc
    builder = Builder()
    builder.request(0, -1, bytes(ses), side=1, nh=5, retx=True)

    def change(frames):
        frames.insert(13, [frames[12][0], builder.frames[0][1]])
    return change


def early_clear(frames):
    """A CLEAR overtakes a request that was made before it and waits for its turn."""
    head = struct.pack(">HHIHHI", 11 << 11 | wire.CLEAR << 7, 0, 0, 0x21, 0x142, seq(3))
    edit(8, UET + 2, struct.pack(">h", -3))(frames)
    frames.insert(8, [frames[7][0], ipv4(A, B, 0xB8, EV, head)])


# what may happen although it is seldom seen
ALLOWED = [
    ("close command sent again", closed_twice),
    ("CLEAR behind the close command", cleared_late),
    ("ACK late behind newer ones", late_ack),
    ("READ data sent again without the data", withdrawn(3)),
    ("READ data sent again without the data, twice", both(withdrawn(3), withdrawn(3))),
    ("CLEAR ahead of an older request", early_clear),
]
WRONG += [
    ("READ data of another message withdrawn", withdrawn(4), "differs"),
    ("READ data withdrawn without a reason", withdrawn(3, rc=1), "differs"),
    ("READ data withdrawn, and here after all", withdrawn(3, data=DATA[:8]), "differs"),
    ("READ data withdrawn for two reasons", both(withdrawn(3), withdrawn(3, rc=0x1C)), "differs"),
    ("NACK of no PSN before the close command", lambda f: nack(f, 19, 0, wire.INV_DPDCID),
     "never sent"),
    ("SYN after a packet without",
     both(edit(4, UET, struct.pack(">H", 3 << 11 | 3 << 7 | 12)), edit(4, UET + 10, b"\0\3")),
     "after one without"),
    ("close command sent again as NOOP",
     both(closed_twice, edit(20, UET, struct.pack(">H", 11 << 11 | 0x18))), "differs"),
]


def decode(frames, *arguments):
    options = wire.parse_options(list(arguments))
    check, talk, count = wire.decode_frames(
        [(time, frame, len(frame)) for time, frame in frames], options)
    return [text for _, text in check.violations], talk, count


def test_conversation():
    for ip in (ipv4, ipv6):
        found, talk, count = decode(conversation(ip))
        for text in found:
            fail(f"{ip.__name__}: {text}")
        if count["ROD"] != 11 or talk.retransmitted != 1 or not talk.all[0].closed:
            fail(f"{ip.__name__}: {count}, {talk.retransmitted} sent again")
    icmp = conversation()
    inner = icmp[0][1][14:14 + 28]
    icmp.append([10 ** 6, bytes(12) + b"\x08\0" + struct.pack(
        ">BBHHHBBH", 0x45, 0, 56, 0, 0, 64, 1, 0) + B + A + b"\3\3" + bytes(6) + inner])
    if not any("ICMP" in text for text in decode(icmp)[0]):
        fail("an ICMP error about UET was not seen")


def test_wrong():
    for what, change, word in WRONG:
        frames = conversation()
        change(frames)
        found = decode(frames)[0]
        if not any(word in text for text in found):
            fail(f"{what}: '{word}' is not among {found}")


def test_allowed():
    for what, change in ALLOWED:
        frames = conversation()
        change(frames)
        for text in decode(frames)[0]:
            fail(f"{what}: {text}")


def main():
    for test in (test_vectors, test_lengths, test_spoilt, test_trailers, test_conversation,
                 test_crc_conversation, test_wrong, test_allowed):
        before = len(failures)
        test()
        print(f"# {test.__name__}: {'FAILED' if len(failures) > before else 'ok'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
