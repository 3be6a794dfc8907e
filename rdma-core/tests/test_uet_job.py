# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""
Test module for uet direct verbs: jobs, security keys, job keys, memory regions
with chosen keys, and reliable-unconnected QPs.
"""
import ctypes
import errno
import mmap
import os
import socket
import time
import unittest

from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CqInitAttrEx, PollCqAttr
import pyverbs.enums as e
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPAttr, QPCap, QPInitAttrEx
from pyverbs.wr import RecvWR, SGE

from tests.base import PyverbsAPITestCase

try:
    import pyverbs.providers.uet.uet_enums as ue
    import pyverbs.providers.uet.uetdv as uet
except ImportError:
    uet = None

JOB = 0x5a5a00
TIMEOUT = 20
RIGHTS = 7      # USE, ADDR, EXPORT


class UetTestCase(PyverbsAPITestCase):
    def create_context(self):
        if uet is None:
            raise unittest.SkipTest('pyverbs has no uet provider')
        self.ctx = uet.UetContext(name=self.dev_name)
        try:
            caps = self.ctx.query_uet_device().device_caps
        except PyverbsRDMAError as ex:
            self.ctx.close()
            if ex.error_code == errno.EOPNOTSUPP:
                raise unittest.SkipTest('Not a uet device') from ex
            raise
        if not caps & ue.UETDV_DEVICE_CAP_JOB:
            self.ctx.close()
            raise unittest.SkipTest('The kernel has no jobs')

    def fails(self, code, func, *args, **kwargs):
        """Run what must fail with an errno value."""
        with self.assertRaises(PyverbsRDMAError) as caught:
            func(*args, **kwargs)
        self.assertEqual(errno.errorcode[caught.exception.error_code],
                         errno.errorcode[code])

    def new_job(self, number=0, **kwargs):
        kwargs.setdefault('sgid_index', self.gid_index)
        try:
            return uet.UetJob(self.ctx, uet.UetJobAttr(id=JOB + number,
                                                       **kwargs))
        except PyverbsRDMAError as ex:
            if ex.error_code == errno.EPERM:
                raise unittest.SkipTest('Needs CAP_NET_ADMIN') from ex
            raise

    def address(self, qpn):
        gid = self.ctx.query_gid(port_num=self.ib_port, index=self.gid_index)
        route = GlobalRoute(dgid=gid, sgid_index=self.gid_index)
        return AHAttr(gr=route, is_global=1, port_num=self.ib_port), qpn


def errno_in_child(func, uid=None, close=None):
    """
    What func fails with in a process of its own, with a context of its own,
    0 if it does not.
    """
    pid = os.fork()
    if not pid:
        code = 255
        try:
            if close is not None:
                close.close()
            if uid is not None:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            func()
            code = 0
        except PyverbsRDMAError as ex:
            code = ex.error_code
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class UetDeviceTest(UetTestCase):
    def test_uet_query_device(self):
        attr = self.ctx.query_uet_device()
        self.assertTrue(attr.comp_mask & ue.UETDV_DEVICE_ATTR_JOB)
        self.assertTrue(attr.device_caps & ue.UETDV_DEVICE_CAP_RU)
        for most in (attr.max_job_ids, attr.max_skeys, attr.max_job_keys,
                     attr.max_addr_entries, attr.max_sge):
            self.assertGreater(most, 0)

    def test_uet_query_semantics(self):
        s = self.ctx.query_qp_semantics(self.gid_index)
        self.assertIn(s.max_pdu, (1024, 2048, 4096, 8192))
        self.assertEqual(s.imm_data_size, 64)
        self.assertTrue(s.usage_flags & ue.UETDV_QP_USAGE_ATTACH_MR)
        self.fails(errno.EINVAL, self.ctx.query_qp_semantics, 250)
        self.fails(errno.EINVAL, self.ctx.query_qp_semantics, self.gid_index,
                   port=2)
        self.fails(errno.EOPNOTSUPP, self.ctx.query_qp_semantics,
                   self.gid_index, driver_qp_type=9)


class UetJobTest(UetTestCase):
    def test_uet_job(self):
        job = self.new_job(max_addr_entries=10, uid=1000, max_job_keys=3)
        attr = job.query()
        self.assertEqual((attr.id, attr.max_addr_entries, attr.uid,
                          attr.max_job_keys), (JOB, 10, 1000, 3))
        self.assertEqual((attr.sgid_index, attr.port_num, attr.flags,
                          attr.num_addr_entries, attr.skey_id),
                         (self.gid_index, 1, 0, 0, 0))
        self.assertEqual(attr.gid, uet.UETDV_OWNER_NONE)
        self.assertEqual(attr.rights, RIGHTS)
        self.fails(errno.EEXIST, self.new_job)
        job.close()
        self.new_job().close()

    def test_uet_job_errors(self):
        self.new_job().close()
        self.fails(errno.EINVAL, self.new_job, -JOB)
        self.fails(errno.EINVAL, self.new_job, (1 << 24) - JOB)
        self.fails(errno.EINVAL, self.new_job, sgid_index=250)
        most = self.ctx.query_uet_device().max_addr_entries
        self.fails(errno.EINVAL, self.new_job, max_addr_entries=most + 1)
        self.fails(errno.EINVAL, uet.UetJob, self.ctx, uet.UetJobAttr())
        attr = uet.UetJobAttr(id=JOB)
        attr.comp_mask |= 1 << 40
        self.fails(errno.EOPNOTSUPP, uet.UetJob, self.ctx, attr)
        self.fails(errno.ENOENT, uet.UetJob, self.ctx, id=JOB)

    def test_uet_job_owner(self):
        if os.geteuid():
            raise unittest.SkipTest('Needs root')
        job = self.new_job(uid=1000)
        name = self.dev_name

        def open_it():
            opened = uet.UetJob(uet.UetContext(name=name), id=JOB)
            assert opened.query().rights == RIGHTS

        def make_one():
            uet.UetJob(uet.UetContext(name=name), uet.UetJobAttr(id=JOB + 1))

        self.assertEqual(errno_in_child(open_it, 1000), 0)
        self.assertEqual(errno_in_child(open_it, 1001), errno.EPERM)
        self.assertEqual(errno_in_child(make_one, 1000), errno.EPERM)
        job.close()

    def test_uet_job_rights(self):
        job = self.new_job(max_addr_entries=4)
        pd = PD(self.ctx)
        fd = job.export(ue.UETDV_RIGHT_USE)
        self.assertFalse(os.get_inheritable(fd))
        user = uet.UetJob(self.ctx, fd=fd)
        self.assertEqual(user.id, JOB)
        self.assertEqual(user.query().rights, ue.UETDV_RIGHT_USE)
        self.fails(errno.EPERM, user.insert_addrs, [self.address(0x1000)])
        self.fails(errno.EPERM, user.remove_addrs, 0)
        self.fails(errno.EPERM, user.export, ue.UETDV_RIGHT_USE)
        uet.UetJKey(pd, user).close()
        os.close(fd)

        fd = job.export(ue.UETDV_RIGHT_EXPORT | ue.UETDV_RIGHT_ADDR)
        filler = uet.UetJob(self.ctx, fd=fd)
        filler.insert_addrs([self.address(0x1000)])
        self.fails(errno.EPERM, uet.UetJKey, pd, filler)
        self.fails(errno.EPERM, filler.export, ue.UETDV_RIGHT_USE)
        os.close(filler.export(ue.UETDV_RIGHT_ADDR))
        os.close(fd)

    def test_uet_job_import_errors(self):
        self.new_job().close()
        self.fails(errno.EBADF, uet.UetJob, self.ctx, fd=-1)
        self.fails(errno.EBADF, uet.UetJob, self.ctx, fd=1000)
        with open('/dev/null', 'rb') as null:
            self.fails(errno.EINVAL, uet.UetJob, self.ctx, fd=null.fileno())
        skey = uet.UetSKey(self.ctx, uet.UetSKeyAttr(), bytes([1]) * 32)
        fd = skey.export(ue.UETDV_RIGHT_USE)
        self.fails(errno.EINVAL, uet.UetJob, self.ctx, fd=fd)
        os.close(fd)

    def test_uet_job_handed_over(self):
        """
        A worker gets the job over a socket and goes on when the launcher has
        let go of it.
        """
        if os.geteuid():
            raise unittest.SkipTest('Needs root')
        job = self.new_job()
        ours, theirs = socket.socketpair()
        name = self.dev_name

        def work():
            _, fds, _, _ = socket.recv_fds(theirs, 1, 1)
            ctx = uet.UetContext(name=name)
            mine = uet.UetJob(ctx, fd=fds[0])
            os.close(fds[0])
            theirs.send(b'x')
            assert theirs.recv(1) == b'g'
            key = uet.UetJKey(PD(ctx), mine)
            assert key.value and mine.query().id == JOB
            key.close()
            mine.close()

        pid = os.fork()
        if not pid:
            code = 1
            try:
                ours.close()
                os.setgid(1000)
                os.setuid(1000)
                work()
                code = 0
            finally:
                os._exit(code)
        theirs.close()
        fd = job.export(ue.UETDV_RIGHT_USE)
        socket.send_fds(ours, [b'j'], [fd])
        self.assertEqual(ours.recv(1), b'x')
        os.close(fd)
        job.close()
        self.fails(errno.EEXIST, self.new_job)
        ours.send(b'g')
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.new_job().close()

    def test_uet_addr_table(self):
        size = 5000     # more than two calls of the kernel can take
        job = self.new_job(max_addr_entries=size)
        table = [self.address(0x1000 + i) for i in range(size)]
        job.insert_addrs(table)
        self.assertEqual(job.query().num_addr_entries, size)
        found = job.query_addrs(room=size + 1)
        self.assertEqual([(i, qpn) for i, _, qpn in found],
                         [(i, 0x1000 + i) for i in range(size)])
        job.remove_addrs(10, 3000)
        found = job.query_addrs(first=5, room=10)
        self.assertEqual([i for i, _, _ in found],
                         [5, 6, 7, 8, 9] + list(range(3010, 3015)))
        attr, qpn = job.query_addr(4999)
        self.assertEqual((qpn, attr.sgid_index), (0x1000 + 4999,
                                                  self.gid_index))
        self.assertEqual(attr.dgid, table[0][0].dgid)

        self.fails(errno.ENOENT, job.query_addr, 10)
        self.fails(errno.EINVAL, job.query_addr, size)
        self.fails(errno.ENOENT, job.remove_addrs, 9, 2)
        self.fails(errno.EINVAL, job.remove_addrs, size - 1, 2)
        self.fails(errno.EINVAL, job.insert_addrs, table[:2], size - 1)
        self.fails(errno.EINVAL, job.insert_addrs, [self.address(1 << 24)])
        job.query_addr(9)

    def test_uet_jkey(self):
        job = self.new_job(max_job_keys=2)
        pds = [PD(self.ctx) for _ in range(3)]
        key = uet.UetJKey(pds[0], job)
        self.assertNotEqual(key.value, 0)
        self.fails(errno.EEXIST, uet.UetJKey, pds[0], job)
        other = uet.UetJKey(pds[1], job)
        self.assertNotEqual(key.value, other.value)
        self.fails(errno.ENOSPC, uet.UetJKey, pds[2], job)
        self.fails(errno.EBUSY, job.dealloc)
        key.close()
        uet.UetJKey(pds[2], job).close()
        other.close()
        job.dealloc()


class UetSKeyTest(UetTestCase):
    KEY = bytes(range(32))

    def new_skey(self, key=KEY, **kwargs):
        try:
            return uet.UetSKey(self.ctx, uet.UetSKeyAttr(**kwargs), key)
        except PyverbsRDMAError as ex:
            if ex.error_code == errno.EPERM:
                raise unittest.SkipTest('Needs CAP_NET_ADMIN') from ex
            raise

    def test_uet_skey(self):
        skey = self.new_skey(mode=ue.UETDV_SKEY_CLUSTER, sdi=5, ssi=6, an=1)
        attr = skey.query()
        self.assertEqual((attr.sdi, attr.ssi, attr.an, attr.an_valid,
                          attr.mode, attr.num_jobs, attr.id),
                         (5, 6, 1, 2, ue.UETDV_SKEY_CLUSTER, 0, skey.id))
        job = self.new_job(skey=skey)
        self.assertEqual(job.query().skey_id, skey.id)
        self.assertEqual(skey.query().num_jobs, 1)
        number = skey.id
        skey.close()    # the job keeps it
        self.assertEqual(job.query().skey_id, number)
        self.fails(errno.EEXIST, self.new_skey, id=number)

    def test_uet_skey_errors(self):
        self.new_skey().close()
        self.fails(errno.EKEYREJECTED, self.new_skey, self.KEY[:31])
        self.fails(errno.EKEYREJECTED, self.new_skey, bytes(32))
        self.fails(errno.EINVAL, self.new_skey, None)
        self.fails(errno.EINVAL, self.new_skey, sdi=1 << 24)
        self.fails(errno.EINVAL, self.new_skey, an=2)
        self.fails(errno.EOPNOTSUPP, self.new_skey, alg=99)
        self.fails(errno.EOPNOTSUPP, self.new_skey, mode=99)
        self.fails(errno.ENOENT, uet.UetSKey, self.ctx, id=0x7ffffff)

    def test_uet_rekey(self):
        skey = self.new_skey()
        new = bytes([7]) * 32
        self.fails(errno.ENOKEY, skey.rekey, ue.UETDV_REKEY_SWITCH)
        self.fails(errno.ENOKEY, skey.rekey, ue.UETDV_REKEY_RETIRE)
        self.fails(errno.EKEYREJECTED, skey.rekey, ue.UETDV_REKEY_INSTALL,
                   bytes(32))
        skey.rekey(ue.UETDV_REKEY_INSTALL, new)
        self.assertEqual(skey.query().an_valid, 3)
        self.fails(errno.EBUSY, skey.rekey, ue.UETDV_REKEY_INSTALL, new)
        skey.rekey(ue.UETDV_REKEY_SWITCH)
        self.assertEqual(skey.query().an, 1)
        skey.rekey(ue.UETDV_REKEY_RETIRE)
        self.assertEqual(skey.query().an_valid, 2)

        fd = skey.export(ue.UETDV_RIGHT_USE)
        user = uet.UetSKey(self.ctx, fd=fd)
        os.close(fd)
        self.fails(errno.EPERM, user.rekey, ue.UETDV_REKEY_INSTALL, new)
        self.fails(errno.EPERM, user.export, ue.UETDV_RIGHT_USE)


class Memory:
    """Pages that a region is made of."""
    def __init__(self, size):
        self.map = mmap.mmap(-1, size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))


class Endpoint:
    """A QP with its CQ, receive buffers and local memory."""
    SIZE = 4096

    def __init__(self, test, jkey, pd, src_id=None, **kwargs):
        self.test, self.pd = test, pd
        cia = CqInitAttrEx(cqe=64, wc_flags=e.IBV_WC_STANDARD_FLAGS)
        self.cq = uet.UetCQ(test.ctx, cia, ue.UETDV_WC_EX_WITH_IMM64 |
                            ue.UETDV_WC_EX_WITH_SRC_ID |
                            ue.UETDV_WC_EX_WITH_JOB_ID)
        cap = QPCap(max_send_wr=16, max_recv_wr=16)
        attr = QPInitAttrEx(cap=cap, qp_type=e.IBV_QPT_DRIVER, scq=self.cq,
                            rcq=self.cq, pd=pd,
                            send_ops_flags=e.IBV_QP_EX_WITH_SEND,
                            comp_mask=e.IBV_QP_INIT_ATTR_PD |
                            e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
        ops = (ue.UETDV_QP_EX_WITH_SEND_IMM64 |
               ue.UETDV_QP_EX_WITH_RDMA_READ64 |
               ue.UETDV_QP_EX_WITH_RDMA_WRITE64 |
               ue.UETDV_QP_EX_WITH_RDMA_WRITE64_IMM64 |
               ue.UETDV_QP_EX_WITH_ATOMIC64)
        kwargs.setdefault('addressing', ue.UETDV_ADDR_RELATIVE)
        self.qp = uet.UetQP(test.ctx, attr, uet.UetQPInitAttr(
            jkey=jkey, src_id=src_id, send_ops=ops, **kwargs))
        self.mr = MR(pd, self.SIZE, e.IBV_ACCESS_LOCAL_WRITE)

    def post_recv(self):
        self.qp.post_recv(RecvWR(sg=[SGE(self.mr.buf, self.SIZE,
                                         self.mr.lkey)], num_sge=1))

    def post(self, operation, where, length=0, flags=0):
        self.qp.wr_start()
        self.qp.wr_id = 1
        self.qp.wr_flags = e.IBV_SEND_SIGNALED | flags
        operation()
        where()
        if length:
            self.qp.wr_set_sge(SGE(self.mr.buf, length, self.mr.lkey))
        self.qp.wr_complete()

    def completion(self):
        """The next one, as a dictionary."""
        end = time.monotonic() + TIMEOUT
        while self.cq.start_poll(PollCqAttr()):
            self.test.assertLess(time.monotonic(), end, 'no completion')
        wc = {'status': self.cq.status}
        if not wc['status']:
            wc.update(opcode=self.cq.read_opcode(),
                      len=self.cq.read_byte_len(), qpn=self.cq.read_qp_num(),
                      imm=self.cq.read_imm64(), src=self.cq.read_src_id(),
                      job=self.cq.read_job_id())
        self.cq.end_poll()
        return wc

    def run(self, *args, status=e.IBV_WC_SUCCESS, **kwargs):
        self.post(*args, **kwargs)
        self.test.assertEqual(self.completion()['status'], status)

    def to_rts(self):
        """After an error that stopped the send queue."""
        self.qp.modify(QPAttr(qp_state=e.IBV_QPS_RTS), e.IBV_QP_STATE)


class UetMRTest(UetTestCase):
    ALL = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE |
           e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC)

    def setUp(self):
        super().setUp()
        self.job, self.other = self.new_job(), self.new_job(1)
        self.pd = PD(self.ctx)
        self.jkey = uet.UetJKey(self.pd, self.job)
        self.okey = uet.UetJKey(self.pd, self.other)
        self.memory = Memory(8192)

    def reg(self, pd=None, address=None, length=8192, access=ALL, **kwargs):
        if address is None:
            address = self.memory.address
        return uet.UetMR(pd or self.pd, address, length, access, **kwargs)

    def test_uet_chosen_key(self):
        mr = self.reg(rkey=0x123456789abc)
        self.assertEqual(mr.rkey64, 0x123456789abc)
        self.fails(errno.EEXIST, self.reg, rkey=0x123456789abc)
        self.fails(errno.EEXIST, self.reg, rkey=0x123456789abc,
                   jkey=self.jkey)
        self.reg(pd=PD(self.ctx), rkey=0x123456789abc)
        mr.close()
        mr = self.reg(rkey=0x123456789abc, jkey=self.jkey)
        self.reg(rkey=0x123456789abc, jkey=self.okey)
        self.fails(errno.EEXIST, self.reg, rkey=0x123456789abc,
                   jkey=self.jkey)
        mr.close()

        idem = self.reg(rkey=5, flags=ue.UETDV_REG_MR_IDEMPOTENT_SAFE)
        self.assertEqual(idem.rkey64, 1 << 63 | 5)
        self.fails(errno.EINVAL, self.reg,
                   flags=ue.UETDV_REG_MR_IDEMPOTENT_SAFE)
        self.fails(errno.EINVAL, self.reg, rkey=1 << 48)
        self.fails(errno.EOPNOTSUPP, self.reg, flags=1 << 20)
        self.fails(errno.EINVAL, self.reg, pd=PD(self.ctx), jkey=self.jkey)
        self.assertEqual(self.reg().rkey64 >> 48, 1)

    def test_uet_derived(self):
        parent = self.reg(access=e.IBV_ACCESS_LOCAL_WRITE |
                          e.IBV_ACCESS_REMOTE_WRITE)
        start = self.memory.address
        part = self.reg(address=start + 4096, length=4096, parent=parent,
                        rkey=9, access=e.IBV_ACCESS_REMOTE_READ)
        self.fails(errno.EINVAL, self.reg, address=start + 4096,
                   length=4097, parent=parent)
        self.fails(errno.EINVAL, self.reg, address=start - 1, length=1,
                   parent=parent)
        self.fails(errno.EINVAL, self.reg, pd=PD(self.ctx), parent=parent)
        self.fails(errno.EBUSY, parent.close)
        part.close()
        parent.close()

        parent = self.reg(access=0)
        self.fails(errno.EACCES, self.reg, parent=parent)
        parent.close()

    def test_uet_attach(self):
        a = Endpoint(self, self.jkey, self.pd)
        b = Endpoint(self, self.jkey, self.pd)
        flags = ue.UETDV_REG_MR_QP_RESTRICTED
        mr = self.reg(rkey=1, flags=flags)
        twin = self.reg(rkey=1, flags=flags)
        a.qp.attach_mr(mr)
        self.fails(errno.EBUSY, b.qp.attach_mr, mr)
        self.fails(errno.EEXIST, a.qp.attach_mr, twin)
        b.qp.attach_mr(twin)
        self.fails(errno.EINVAL, a.qp.detach_mr, twin)
        a.qp.detach_mr(mr)
        self.fails(errno.EINVAL, a.qp.attach_mr, self.reg())
        b.qp.close()
        a.qp.attach_mr(twin)    # the QP took its attachments with it


class UetQPTest(UetTestCase):
    def setUp(self):
        super().setUp()
        self.job = self.new_job()
        self.pd = PD(self.ctx)
        self.jkey = uet.UetJKey(self.pd, self.job)

    def test_uet_numbers(self):
        qp = Endpoint(self, self.jkey, self.pd, pid_on_fep=12, ri=3,
                      src_id=99).qp
        self.assertEqual((qp.qp_num, qp.wire_qpn), (0x300c, 0x300c))
        self.assertEqual(qp.qp_state, e.IBV_QPS_RTS)
        attr = qp.query_uet()
        self.assertEqual((attr.addressing, attr.pid_on_fep, attr.ri,
                          attr.src_id),
                         (ue.UETDV_ADDR_RELATIVE, 12, 3, 99))
        self.assertEqual(attr.semantics.imm_data_size, 64)
        self.fails(errno.EBUSY, Endpoint, self, self.jkey, self.pd,
                   pid_on_fep=12, ri=3)
        self.fails(errno.EINVAL, Endpoint, self, self.jkey, self.pd, ri=0)
        self.fails(errno.EINVAL, Endpoint, self, None, self.pd)
        self.fails(errno.EINVAL, Endpoint, self, self.jkey, PD(self.ctx))
        self.fails(errno.EBUSY, self.jkey.destroy)

        qp = Endpoint(self, self.jkey, self.pd,
                      addressing=ue.UETDV_ADDR_ABSOLUTE).qp
        self.assertEqual(qp.qp_num, qp.wire_qpn)
        self.assertEqual(qp.query_uet().src_id, qp.qp_num)

    def test_uet_wanted_semantics(self):
        ok = uet.UetQPSemantics(imm_data_size=64,
                                usage_flags=ue.UETDV_QP_USAGE_ATTACH_MR)
        Endpoint(self, self.jkey, self.pd, semantics=ok)
        for bad in (uet.UetQPSemantics(msg_order=ue.UETDV_ORDER_WAW),
                    uet.UetQPSemantics(max_pdu=16384),
                    uet.UetQPSemantics(imm_data_size=16),
                    uet.UetQPSemantics(usage_flags=1 << 20)):
            self.fails(errno.EOPNOTSUPP, Endpoint, self, self.jkey, self.pd,
                       semantics=bad)

    def test_uet_absolute_pair_as_user(self):
        if os.geteuid():
            raise unittest.SkipTest('Needs root')
        fd = self.job.export(ue.UETDV_RIGHT_USE)
        name = self.dev_name

        def make(**kwargs):
            self.ctx = uet.UetContext(name=name)
            pd = PD(self.ctx)
            jkey = uet.UetJKey(pd, uet.UetJob(self.ctx, fd=fd))
            Endpoint(self, jkey, pd, pid_on_fep=77, ri=5, **kwargs)

        self.assertEqual(errno_in_child(make, 1000), 0)
        absolute = ue.UETDV_ADDR_ABSOLUTE
        self.assertEqual(errno_in_child(lambda: make(addressing=absolute),
                                        1000), errno.EPERM)
        self.assertEqual(errno_in_child(lambda: make(addressing=absolute)), 0)
        os.close(fd)


class UetTrafficTest(UetTestCase):
    RANKS = 2
    KEY = 0xabcdef

    def setUp(self):
        super().setUp()
        self.job = self.new_job(max_addr_entries=8)
        self.pd = PD(self.ctx)
        self.jkey = uet.UetJKey(self.pd, self.job)
        self.ends = [Endpoint(self, self.jkey, self.pd, src_id=100 + r,
                              pid_on_fep=r, ri=1)
                     for r in range(self.RANKS)]
        self.job.insert_addrs([self.address(end.qp.wire_qpn)
                               for end in self.ends])
        self.memory = Memory(8192)
        self.window = uet.UetMR(self.pd, self.memory.address, 8192,
                                UetMRTest.ALL, jkey=self.jkey, rkey=self.KEY)

    def test_uet_send(self):
        a, b = self.ends
        for where in (lambda: a.qp.wr_set_job_addr(1),
                      lambda: a.qp.wr_set_job_addr(1, self.jkey.value)):
            b.post_recv()
            a.mr.write('hello', 5)
            a.run(lambda: a.qp.wr_send_imm64(0x1122334455667788), where, 5)
            self.assertEqual(b.completion(),
                             {'status': 0, 'opcode': e.IBV_WC_RECV, 'len': 5,
                              'qpn': b.qp.qp_num, 'imm': 0x1122334455667788,
                              'src': 100, 'job': JOB})
            self.assertEqual(b.mr.read(5, 0), b'hello')

    def test_uet_send_to_ah(self):
        a, b = self.ends
        attr, qpn = self.address(a.qp.wire_qpn)
        ah = AH(self.pd, attr=attr)
        a.post_recv()
        b.run(lambda: b.qp.wr_send_imm64(5),
              lambda: b.qp.wr_set_ru_addr(ah, qpn))
        wc = a.completion()
        self.assertEqual((wc['src'], wc['job'], wc['imm']), (101, JOB, 5))

    def test_uet_rma(self):
        a, b = self.ends
        base = self.memory.address

        def to_b():
            a.qp.wr_set_job_addr(1)

        a.mr.write('written', 7)
        a.run(lambda: a.qp.wr_rdma_write64(self.KEY, base + 64), to_b, 7,
              ue.UETDV_SEND_DELIVERY_COMPLETE)
        self.assertEqual(self.memory.map[64:71], b'written')
        self.memory.map[128:132] = b'read'
        a.run(lambda: a.qp.wr_rdma_read64(self.KEY, base + 128), to_b, 4)
        self.assertEqual(a.mr.read(4, 0), b'read')

        self.memory.map[0:8] = (40).to_bytes(8, 'little')
        a.run(lambda: a.qp.wr_atomic_fetch_add64(self.KEY, base, 2), to_b, 8)
        self.assertEqual(a.mr.read(8, 0), (40).to_bytes(8, 'little'))
        a.run(lambda: a.qp.wr_atomic_cmp_swp64(self.KEY, base, 42, 7), to_b, 8)
        self.assertEqual(a.mr.read(8, 0), (42).to_bytes(8, 'little'))
        self.assertEqual(self.memory.map[0:8], (7).to_bytes(8, 'little'))

        b.post_recv()
        a.mr.write('told', 4)
        a.run(lambda: a.qp.wr_rdma_write64_imm64(self.KEY, base + 256,
                                                 1 << 63 | 1), to_b, 4)
        wc = b.completion()
        self.assertEqual((wc['opcode'], wc['imm'], wc['len']),
                         (e.IBV_WC_RECV_RDMA_WITH_IMM, 1 << 63 | 1, 4))
        self.assertEqual(self.memory.map[256:260], b'told')

    def test_uet_refusals(self):
        a = self.ends[0]
        base = self.memory.address

        def write(key, where=lambda: a.qp.wr_set_job_addr(1), address=base,
                  **kwargs):
            a.run(lambda: a.qp.wr_rdma_write64(key, address), where, 8,
                  **kwargs)

        before = bytes(self.memory.map)
        a.mr.write('x' * 8, 8)
        access = e.IBV_WC_REM_ACCESS_ERR
        write(self.KEY + 1, status=access)
        write(self.KEY, address=base + 8192 - 7, status=access)
        readable = uet.UetMR(self.pd, base, 8192, e.IBV_ACCESS_REMOTE_READ,
                             rkey=self.KEY + 2)
        write(readable.rkey64, status=access)
        other = uet.UetJKey(self.pd, self.new_job(1))
        theirs = uet.UetMR(self.pd, base, 8192, UetMRTest.ALL, jkey=other,
                           rkey=self.KEY + 3)
        write(theirs.rkey64, status=access)

        # nobody has this number in the job
        self.job.insert_addrs([self.address(0x9009)], first=5)
        write(self.KEY, lambda: a.qp.wr_set_job_addr(5),
              status=e.IBV_WC_REM_INV_REQ_ERR)

        # wrong in itself: the send queue stops
        write(self.KEY, lambda: a.qp.wr_set_job_addr(6),
              status=e.IBV_WC_LOC_QP_OP_ERR)
        a.to_rts()
        write(self.KEY, lambda: a.qp.wr_set_job_addr(8),
              status=e.IBV_WC_LOC_QP_OP_ERR)
        a.to_rts()
        write(self.KEY, lambda: a.qp.wr_set_job_addr(1, 0x7fffffff),
              status=e.IBV_WC_LOC_ACCESS_ERR)
        a.to_rts()
        write(self.KEY, lambda: a.qp.wr_set_job_addr(1, other.value),
              status=e.IBV_WC_LOC_ACCESS_ERR)
        a.to_rts()
        self.assertEqual(bytes(self.memory.map), before)
        write(self.KEY)
        self.assertEqual(self.memory.map[:8], b'x' * 8)

    def test_uet_two_jobs(self):
        """Endpoints of two jobs with the same numbers never meet."""
        twin_job = self.new_job(1, max_addr_entries=8)
        twin_key = uet.UetJKey(self.pd, twin_job)
        twins = [Endpoint(self, twin_key, self.pd, src_id=200 + r,
                          pid_on_fep=r, ri=1) for r in range(self.RANKS)]
        # Closed with the context, in its order
        self.twins = twin_job, twin_key, twins
        twin_job.insert_addrs([self.address(end.qp.wire_qpn)
                               for end in twins])
        for ends, first, job in ((self.ends, 100, JOB), (twins, 200, JOB + 1)):
            self.assertEqual(ends[1].qp.qp_num, self.ends[1].qp.qp_num)
            ends[1].post_recv()
            ends[0].run(lambda end=ends[0]: end.qp.wr_send_imm64(first),
                        lambda end=ends[0]: end.qp.wr_set_job_addr(1))
            wc = ends[1].completion()
            self.assertEqual((wc['src'], wc['job'], wc['imm']),
                             (first, job, first))

    def test_uet_restricted_to_qp(self):
        a, b = self.ends
        mr = uet.UetMR(self.pd, self.memory.address, 8192, UetMRTest.ALL,
                       rkey=1, flags=ue.UETDV_REG_MR_QP_RESTRICTED)

        def write(status):
            a.run(lambda: a.qp.wr_rdma_write64(1, self.memory.address),
                  lambda: a.qp.wr_set_job_addr(1), 8, status=status)

        write(e.IBV_WC_REM_ACCESS_ERR)
        a.qp.attach_mr(mr)
        write(e.IBV_WC_REM_ACCESS_ERR)
        a.qp.detach_mr(mr)
        b.qp.attach_mr(mr)
        write(e.IBV_WC_SUCCESS)
        b.qp.detach_mr(mr)
        write(e.IBV_WC_REM_ACCESS_ERR)
