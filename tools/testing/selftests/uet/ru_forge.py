#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Send a UET request, a WRITE of 8 bytes or READs, or a NACK, that is not the driver's.

Exit code 3 if the kernel did not let it out.
"""

import argparse
import random
import socket
import struct
import sys

PORT = 4793
RUD, ROD, NACK, STANDARD = 2, 3, 10, 3
WRITE, READ = 1, 2
READ_LENGTH = 1000
RAW_FRAGMENT = 24       # bytes of IP payload in the first of two fragments


def number(text):
    return int(text, 0)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--source", required=True)
    parser.add_argument("-d", "--destination", required=True)
    parser.add_argument("--relative", action="store_true")
    parser.add_argument("--job", type=number, default=0)
    parser.add_argument("--pair", type=number, default=0)
    parser.add_argument("--key", type=number, default=0)
    parser.add_argument("--at", type=number, default=0, help="buffer offset")
    parser.add_argument("--initiator", type=number, default=1)
    parser.add_argument("--rod", action="store_true", help="ordered")
    parser.add_argument("--dpdcid", type=number, default=0, help="0: open a PDC")
    parser.add_argument("--spdcid", type=number, default=random.randrange(1, 0x10000))
    parser.add_argument("--psn", type=number, default=random.getrandbits(32))
    parser.add_argument("--reads", type=number, default=0, help="so many instead of the WRITE")
    parser.add_argument("--nack", type=number, help="a NACK with that code instead")
    parser.add_argument("--how", default="udp",
                        choices=("udp", "raw", "fragments", "extension"))
    return parser.parse_args()


def nack(opt):
    return struct.pack(">HBBIHHI", NACK << 11, opt.nack, 0, opt.psn, opt.spdcid, opt.dpdcid, 0)


def request(opt, number=0):
    flags = 0x08 if opt.dpdcid else 0x0C        # AR, SYN
    psn = (opt.psn + number) & 0xFFFFFFFF
    kind = ROD if opt.rod else RUD
    pds = struct.pack(">HhIHH", kind << 11 | STANDARD << 7 | flags, 0, psn, opt.spdcid,
                      opt.dpdcid)
    opcode, length, data = (READ, READ_LENGTH, b"") if opt.reads else (WRITE, 8, b"\xee" * 8)
    # SOM EOM, and REL
    ses = struct.pack(">BBHB", opcode, 0x0B if opt.relative else 0x03, 1 + number % 0xFFFF, 0)
    ses += opt.job.to_bytes(3, "big")
    ses += struct.pack(">HHQIQQI", opt.pair & 0xFFF, opt.pair >> 12, opt.at, opt.initiator,
                       opt.key, 0, length)
    return pds + ses + data


def udp_header(data):
    return struct.pack(">HHHH", 0x8001, PORT, 8 + len(data), 0)


def send_udp(opt, *packets):
    family = socket.AF_INET6 if ":" in opt.destination else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.bind((opt.source, 0))
        for data in packets:
            sock.sendto(data, (opt.destination, PORT))


def send_raw(opt, data, fragments=False):
    """The IP header is ours, too."""
    udp = udp_header(data) + data
    parts = [(0, udp)]
    if fragments:
        parts = [(0x2000, udp[:RAW_FRAGMENT]), (RAW_FRAGMENT // 8, udp[RAW_FRAGMENT:])]
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as sock:
        for where, part in parts:
            head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(part), 0x4711, where, 64, 17,
                               0, socket.inet_aton(opt.source),
                               socket.inet_aton(opt.destination))
            sock.sendto(head + part, (opt.destination, 0))


def send_extension(opt, data):
    """UDP behind destination options, IPv6."""
    head = bytes([socket.IPPROTO_UDP, 0, 1, 4, 0, 0, 0, 0])
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_DSTOPTS) as sock:
        sock.bind((opt.source, 0))
        sock.sendto(head + udp_header(data) + data, (opt.destination, 0))


def main():
    opt = options()
    data = request(opt) if opt.nack is None else nack(opt)
    try:
        if opt.how == "udp":
            send_udp(opt, data, *(request(opt, i) for i in range(1, opt.reads)))
        elif opt.how == "extension":
            send_extension(opt, data)
        else:
            send_raw(opt, data, opt.how == "fragments")
    except PermissionError:
        sys.exit(3)


main()
