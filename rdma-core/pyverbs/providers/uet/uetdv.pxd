# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause

#cython: language_level=3

cimport pyverbs.providers.uet.libuet as dv

from pyverbs.base cimport PyverbsObject, PyverbsCM
from pyverbs.cq cimport CQEX
from pyverbs.device cimport Context
from pyverbs.mr cimport MR
from pyverbs.qp cimport QPEx


cdef class UetContext(Context):
    cdef object jobs
    cdef object skeys


cdef class UetDVDeviceAttr(PyverbsObject):
    cdef dv.uetdv_device_attr attr


cdef class UetQPSemantics(PyverbsObject):
    cdef dv.uetdv_qp_semantics semantics


cdef class UetJobAttr(PyverbsObject):
    cdef dv.uetdv_job_attr attr
    cdef object _skey


cdef class UetJob(PyverbsCM):
    cdef dv.uetdv_job *job
    cdef object context
    cdef object jkeys
    cpdef close(self)
    cpdef dealloc(self)


cdef class UetSKeyAttr(PyverbsObject):
    cdef dv.uetdv_skey_attr attr


cdef class UetSKey(PyverbsCM):
    cdef dv.uetdv_skey *skey
    cdef object context
    cpdef close(self)


cdef class UetJKey(PyverbsCM):
    cdef dv.uetdv_jkey *jkey
    cdef object pd
    cdef object job
    cdef object users
    cpdef close(self)
    cpdef destroy(self)


cdef class UetQPInitAttr(PyverbsObject):
    cdef dv.uetdv_qp_init_attr attr
    cdef object _jkey


cdef class UetQP(QPEx):
    cdef dv.uetdv_qp_ex *dv_qp
    cdef object _jkey


cdef class UetCQ(CQEX):
    pass


cdef class UetMR(MR):
    cdef object _jkey
    cdef object _parent
