# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""
Direct verbs of the uet provider: jobs, security keys, job keys, and the
reliable-unconnected QP. uetdv(7) has the concepts.
"""

import weakref

from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from pyverbs.addr cimport AH, AHAttr
from pyverbs.base import PyverbsRDMAErrno, PyverbsRDMAError
from pyverbs.base cimport close_weakrefs
from pyverbs.cq cimport CQEX, CqInitAttrEx
cimport pyverbs.libibverbs as v
from pyverbs.pd cimport PD
from pyverbs.pyverbs_error import PyverbsUserError
from pyverbs.qp cimport QPEx, QPInitAttrEx
cimport pyverbs.providers.uet.libuet as dv
cimport pyverbs.providers.uet.uet_enums as dve

cdef extern from 'endian.h':
    unsigned int htobe32(unsigned int host)
    uint64_t htobe64(uint64_t host)
    uint64_t be64toh(uint64_t network)

# Too large for an enum of C
UETDV_OWNER_NONE = 0xffffffff


cdef check(rc, what):
    if rc:
        raise PyverbsRDMAError(what, rc)


cdef class UetContext(Context):
    """
    An open uet device. Closing it closes its jobs and security keys too.
    """
    def __init__(self, name=''):
        self.jobs = weakref.WeakSet()
        self.skeys = weakref.WeakSet()
        super().__init__(name=name)

    def __dealloc__(self):
        self.close()

    cpdef close(self):
        if self.context != NULL:
            close_weakrefs([self.jobs, self.skeys])
            super(UetContext, self).close()

    def query_uet_device(self):
        """
        :return: A UetDVDeviceAttr. EOPNOTSUPP if this is no uet device.
        """
        attr = UetDVDeviceAttr()
        check(dv.uetdv_query_device(self.context, &attr.attr,
                                    sizeof(attr.attr)),
              f'Failed to query uet device {self.name}')
        return attr

    def query_qp_semantics(self, gid_index, port=1,
                           driver_qp_type=dve.UETDV_QP_DRIVER_TYPE_RU):
        """
        The most that a QP may ask for.
        """
        s = UetQPSemantics()
        check(dv.uetdv_query_qp_semantics(self.context, driver_qp_type, port,
                                          gid_index, &s.semantics,
                                          sizeof(s.semantics)),
              'Failed to query QP semantics')
        return s


cdef class UetDVDeviceAttr(PyverbsObject):
    """
    Represents struct uetdv_device_attr.
    """
    @property
    def comp_mask(self):
        return self.attr.comp_mask

    @property
    def device_caps(self):
        return self.attr.device_caps

    @property
    def max_inline(self):
        return self.attr.max_inline

    @property
    def max_sge(self):
        return self.attr.max_sge

    @property
    def max_job_ids(self):
        return self.attr.max_job_ids

    @property
    def max_skeys(self):
        return self.attr.max_skeys

    @property
    def max_job_keys(self):
        return self.attr.max_job_keys

    @property
    def max_addr_entries(self):
        return self.attr.max_addr_entries


cdef class UetQPSemantics(PyverbsObject):
    """
    Represents struct uetdv_qp_semantics.
    """
    def __init__(self, msg_order=0, max_pdu=0, imm_data_size=0, usage_flags=0):
        super().__init__()
        self.semantics.msg_order = msg_order
        self.semantics.max_pdu = max_pdu
        self.semantics.imm_data_size = imm_data_size
        self.semantics.usage_flags = usage_flags

    @property
    def msg_order(self):
        return self.semantics.msg_order

    @property
    def max_rdma_raw_size(self):
        return self.semantics.max_rdma_raw_size

    @property
    def max_rdma_war_size(self):
        return self.semantics.max_rdma_war_size

    @property
    def max_rdma_waw_size(self):
        return self.semantics.max_rdma_waw_size

    @property
    def max_pdu(self):
        return self.semantics.max_pdu

    @property
    def imm_data_size(self):
        return self.semantics.imm_data_size

    @property
    def usage_flags(self):
        return self.semantics.usage_flags


cdef class UetJobAttr(PyverbsObject):
    """
    Represents struct uetdv_job_attr. What is not given is not in comp_mask.
    """
    def __init__(self, id=None, max_addr_entries=None, sgid_index=None,
                 uid=None, gid=None, UetSKey skey=None, max_job_keys=None):
        super().__init__()
        self.attr.uid = UETDV_OWNER_NONE
        self.attr.gid = UETDV_OWNER_NONE
        if id is not None:
            self.attr.comp_mask |= dve.UETDV_JOB_ATTR_ID
            self.attr.id = id
        if max_addr_entries is not None:
            self.attr.comp_mask |= dve.UETDV_JOB_ATTR_MAX_ADDR_ENTRIES
            self.attr.max_addr_entries = max_addr_entries
        if sgid_index is not None:
            self.attr.comp_mask |= dve.UETDV_JOB_ATTR_SGID_INDEX
            self.attr.sgid_index = sgid_index
        if uid is not None or gid is not None:
            self.attr.comp_mask |= dve.UETDV_JOB_ATTR_OWNER
        if uid is not None:
            self.attr.uid = uid
        if gid is not None:
            self.attr.gid = gid
        if skey is not None:
            self.attr.comp_mask |= dve.UETDV_JOB_ATTR_SKEY
            self.attr.skey = skey.skey
            self._skey = skey
        if max_job_keys is not None:
            self.attr.comp_mask |= dve.UETDV_JOB_ATTR_MAX_JOB_KEYS
            self.attr.max_job_keys = max_job_keys

    @property
    def comp_mask(self):
        return self.attr.comp_mask
    @comp_mask.setter
    def comp_mask(self, val):
        self.attr.comp_mask = val

    @property
    def flags(self):
        return self.attr.flags
    @flags.setter
    def flags(self, val):
        self.attr.flags = val

    @property
    def id(self):
        return self.attr.id

    @property
    def max_addr_entries(self):
        return self.attr.max_addr_entries

    @property
    def port_num(self):
        return self.attr.port_num

    @property
    def sgid_index(self):
        return self.attr.sgid_index

    @property
    def uid(self):
        return self.attr.uid

    @property
    def gid(self):
        return self.attr.gid

    @property
    def max_job_keys(self):
        return self.attr.max_job_keys

    @property
    def rights(self):
        return self.attr.rights

    @property
    def num_addr_entries(self):
        return self.attr.num_addr_entries

    @property
    def skey_id(self):
        return self.attr.skey_id


cdef class UetJob(PyverbsCM):
    """
    A handle on a job: of a new one (attr), of one that this user owns (id), or
    of one that a file descriptor stands for (fd).
    """
    def __init__(self, UetContext ctx not None, UetJobAttr attr=None, id=None,
                 fd=None):
        super().__init__()
        self.jkeys = weakref.WeakSet()
        if fd is not None:
            check(dv.uetdv_import_job(ctx.context, fd, &self.job),
                  'Failed to import job')
        elif id is not None:
            self.job = dv.uetdv_open_job(ctx.context, id, NULL)
        elif attr is not None:
            self.job = dv.uetdv_alloc_job(ctx.context, &attr.attr, NULL)
        else:
            raise PyverbsUserError('One of attr, id and fd is needed')
        if self.job == NULL:
            raise PyverbsRDMAErrno('Failed to get job')
        self.context = ctx
        ctx.jobs.add(self)

    def __dealloc__(self):
        self.close()

    cpdef close(self):
        if self.job != NULL:
            close_weakrefs([self.jkeys])
            self.dealloc()

    cpdef dealloc(self):
        """
        Only the handle, which fails while there are job keys of it.
        """
        check(dv.uetdv_dealloc_job(self.job), 'Failed to dealloc job')
        self.job = NULL
        self.context = None

    @property
    def id(self):
        return self.job.id

    def query(self):
        attr = UetJobAttr()
        check(dv.uetdv_query_job(self.job, &attr.attr), 'Failed to query job')
        return attr

    def export(self, rights):
        """
        :param rights: UETDV_RIGHT_* that go with the file descriptor
        :return: a file descriptor, to be closed by the caller
        """
        cdef int fd
        check(dv.uetdv_export_job(self.job, rights, &fd),
              'Failed to export job')
        return fd

    def insert_addrs(self, addrs, first=0, flags=0):
        """
        Set entries of the address table.
        :param addrs: list of (AHAttr, wire QP number)
        """
        cdef uint32_t n = len(addrs)
        cdef dv.uetdv_ah_attr_ex *attr
        attr = <dv.uetdv_ah_attr_ex*>calloc(n + 1, sizeof(dv.uetdv_ah_attr_ex))
        if attr == NULL:
            raise MemoryError()
        for i, (ah_attr, qpn) in enumerate(addrs):
            attr[i].ah_attr = (<AHAttr>ah_attr).ah_attr
            attr[i].remote_qpn = qpn
        rc = dv.uetdv_insert_addrs(self.job, attr, first, n, flags)
        free(attr)
        check(rc, 'Failed to insert addresses')

    def remove_addrs(self, first, count=1, flags=0):
        check(dv.uetdv_remove_addrs(self.job, first, count, flags),
              'Failed to remove addresses')

    def query_addr(self, idx, flags=0):
        """
        :return: (AHAttr, wire QP number)
        """
        cdef dv.uetdv_ah_attr_ex attr
        check(dv.uetdv_query_addr(self.job, idx, &attr, flags),
              'Failed to query address')
        ah_attr = AHAttr()
        ah_attr.ah_attr = attr.ah_attr
        return ah_attr, attr.remote_qpn

    def query_addrs(self, first=0, room=64, flags=0):
        """
        :return: list of (index, AHAttr, wire QP number) of the entries in use
        """
        cdef uint32_t count = room
        cdef dv.uetdv_ah_attr_ex *attr
        cdef uint32_t *idx
        attr = <dv.uetdv_ah_attr_ex*>calloc(room + 1,
                                            sizeof(dv.uetdv_ah_attr_ex))
        idx = <uint32_t*>calloc(room + 1, sizeof(uint32_t))
        if attr == NULL or idx == NULL:
            free(attr)
            free(idx)
            raise MemoryError()
        result = []
        rc = dv.uetdv_query_addrs(self.job, first, attr, idx, &count, flags)
        if not rc:
            for i in range(count):
                ah_attr = AHAttr()
                ah_attr.ah_attr = attr[i].ah_attr
                result.append((idx[i], ah_attr, attr[i].remote_qpn))
        free(attr)
        free(idx)
        check(rc, 'Failed to query addresses')
        return result


cdef class UetSKeyAttr(PyverbsObject):
    """
    Represents struct uetdv_skey_attr.
    """
    def __init__(self, mode=dve.UETDV_SKEY_DIRECT, sdi=0, an=0, id=None,
                 ssi=None, uid=None, gid=None,
                 alg=dve.UETDV_SKEY_AES_256_GCM):
        super().__init__()
        self.attr.comp_mask = dve.UETDV_SKEY_ATTR_ALG
        self.attr.alg = alg
        self.attr.mode = mode
        self.attr.sdi = sdi
        self.attr.an = an
        self.attr.uid = UETDV_OWNER_NONE
        self.attr.gid = UETDV_OWNER_NONE
        if id is not None:
            self.attr.comp_mask |= dve.UETDV_SKEY_ATTR_ID
            self.attr.id = id
        if ssi is not None:
            self.attr.comp_mask |= dve.UETDV_SKEY_ATTR_SSI
            self.attr.ssi = ssi
        if uid is not None or gid is not None:
            self.attr.comp_mask |= dve.UETDV_SKEY_ATTR_OWNER
        if uid is not None:
            self.attr.uid = uid
        if gid is not None:
            self.attr.gid = gid

    @property
    def comp_mask(self):
        return self.attr.comp_mask

    @property
    def flags(self):
        return self.attr.flags

    @property
    def id(self):
        return self.attr.id

    @property
    def sdi(self):
        return self.attr.sdi

    @property
    def ssi(self):
        return self.attr.ssi

    @property
    def alg(self):
        return self.attr.alg

    @property
    def mode(self):
        return self.attr.mode

    @property
    def an(self):
        return self.attr.an

    @property
    def an_valid(self):
        return self.attr.an_valid

    @property
    def uid(self):
        return self.attr.uid

    @property
    def gid(self):
        return self.attr.gid

    @property
    def rights(self):
        return self.attr.rights

    @property
    def num_jobs(self):
        return self.attr.num_jobs


cdef class UetSKey(PyverbsCM):
    """
    A handle on a security key: of a new one (attr, key), of one that this user
    owns (id), or of one that a file descriptor stands for (fd).
    """
    def __init__(self, UetContext ctx not None, UetSKeyAttr attr=None,
                 bytes key=None, id=None, fd=None):
        cdef const char *material = NULL
        super().__init__()
        if fd is not None:
            check(dv.uetdv_import_skey(ctx.context, fd, &self.skey),
                  'Failed to import security key')
        elif id is not None:
            self.skey = dv.uetdv_open_skey(ctx.context, id)
        elif attr is not None:
            if key is not None:
                material = key
            self.skey = dv.uetdv_alloc_skey(ctx.context, &attr.attr, material,
                                            len(key) if key else 0)
        else:
            raise PyverbsUserError('One of attr, id and fd is needed')
        if self.skey == NULL:
            raise PyverbsRDMAErrno('Failed to get security key')
        self.context = ctx
        ctx.skeys.add(self)

    def __dealloc__(self):
        self.close()

    cpdef close(self):
        if self.skey != NULL:
            check(dv.uetdv_dealloc_skey(self.skey),
                  'Failed to dealloc security key')
            self.skey = NULL
            self.context = None

    @property
    def id(self):
        return self.skey.id

    def query(self):
        attr = UetSKeyAttr()
        check(dv.uetdv_query_skey(self.skey, &attr.attr),
              'Failed to query security key')
        return attr

    def export(self, rights):
        cdef int fd
        check(dv.uetdv_export_skey(self.skey, rights, &fd),
              'Failed to export security key')
        return fd

    def rekey(self, op, bytes key=None):
        cdef const char *material = NULL
        if key is not None:
            material = key
        check(dv.uetdv_rekey_skey(self.skey, op, material,
                                  len(key) if key else 0),
              'Failed to rekey')


cdef class UetJKey(PyverbsCM):
    """
    Lets a protection domain work in a job. Closing it closes the QPs and memory
    regions that were made with it.
    """
    def __init__(self, PD pd not None, UetJob job not None, flags=0):
        super().__init__()
        self.users = weakref.WeakSet()
        self.jkey = dv.uetdv_create_jkey(pd.pd, job.job, flags)
        if self.jkey == NULL:
            raise PyverbsRDMAErrno('Failed to create job key')
        self.pd = pd
        self.job = job
        job.jkeys.add(self)

    def __dealloc__(self):
        self.close()

    cpdef close(self):
        if self.jkey != NULL:
            close_weakrefs([self.users])
            self.destroy()

    cpdef destroy(self):
        """
        Only the key, which fails while it is used.
        """
        check(dv.uetdv_destroy_jkey(self.jkey), 'Failed to destroy job key')
        self.jkey = NULL
        self.pd = None
        self.job = None

    @property
    def value(self):
        return self.jkey.jkey


cdef class UetQPInitAttr(PyverbsObject):
    """
    Represents struct uetdv_qp_init_attr. What is not given is not in
    comp_mask.
    """
    def __init__(self, driver_qp_type=dve.UETDV_QP_DRIVER_TYPE_RU,
                 addressing=None, UetJKey jkey=None, pid_on_fep=None, ri=None,
                 src_id=None, send_ops=None, UetQPSemantics semantics=None):
        super().__init__()
        self.attr.driver_qp_type = driver_qp_type
        if addressing is not None:
            self.attr.comp_mask |= dve.UETDV_QP_INIT_ATTR_ADDRESSING
            self.attr.addressing = addressing
        if jkey is not None:
            self.attr.jkey = jkey.jkey
            self._jkey = jkey
        if pid_on_fep is not None:
            self.attr.comp_mask |= dve.UETDV_QP_INIT_ATTR_PID_ON_FEP
            self.attr.pid_on_fep = pid_on_fep
        if ri is not None:
            self.attr.comp_mask |= dve.UETDV_QP_INIT_ATTR_RI
            self.attr.ri = ri
        if src_id is not None:
            self.attr.comp_mask |= dve.UETDV_QP_INIT_ATTR_SRC_ID
            self.attr.src_id = src_id
        if send_ops is not None:
            self.attr.comp_mask |= dve.UETDV_QP_INIT_ATTR_SEND_OPS
            self.attr.send_ops = send_ops
        if semantics is not None:
            self.attr.comp_mask |= dve.UETDV_QP_INIT_ATTR_SEMANTICS
            self.attr.semantics = semantics.semantics

    @property
    def comp_mask(self):
        return self.attr.comp_mask

    @property
    def addressing(self):
        return self.attr.addressing

    @property
    def pid_on_fep(self):
        return self.attr.pid_on_fep

    @property
    def ri(self):
        return self.attr.ri

    @property
    def src_id(self):
        return self.attr.src_id

    @property
    def send_ops(self):
        return self.attr.send_ops

    @property
    def semantics(self):
        s = UetQPSemantics()
        s.semantics = self.attr.semantics
        return s


cdef class UetQP(QPEx):
    """
    A reliable-unconnected QP, ready to send.
    :param attr_ex: qp_type must be IBV_QPT_DRIVER
    """
    def __init__(self, UetContext ctx not None, QPInitAttrEx attr_ex not None,
                 UetQPInitAttr uet_attr not None):
        cdef PD pd
        cdef UetJKey jkey
        self.qp = dv.uetdv_create_qp(ctx.context, &attr_ex.attr,
                                     &uet_attr.attr, sizeof(uet_attr.attr))
        if self.qp == NULL:
            raise PyverbsRDMAErrno('Failed to create RU QP')
        self.context = ctx
        ctx.add_ref(self)
        if attr_ex.pd is not None:
            pd = <PD>attr_ex.pd
            pd.add_ref(self)
            self.pd = pd
        super().__init__(ctx, attr_ex)
        if uet_attr._jkey is not None:
            jkey = <UetJKey>uet_attr._jkey
            jkey.users.add(self)
            self._jkey = jkey
        if uet_attr.attr.comp_mask & dve.UETDV_QP_INIT_ATTR_SEND_OPS:
            self.qp_ex = v.ibv_qp_to_qp_ex(self.qp)
            self.dv_qp = dv.uetdv_qp_ex_from_ibv_qp_ex(self.qp_ex)
            if self.dv_qp == NULL:
                raise PyverbsRDMAErrno('Failed to get uetdv_qp_ex')

    @property
    def wire_qpn(self):
        cdef uint32_t qpn
        check(dv.uetdv_qp_wire_qpn(self.qp, &qpn), 'Failed to get wire QPN')
        return qpn

    def query_uet(self):
        attr = UetQPInitAttr()
        check(dv.uetdv_query_qp(self.qp, &attr.attr, sizeof(attr.attr)),
              'Failed to query RU QP')
        return attr

    def attach_mr(self, MR mr not None):
        check(dv.uetdv_attach_mr(self.qp, mr.mr), 'Failed to attach MR')

    def detach_mr(self, MR mr not None):
        check(dv.uetdv_detach_mr(self.qp, mr.mr), 'Failed to detach MR')

    def wr_set_ru_addr(self, AH ah not None, qpn, jkey=0):
        dv.uetdv_wr_set_ru_addr(self.dv_qp, ah.ah, qpn, jkey)

    def wr_set_job_addr(self, addr_idx, jkey=0):
        dv.uetdv_wr_set_job_addr(self.dv_qp, addr_idx, jkey)

    def wr_set_jkey(self, jkey):
        dv.uetdv_wr_set_jkey(self.dv_qp, jkey)

    def wr_send_imm64(self, imm_data):
        dv.uetdv_wr_send_imm64(self.dv_qp, htobe64(imm_data))

    def wr_rdma_read64(self, rkey, remote_addr):
        dv.uetdv_wr_rdma_read64(self.dv_qp, rkey, remote_addr)

    def wr_rdma_write64(self, rkey, remote_addr):
        dv.uetdv_wr_rdma_write64(self.dv_qp, rkey, remote_addr)

    def wr_rdma_write64_imm(self, rkey, remote_addr, imm_data):
        dv.uetdv_wr_rdma_write64_imm(self.dv_qp, rkey, remote_addr,
                                     htobe32(imm_data))

    def wr_rdma_write64_imm64(self, rkey, remote_addr, imm_data):
        dv.uetdv_wr_rdma_write64_imm64(self.dv_qp, rkey, remote_addr,
                                       htobe64(imm_data))

    def wr_atomic_cmp_swp64(self, rkey, remote_addr, compare, swap):
        dv.uetdv_wr_atomic_cmp_swp64(self.dv_qp, rkey, remote_addr, compare,
                                     swap)

    def wr_atomic_fetch_add64(self, rkey, remote_addr, add):
        dv.uetdv_wr_atomic_fetch_add64(self.dv_qp, rkey, remote_addr, add)


cdef class UetCQ(CQEX):
    """
    A CQ that tells what UET adds to completions.
    :param wc_flags: UETDV_WC_EX_WITH_*
    """
    def __init__(self, UetContext ctx not None, CqInitAttrEx attr_ex not None,
                 wc_flags=0):
        cdef dv.uetdv_cq_init_attr attr
        attr.comp_mask = 0
        attr.wc_flags = wc_flags
        self.cq = dv.uetdv_create_cq(ctx.context, &attr_ex.attr, &attr,
                                     sizeof(attr))
        if self.cq == NULL:
            raise PyverbsRDMAErrno('Failed to create UET CQ')
        self.ibv_cq = v.ibv_cq_ex_to_cq(self.cq)
        self.context = ctx
        ctx.add_ref(self)
        super().__init__(ctx, attr_ex)

    def read_imm64(self):
        return be64toh(dv.uetdv_wc_read_imm64(self.cq))

    def read_src_id(self):
        return dv.uetdv_wc_read_src_id(self.cq)

    def read_job_id(self):
        return dv.uetdv_wc_read_job_id(self.cq)


cdef class UetMR(MR):
    """
    A memory region with what UET adds. The memory is the caller's.
    :param address: first byte; as the parent names it if there is one
    :param parent: region that this one is a part of
    """
    def __init__(self, PD pd not None, address, length, access,
                 UetJKey jkey=None, rkey=None, flags=0, MR parent=None,
                 iova=None):
        cdef dv.uetdv_reg_mr_attr attr
        memset(&attr, 0, sizeof(attr))
        attr.comp_mask = dve.UETDV_REG_MR_MASK_FLAGS
        attr.flags = flags
        attr.length = length
        attr.access = access
        attr.addr = <void*><uintptr_t>address
        if iova is not None:
            attr.comp_mask |= dve.UETDV_REG_MR_MASK_IOVA
            attr.iova = iova
        if jkey is not None:
            attr.comp_mask |= dve.UETDV_REG_MR_MASK_JKEY
            attr.jkey = jkey.jkey
        if rkey is not None:
            attr.comp_mask |= dve.UETDV_REG_MR_MASK_RKEY
            attr.rkey = rkey
        if parent is not None:
            attr.comp_mask |= dve.UETDV_REG_MR_MASK_CUR_MR
            attr.cur_mr = parent.mr
        self.mr = dv.uetdv_reg_mr(pd.pd, &attr, sizeof(attr))
        if self.mr == NULL:
            raise PyverbsRDMAErrno('Failed to register UET MR')
        # The memory is the caller's
        self.is_user_addr = True
        self.buf = attr.addr
        super().__init__(pd, length, access, address=address)
        self.pd = pd
        pd.add_ref(self)
        if jkey is not None:
            jkey.users.add(self)
            self._jkey = jkey
        self._parent = parent

    @property
    def rkey64(self):
        cdef uint64_t rkey
        check(dv.uetdv_mr_rkey64(self.mr, &rkey), 'Failed to get key')
        return rkey

