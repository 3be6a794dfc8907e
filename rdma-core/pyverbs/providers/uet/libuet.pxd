# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause

#cython: language_level=3

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
cimport pyverbs.libibverbs as v


cdef extern from 'infiniband/uetdv.h':

    cdef struct uetdv_device_attr:
        uint64_t comp_mask
        uint32_t device_caps
        uint32_t max_inline
        uint32_t max_sge
        uint32_t max_job_ids
        uint32_t max_skeys
        uint32_t max_job_keys
        uint32_t max_addr_entries

    cdef struct uetdv_qp_semantics:
        uint64_t comp_mask
        uint32_t msg_order
        uint32_t max_rdma_raw_size
        uint32_t max_rdma_war_size
        uint32_t max_rdma_waw_size
        uint32_t max_pdu
        uint32_t imm_data_size
        uint32_t usage_flags

    cdef struct uetdv_job:
        v.ibv_context *context
        uint32_t id

    cdef struct uetdv_skey:
        v.ibv_context *context
        uint32_t id

    cdef struct uetdv_jkey:
        v.ibv_pd *pd
        uetdv_job *job
        uint32_t jkey

    cdef struct uetdv_qp_init_attr:
        uint64_t comp_mask
        uint32_t driver_qp_type
        uint32_t addressing
        uint16_t pid_on_fep
        uint16_t ri
        uetdv_jkey *jkey
        uint32_t src_id
        uint32_t send_ops
        uetdv_qp_semantics semantics

    cdef struct uetdv_job_attr:
        uint64_t comp_mask
        uint32_t flags
        uint32_t id
        uint32_t max_addr_entries
        uint8_t port_num
        uint16_t sgid_index
        uint32_t uid
        uint32_t gid
        uetdv_skey *skey
        uint32_t max_job_keys
        uint32_t rights
        uint32_t num_addr_entries
        uint32_t skey_id

    cdef struct uetdv_ah_attr_ex:
        v.ibv_ah_attr ah_attr
        uint32_t remote_qpn

    cdef struct uetdv_skey_attr:
        uint64_t comp_mask
        uint32_t flags
        uint32_t id
        uint32_t sdi
        uint32_t ssi
        uint8_t alg
        uint8_t mode
        uint8_t an
        uint8_t an_valid
        uint32_t uid
        uint32_t gid
        uint32_t rights
        uint32_t num_jobs

    cdef struct uetdv_reg_mr_attr:
        uint64_t comp_mask
        void *addr
        size_t length
        uint64_t iova
        int fd
        int access
        uint64_t fd_offset
        uint32_t flags
        uetdv_jkey *jkey
        uint64_t rkey
        v.ibv_mr *cur_mr

    cdef struct uetdv_cq_init_attr:
        uint64_t comp_mask
        uint64_t wc_flags

    cdef struct uetdv_qp_ex:
        uint64_t comp_mask

    int uetdv_query_device(v.ibv_context *context, uetdv_device_attr *attr,
                           uint32_t inlen)
    int uetdv_query_qp_semantics(v.ibv_context *context,
                                 uint32_t driver_qp_type, uint8_t port_num,
                                 uint32_t sgid_index,
                                 uetdv_qp_semantics *semantics,
                                 uint32_t inlen)
    v.ibv_qp *uetdv_create_qp(v.ibv_context *context,
                              v.ibv_qp_init_attr_ex *attr_ex,
                              uetdv_qp_init_attr *uet_attr, uint32_t inlen)
    int uetdv_query_qp(v.ibv_qp *qp, uetdv_qp_init_attr *attr, uint32_t inlen)
    int uetdv_qp_wire_qpn(v.ibv_qp *qp, uint32_t *wire_qpn)
    v.ibv_cq_ex *uetdv_create_cq(v.ibv_context *context,
                                 v.ibv_cq_init_attr_ex *attr_ex,
                                 uetdv_cq_init_attr *uet_attr, uint32_t inlen)
    uint64_t uetdv_wc_read_imm64(v.ibv_cq_ex *cq)
    uint32_t uetdv_wc_read_src_id(v.ibv_cq_ex *cq)
    uint32_t uetdv_wc_read_job_id(v.ibv_cq_ex *cq)

    uetdv_job *uetdv_alloc_job(v.ibv_context *context, uetdv_job_attr *attr,
                               void *user_context)
    uetdv_job *uetdv_open_job(v.ibv_context *context, uint32_t id,
                              void *user_context)
    int uetdv_dealloc_job(uetdv_job *job)
    int uetdv_query_job(uetdv_job *job, uetdv_job_attr *attr)
    int uetdv_export_job(uetdv_job *job, uint32_t rights, int *fd)
    int uetdv_import_job(v.ibv_context *context, int fd, uetdv_job **job)
    int uetdv_insert_addrs(uetdv_job *job, const uetdv_ah_attr_ex *attr,
                           uint32_t first, uint32_t count, uint32_t flags)
    int uetdv_remove_addrs(uetdv_job *job, uint32_t first, uint32_t count,
                           uint32_t flags)
    int uetdv_query_addr(uetdv_job *job, uint32_t addr_idx,
                         uetdv_ah_attr_ex *attr, uint32_t flags)
    int uetdv_query_addrs(uetdv_job *job, uint32_t first,
                          uetdv_ah_attr_ex *attr, uint32_t *addr_idx,
                          uint32_t *count, uint32_t flags)
    uetdv_jkey *uetdv_create_jkey(v.ibv_pd *pd, uetdv_job *job, uint32_t flags)
    int uetdv_destroy_jkey(uetdv_jkey *jkey)

    uetdv_skey *uetdv_alloc_skey(v.ibv_context *context,
                                 const uetdv_skey_attr *attr, const void *key,
                                 size_t key_len)
    uetdv_skey *uetdv_open_skey(v.ibv_context *context, uint32_t id)
    int uetdv_dealloc_skey(uetdv_skey *skey)
    int uetdv_query_skey(uetdv_skey *skey, uetdv_skey_attr *attr)
    int uetdv_export_skey(uetdv_skey *skey, uint32_t rights, int *fd)
    int uetdv_import_skey(v.ibv_context *context, int fd, uetdv_skey **skey)
    int uetdv_rekey_skey(uetdv_skey *skey, uint32_t op, const void *key,
                         size_t key_len)

    v.ibv_mr *uetdv_reg_mr(v.ibv_pd *pd, uetdv_reg_mr_attr *attr,
                           uint32_t inlen)
    int uetdv_mr_rkey64(v.ibv_mr *mr, uint64_t *rkey)
    int uetdv_attach_mr(v.ibv_qp *qp, v.ibv_mr *mr)
    int uetdv_detach_mr(v.ibv_qp *qp, v.ibv_mr *mr)

    uetdv_qp_ex *uetdv_qp_ex_from_ibv_qp_ex(v.ibv_qp_ex *qp)
    void uetdv_wr_set_ru_addr(uetdv_qp_ex *qp, v.ibv_ah *ah,
                              uint32_t remote_qpn, uint32_t jkey)
    void uetdv_wr_set_job_addr(uetdv_qp_ex *qp, uint32_t addr_idx,
                               uint32_t jkey)
    void uetdv_wr_set_jkey(uetdv_qp_ex *qp, uint32_t jkey)
    void uetdv_wr_send_imm64(uetdv_qp_ex *qp, uint64_t imm_data)
    void uetdv_wr_rdma_read64(uetdv_qp_ex *qp, uint64_t rkey,
                              uint64_t remote_addr)
    void uetdv_wr_rdma_write64(uetdv_qp_ex *qp, uint64_t rkey,
                               uint64_t remote_addr)
    void uetdv_wr_rdma_write64_imm(uetdv_qp_ex *qp, uint64_t rkey,
                                   uint64_t remote_addr, uint32_t imm_data)
    void uetdv_wr_rdma_write64_imm64(uetdv_qp_ex *qp, uint64_t rkey,
                                     uint64_t remote_addr, uint64_t imm_data)
    void uetdv_wr_atomic_cmp_swp64(uetdv_qp_ex *qp, uint64_t rkey,
                                   uint64_t remote_addr, uint64_t compare,
                                   uint64_t swap)
    void uetdv_wr_atomic_fetch_add64(uetdv_qp_ex *qp, uint64_t rkey,
                                     uint64_t remote_addr, uint64_t add)
