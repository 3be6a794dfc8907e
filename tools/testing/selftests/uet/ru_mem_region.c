// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Regions: who may reach them, by which key, and parts of other regions */
#include <sys/ioctl.h>
#include <linux/udmabuf.h>

#include "ru_mem.h"

#define CHOSEN(k)	.comp_mask = UETDV_REG_MR_MASK_RKEY, .rkey = (k)
#define FOR_JOB(i)	.comp_mask = UETDV_REG_MR_MASK_JKEY, .jkey = b.jkey[i]
#define FOR_QP		.comp_mask = UETDV_REG_MR_MASK_FLAGS, \
			.flags = UETDV_REG_MR_QP_RESTRICTED

/* ------------------------------------------------------------------ */
/* Access classes                                                      */

void t_pd(void)
{
	struct ibv_mr *mr = reg(1, .comp_mask = 0);
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr };

	must(r.rkey == (1ull << 48 | mr->rkey), true);
	lands(&r, b.mem + PAGE);
	r.what = READ;
	good(&r);
	/* The plain key, as programs of other devices send it. */
	r.what = WRITE;
	r.rkey = mr->rkey;
	lands(&r, b.mem + PAGE);
	r.rkey = 1ull << 49 | mr->rkey;
	refused(&r, RC_BAD_MKEY);
	r.rkey = 1ull << 48 | (mr->rkey ^ 1);
	refused(&r, RC_BAD_MKEY);
	r.rkey = key_of(a.mr);
	refused(&r, RC_BAD_MKEY);
	r.rkey = key_of(mr);
	r.addr += PAGE - LEN + 1;
	refused(&r, RC_BAD_ADDR);
	dereg(mr);
	refused(&r, RC_BAD_MKEY);
}

void t_job(void)
{
	struct ibv_mr *mr = reg(1, FOR_JOB(0));
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr };

	refused(&r, RC_BAD_JOB_ID);
	r.jkey = a.jkey[1]->jkey;
	refused(&r, RC_BAD_JOB_ID);
	r.jkey = a.jkey[0]->jkey;
	lands(&r, b.mem + PAGE);
	/* The key is held by the region. */
	must(uetdv_destroy_jkey(b.jkey[0]), EBUSY);
	/* What is for no job is for every job that is let in. */
	r.rkey = key_of(b.mr);
	good(&r);
	reg_refused(EOPNOTSUPP, 2, FOR_JOB(0),
		    .access = RIGHTS | IBV_ACCESS_MW_BIND);
	dereg(mr);
}

void t_qp(void)
{
	struct ibv_mr *mr = reg(1, FOR_QP), *plain = reg(2, .comp_mask = 0);
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr };
	struct ibv_qp *second = ru_open(&b);

	refused(&r, RC_BAD_MKEY);
	must(uetdv_attach_mr(b.qp, plain), EINVAL);
	must(uetdv_attach_mr(a.qp, mr), EINVAL);
	must(uetdv_detach_mr(b.qp, mr), EINVAL);
	must(uetdv_attach_mr(b.qp, mr), 0);
	must(uetdv_attach_mr(b.qp, mr), EBUSY);
	must(uetdv_attach_mr(second, mr), EBUSY);
	lands(&r, b.mem + PAGE);
	r.to = second;
	refused(&r, RC_BAD_MKEY);
	must(uetdv_detach_mr(second, mr), EINVAL);
	must(uetdv_detach_mr(b.qp, mr), 0);
	r.to = NULL;
	refused(&r, RC_BAD_MKEY);
	/* The end of a QP lets go. */
	must(uetdv_attach_mr(second, mr), 0);
	must(ibv_destroy_qp(second), 0);
	must(uetdv_attach_mr(b.qp, mr), 0);
	lands(&r, b.mem + PAGE);
	dereg(mr);
	dereg(plain);
}

void t_both(void)
{
	struct ibv_mr *mr = reg(1, .comp_mask = UETDV_REG_MR_MASK_JKEY |
				   UETDV_REG_MR_MASK_FLAGS,
				.jkey = b.jkey[0],
				.flags = UETDV_REG_MR_QP_RESTRICTED);
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr,
			 .jkey = a.jkey[0]->jkey };

	refused(&r, RC_BAD_MKEY);
	must(uetdv_attach_mr(b.qp, mr), 0);
	lands(&r, b.mem + PAGE);
	r.jkey = a.jkey[1]->jkey;
	refused(&r, RC_BAD_JOB_ID);
	dereg(mr);
}

/* ------------------------------------------------------------------ */
/* Chosen keys                                                         */

void t_chosen(void)
{
	struct ibv_mr *one = reg(1, CHOSEN(0x123456789abcull));
	struct req r = { .rkey = 0x123456789abcull,
			 .addr = (uintptr_t)one->addr };
	struct ibv_mr *two;

	must(key_of(one) == r.rkey, true);
	lands(&r, b.mem + PAGE);
	reg_refused(EEXIST, 2, CHOSEN(0x123456789abcull));
	reg_refused(EINVAL, 2, CHOSEN(1ull << 48));
	/* By its other key it is for its own process only. */
	r.rkey = one->rkey;
	refused(&r, RC_BAD_MKEY);
	r.rkey |= 1ull << 48;
	refused(&r, RC_BAD_MKEY);
	dereg(one);
	r.rkey = 0x123456789abcull;
	refused(&r, RC_BAD_MKEY);
	/* A key that a region has as assigned one: the chosen one counts. */
	one = reg(1, .comp_mask = 0);
	two = reg(2, CHOSEN(one->rkey));
	r.rkey = one->rkey;
	r.addr = (uintptr_t)two->addr;
	lands(&r, b.mem + 2 * PAGE);
	r.rkey = key_of(one);
	r.addr = (uintptr_t)one->addr;
	lands(&r, b.mem + PAGE);
	dereg(two);
	r.rkey = one->rkey;
	lands(&r, b.mem + PAGE);
	dereg(one);
	/* The smallest */
	one = reg(1, CHOSEN(0));
	r.rkey = 0;
	lands(&r, b.mem + PAGE);
	dereg(one);
}

void t_chosen_scopes(void)
{
	struct uetdv_reg_mr_attr attr = {
		.comp_mask = UETDV_REG_MR_MASK_RKEY | UETDV_REG_MR_MASK_JKEY,
		.rkey = 7,
	};
	struct ibv_qp *second = ru_open(&b);
	struct ibv_mr *mr[2];
	struct req r = { .rkey = 7 };
	int i;

	/* The same key in two jobs */
	for (i = 0; i < 2; i++) {
		attr.jkey = b.jkey[i];
		mr[i] = reg_at(__LINE__, attr, 1 + i);
	}
	reg_refused_at(__LINE__, EEXIST, attr, 3);
	reg_refused(EEXIST, 3, CHOSEN(7));
	for (i = 0; i < 2; i++) {
		r.jkey = a.jkey[i]->jkey;
		r.addr = (uintptr_t)mr[i]->addr;
		lands(&r, mr[i]->addr);
	}
	r.jkey = 0;
	refused(&r, RC_BAD_JOB_ID);
	dereg(mr[0]);
	dereg(mr[1]);

	/* The same key by two QPs, not twice by one */
	attr = (struct uetdv_reg_mr_attr){
		.comp_mask = UETDV_REG_MR_MASK_RKEY | UETDV_REG_MR_MASK_FLAGS,
		.rkey = 7,
		.flags = UETDV_REG_MR_QP_RESTRICTED,
	};
	for (i = 0; i < 2; i++)
		mr[i] = reg_at(__LINE__, attr, 1 + i);
	must(uetdv_attach_mr(b.qp, mr[0]), 0);
	must(uetdv_attach_mr(b.qp, mr[1]), EEXIST);
	must(uetdv_attach_mr(second, mr[1]), 0);
	for (i = 0; i < 2; i++) {
		r.to = i ? second : b.qp;
		r.addr = (uintptr_t)mr[i]->addr;
		lands(&r, mr[i]->addr);
	}
	dereg(mr[0]);
	dereg(mr[1]);
	must(ibv_destroy_qp(second), 0);
}

/* By many QPs at most; none of these is attached. */
void t_chosen_often(void)
{
	static struct ibv_mr *mr[4096];
	struct uetdv_reg_mr_attr attr = {
		.comp_mask = UETDV_REG_MR_MASK_RKEY | UETDV_REG_MR_MASK_FLAGS,
		.rkey = 7,
		.flags = UETDV_REG_MR_QP_RESTRICTED,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mr); i++)
		mr[i] = reg_at(__LINE__, attr, 1);
	reg_refused_at(__LINE__, ENOSPC, attr, 1);
	dereg(mr[0]);
	mr[0] = reg_at(__LINE__, attr, 1);
	for (i = 0; i < ARRAY_SIZE(mr); i++)
		dereg(mr[i]);
}

void t_idempotent(void)
{
	struct ibv_mr *mr = reg(1, .comp_mask = UETDV_REG_MR_MASK_RKEY |
				   UETDV_REG_MR_MASK_FLAGS, .rkey = 9,
				.flags = UETDV_REG_MR_IDEMPOTENT_SAFE);
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr };

	must(r.rkey == (1ull << 63 | 9), true);
	lands(&r, b.mem + PAGE);
	r.rkey = 9;
	refused(&r, RC_BAD_MKEY);
	reg_refused(EINVAL, 2, .comp_mask = UETDV_REG_MR_MASK_FLAGS,
		    .flags = UETDV_REG_MR_IDEMPOTENT_SAFE);
	dereg(mr);
}

/* ------------------------------------------------------------------ */
/* Parts of other regions                                              */

#define PART_OF(mr_)	.comp_mask = UETDV_REG_MR_MASK_CUR_MR, .cur_mr = (mr_)

void t_derived(void)
{
	struct ibv_mr *whole = reg(1, .length = 4 * PAGE);
	struct ibv_mr *part = reg(2, PART_OF(whole), .length = 2 * PAGE,
				  .access = IBV_ACCESS_LOCAL_WRITE |
					    IBV_ACCESS_REMOTE_WRITE);
	struct ibv_mr *inner = reg(3, PART_OF(part), .access = RIGHTS);
	struct req r = { .rkey = key_of(part),
			 .addr = (uintptr_t)b.mem + 2 * PAGE };

	lands(&r, b.mem + 2 * PAGE);
	r.what = READ;
	refused(&r, RC_PERM);
	r.what = WRITE;
	r.addr = (uintptr_t)b.mem + 2 * PAGE - LEN;
	refused(&r, RC_BAD_ADDR);
	r.rkey = key_of(inner);
	r.addr = (uintptr_t)b.mem + 3 * PAGE + 17;
	lands(&r, b.mem + 3 * PAGE + 17);
	must(ibv_dereg_mr(whole), EBUSY);
	must(ibv_dereg_mr(part), EBUSY);
	must(ibv_rereg_mr(whole, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			  IBV_ACCESS_REMOTE_READ) != 0, true);
	dereg(inner);
	dereg(part);
	must(ibv_rereg_mr(whole, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			  RIGHTS), 0);
	r.rkey = key_of(whole);
	lands(&r, b.mem + 3 * PAGE + 17);

	reg_refused(EINVAL, 0, PART_OF(whole));
	reg_refused(EINVAL, 4, PART_OF(whole), .length = 2 * PAGE);
	reg_refused(EINVAL, 2, PART_OF(a.mr), .addr = a.mem);
	dereg(whole);

	/* Memory that was pinned for reading */
	whole = reg(1, .length = 4 * PAGE, .access = IBV_ACCESS_REMOTE_READ);
	reg_refused(EACCES, 2, PART_OF(whole));
	part = reg(2, PART_OF(whole), .access = IBV_ACCESS_REMOTE_READ);
	r.rkey = key_of(part);
	r.addr = (uintptr_t)part->addr;
	r.what = READ;
	good(&r);
	r.what = WRITE;
	refused(&r, RC_PERM);
	dereg(part);
	dereg(whole);
}

void t_derived_scope(void)
{
	struct ibv_mr *whole = reg(1, .length = 4 * PAGE);
	struct ibv_mr *zero = reg(2, PART_OF(whole), .access = RIGHTS |
				  IBV_ACCESS_ZERO_BASED);
	struct ibv_mr *part = reg(3, .comp_mask = UETDV_REG_MR_MASK_CUR_MR |
				  UETDV_REG_MR_MASK_JKEY |
				  UETDV_REG_MR_MASK_RKEY,
				  .cur_mr = whole, .jkey = b.jkey[1],
				  .rkey = 0xffffffffffffull);
	struct req r = { .rkey = key_of(zero), .addr = 0 };

	lands(&r, b.mem + 2 * PAGE);
	r.addr = PAGE - LEN + 1;
	refused(&r, RC_BAD_ADDR);
	r.rkey = 0xffffffffffffull;
	r.addr = (uintptr_t)part->addr;
	refused(&r, RC_BAD_JOB_ID);
	r.jkey = a.jkey[1]->jkey;
	lands(&r, b.mem + 3 * PAGE);
	dereg(zero);
	dereg(part);
	dereg(whole);
}

/* A dma-buf with a chosen key, and a part of it */
void t_dmabuf(void)
{
	int mem = memfd_create("uet", MFD_ALLOW_SEALING);
	int dev = open("/dev/udmabuf", O_RDWR), buf;
	struct udmabuf_create create = { .memfd = mem, .size = 4 * PAGE };
	struct req r = { .rkey = 0xd0d0 };
	struct ibv_mr *whole, *part;
	__u8 *at;

	if (dev < 0)
		skip("no /dev/udmabuf");
	if (mem < 0 || ftruncate(mem, 4 * PAGE) ||
	    fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		die("memfd");
	buf = ioctl(dev, UDMABUF_CREATE, &create);
	at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	if (buf < 0 || at == MAP_FAILED)
		die("UDMABUF_CREATE");
	whole = reg(0, .comp_mask = UETDV_REG_MR_MASK_FD |
		    UETDV_REG_MR_MASK_IOVA | UETDV_REG_MR_MASK_RKEY |
		    UETDV_REG_MR_MASK_JKEY, .fd = buf, .fd_offset = PAGE,
		    .length = 2 * PAGE, .iova = 0x10000, .rkey = 0xd0d0,
		    .jkey = b.jkey[0]);
	reg_refused(EEXIST, 0, .comp_mask = UETDV_REG_MR_MASK_FD |
		    UETDV_REG_MR_MASK_IOVA | UETDV_REG_MR_MASK_RKEY, .fd = buf,
		    .iova = 0, .rkey = 0xd0d0);
	r.addr = 0x10000 + 100;
	refused(&r, RC_BAD_JOB_ID);
	r.jkey = a.jkey[0]->jkey;
	memset(a.mem, 0x33, LEN);
	good(&r);
	must(at[PAGE + 99] == 0 && at[PAGE + 100] == 0x33 &&
	     at[PAGE + 99 + LEN] == 0x33 && at[PAGE + 100 + LEN] == 0, true);
	part = reg(0, PART_OF(whole), .addr = (void *)(0x10000ul + PAGE));
	r = (struct req){ .rkey = key_of(part), .addr = 0x10000 + PAGE + 8 };
	good(&r);
	must(at[2 * PAGE + 7] == 0 && at[2 * PAGE + 8] == 0x33, true);
	must(ibv_dereg_mr(whole), EBUSY);
	dereg(part);
	dereg(whole);
	close(buf);
	close(dev);
	close(mem);
	munmap(at, 4 * PAGE);
}

/* Whoever dies with parents and children leaves nothing behind. */
void t_left_open(void)
{
	struct ibv_mr *whole = reg(1, .length = 4 * PAGE);
	struct ibv_mr *mr = reg(2, FOR_QP);

	reg(2, PART_OF(whole));
	reg(3, CHOSEN(77));
	must(uetdv_attach_mr(b.qp, mr), 0);
	exit(0);
}
