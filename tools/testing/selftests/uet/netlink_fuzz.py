#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""netlink_fuzz.py DEVICE SEED COUNT: requests with random attributes.

Each request is for an operation of the family "uet" (or for none), made of what
it takes, of what it does not take, and of bytes that are no attribute at all.
The kernel must answer each with an error that the operation may give; what it
does with those that are all right is up to it.
"""
import errno
import random
import socket
import struct
import sys

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
NESTED = 0x8000

# attribute kinds: a name, an address, a key, a flag, a nest, one of a few ids, an
# entry of a small table, its size, the step of a rekey that takes a key, or bytes of
# any number
NAME, ADDR, KEY, FLAG, PEER = 'name', 'addr', 'key', 'flag', 'peer'
ID, INDEX, ROOM, INSTALL = 'id', 'index', 'room', 'install'
NEEDED = {ID, ADDR, KEY, PEER, INDEX, ROOM, INSTALL}

DEV = {1: 4, 2: NAME}
ONE = {**DEV, 3: ID}
JOB_NEW = {**ONE, 4: 4, 5: 4, 6: 4, 7: ID, 8: ROOM, 10: 4}
SKEY_NEW = {**ONE, 4: 4, 5: 4, 6: KEY, 7: 4, 8: 4, 9: 1, 11: 4, 12: 4}
PEERS = {**ONE, 4: PEER}
PEER_ATTRS = {1: INDEX, 2: ADDR, 3: ID, 4: 4, 5: 1, 6: 1}

# command: flags, attributes
OPS = [
    (1, NLM_F_ACK, DEV), (1, NLM_F_DUMP, {}),
    (2, NLM_F_ACK, {**DEV, 4: 4, 5: 1, 6: 1, 7: 4, 8: 4, 11: 1, 14: 1}),
    (3, NLM_F_DUMP, DEV),
    (7, NLM_F_ACK, JOB_NEW), (7, NLM_F_ACK, {**ONE, 8: ROOM}),
    (8, NLM_F_ACK, {**ONE, 15: FLAG}),
    (9, NLM_F_ACK, ONE), (9, NLM_F_DUMP, DEV),
    (13, NLM_F_ACK, PEERS), (13, NLM_F_ACK, PEERS), (13, NLM_F_ACK, PEERS),
    (14, NLM_F_ACK, {**ONE, 5: INDEX, 6: INDEX}),
    (15, NLM_F_DUMP, ONE),
    (16, NLM_F_DUMP, ONE),
    (17, NLM_F_ACK, SKEY_NEW), (17, NLM_F_ACK, {**ONE, 6: KEY}),
    (18, NLM_F_ACK, ONE),
    (19, NLM_F_ACK, {**ONE, 15: 4}), (19, NLM_F_ACK, {**ONE, 6: KEY, 15: INSTALL}),
    (20, NLM_F_ACK, ONE), (20, NLM_F_DUMP, DEV),
]

# EIO: the job or key was deleted by another one while the request was under way
EXPECTED = {'0', 'EINVAL', 'ERANGE', 'ENODEV', 'ENOTSUP', 'EOPNOTSUPP', 'ENOENT',
            'EEXIST', 'EBUSY', 'ENOKEY', 'EKEYREJECTED', 'ENOSPC', 'EIO'}


def attr(kind, data):
    return struct.pack('HH', len(data) + 4, kind) + data + b'\0' * (-len(data) % 4)


class Family:
    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.settimeout(60)
        self.number = 16
        answer, err = self.talk(NLM_F_ACK, 3, attr(2, b'uet\0'))
        assert err == 0, 'no family'
        pos = 20
        while pos < len(answer):
            size, kind = struct.unpack_from('HH', answer, pos)
            if kind == 1:
                self.number = struct.unpack_from('H', answer, pos + 4)[0]
                return
            pos += (size + 3) & ~3

    def talk(self, flags, cmd, attrs):
        head = struct.pack('IHHII', 20 + len(attrs), self.number,
                           NLM_F_REQUEST | flags, 1, 0)
        self.sock.send(head + struct.pack('BBH', cmd, 1, 0) + attrs)
        first = None
        while True:
            data = self.sock.recv(1 << 20)
            first = first or data
            pos = 0
            while pos + 16 <= len(data):
                size, kind = struct.unpack_from('IH', data, pos)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    return first, struct.unpack_from('i', data, pos + 16)[0]
                pos += (size + 3) & ~3


class Fuzz:
    def __init__(self, dev, seed):
        self.rnd = random.Random(seed)
        self.dev = dev.encode() + b'\0'

    def number(self, size):
        value = self.rnd.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 63, 64, 1024, 8192, 65535,
                                 65536, 0xffffff, 0x1000000, 0x7fffffff, 0xffffffff])
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, sys.byteorder)

    def good(self, kind):
        """A value that an attribute of this kind may have."""
        if kind == NAME:
            return self.dev
        if kind == ADDR:
            return self.rnd.choice([bytes([10, 0, 0, 2]), bytes([0xfd] + [0] * 14 + [2]),
                                    self.rnd.randbytes(16)])
        if kind == KEY:
            return self.rnd.choice([self.rnd.randbytes(32)] * 5 + [bytes(32)])
        if kind == FLAG:
            return b''
        if kind in (ID, INDEX, ROOM, INSTALL):
            few = {ID: range(1, 5), INDEX: range(8), ROOM: [64], INSTALL: [0]}[kind]
            return struct.pack('I', self.rnd.choice(few))
        if kind == PEER:
            return b''.join(attr(k, self.value(t)) for k, t in PEER_ATTRS.items()
                            if t in NEEDED or self.rnd.randrange(8) == 0)
        return self.number(kind)

    def bad(self):
        return self.rnd.choice([b'', b'\0', b'u1', b'x' * 300, self.number(4),
                                self.rnd.randbytes(self.rnd.randrange(40))])

    def value(self, kind):
        return self.bad() if self.rnd.randrange(25) == 0 else self.good(kind)

    def one(self, number, kind):
        flag = NESTED if kind == PEER and self.rnd.randrange(20) else 0
        return attr(number | flag, self.value(kind))

    def rubbish(self):
        kind = self.rnd.choice([self.rnd.randrange(18)] * 6 + [self.rnd.randrange(65536)])
        one = attr(kind, self.bad())
        if self.rnd.randrange(4) == 0:     # a length that lies
            one = struct.pack('H', self.rnd.randrange(65536)) + one[2:]
        return one

    def request(self):
        cmd, flags, takes = self.rnd.choice(OPS)
        if self.rnd.randrange(20) == 0:
            cmd = self.rnd.randrange(256)
        parts = []
        for number, kind in takes.items():
            if self.rnd.randrange(20) < (19 if kind in NEEDED or kind == NAME else 3):
                parts += [self.one(number, kind)
                          for _ in range(self.rnd.randrange(1, 4) if kind == PEER else 1)]
        if self.rnd.randrange(8) == 0:
            parts.append(self.rubbish())
        if self.rnd.randrange(8) == 0:
            self.rnd.shuffle(parts)
        return flags, cmd, b''.join(parts)


def main():
    dev, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    family, fuzz = Family(), Fuzz(dev, seed)
    codes, done = {}, {}
    for _ in range(count):
        flags, cmd, attrs = fuzz.request()
        err = family.talk(flags, cmd, attrs)[1]
        codes[err] = codes.get(err, 0) + 1
        if not err:
            done[cmd] = done.get(cmd, 0) + 1
    names = {errno.errorcode.get(-e, str(e)): n for e, n in sorted(codes.items())}
    print('answers:', names)
    print('done, by command:', dict(sorted(done.items())))
    if set(names) - EXPECTED:
        sys.exit(f'unexpected: {set(names) - EXPECTED}')
    missed = {cmd for cmd, _, _ in OPS} - set(done)
    if missed and count >= 2000:
        sys.exit(f'never got through: {missed}')


if __name__ == '__main__':
    main()
