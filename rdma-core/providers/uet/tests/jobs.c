// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs, their address tables, security keys and job keys: what goes to the
 * kernel, and how its answers come back. The kernel's part is a table of
 * addresses and a few constants.
 */
#include "fake.h"
#include "fake_ioctl.h"

#define TABLE		5000	/* more than two calls can carry */
#define HANDLE		0x99
#define JOB_SGID	3

static struct uet_job_addr table[TABLE];
static bool used[TABLE];
static struct uet_job_attr job_attr;	/* last of ALLOC */
static struct uet_skey_attr skey_attr;
static uint8_t material[UET_SKEY_BYTES];
static bool had_material, had_skey;
static int error;
static unsigned int most_entries;

/* ------------------------------------------------------------------ */
/* The kernel's part                                                   */

static int addr_insert(struct ibv_command_buffer *cmd)
{
	struct ib_uverbs_attr *attr;
	struct uet_job_addr *entry;
	unsigned int i, n;

	attr = attr_of(cmd, UET_IB_ATTR_JOB_ADDR_INSERT_ENTRIES);
	n = attr->len / sizeof(*entry);
	entry = (void *)(uintptr_t)attr->data;
	if (!n || n > UET_JOB_ADDR_MAX)
		abort();
	if (n > most_entries)
		most_entries = n;
	for (i = 0; i < n; i++)
		if (entry[i].index >= TABLE)
			return EINVAL;
	for (i = 0; i < n; i++) {
		table[entry[i].index] = entry[i];
		used[entry[i].index] = true;
	}
	return 0;
}

static int addr_remove(struct ibv_command_buffer *cmd)
{
	uint32_t first = u32_of(cmd, UET_IB_ATTR_JOB_ADDR_REMOVE_FIRST);
	uint32_t count = u32_of(cmd, UET_IB_ATTR_JOB_ADDR_REMOVE_COUNT);
	uint32_t i;

	if (!count || first >= TABLE || count > TABLE - first)
		return EINVAL;
	for (i = 0; i < count; i++)
		if (!used[first + i])
			return ENOENT;
	memset(&used[first], 0, count);
	return 0;
}

static int addr_query(struct ibv_command_buffer *cmd)
{
	uint32_t i = u32_of(cmd, UET_IB_ATTR_JOB_ADDR_QUERY_FIRST), n = 0;
	struct ib_uverbs_attr *attr;
	struct uet_job_addr *entry;

	if (i >= TABLE)
		return EINVAL;
	attr = attr_of(cmd, UET_IB_ATTR_JOB_ADDR_QUERY_ENTRIES);
	entry = (void *)(uintptr_t)attr->data;
	if (attr->len / sizeof(*entry) > UET_JOB_ADDR_MAX)
		abort();
	for (; i < TABLE && n < attr->len / sizeof(*entry); i++)
		if (used[i])
			entry[n++] = table[i];
	answer_u32(cmd, UET_IB_ATTR_JOB_ADDR_QUERY_COUNT, n);
	return 0;
}

static int job_alloc(struct ibv_command_buffer *cmd)
{
	job_attr = *(struct uet_job_attr *)
		   ptr_of(cmd, UET_IB_ATTR_JOB_ALLOC_ATTR, sizeof(job_attr));
	had_skey = attr_of(cmd, UET_IB_ATTR_JOB_ALLOC_SKEY);
	if (had_skey)
		CHECK(attr_of(cmd, UET_IB_ATTR_JOB_ALLOC_SKEY)->data ==
		      HANDLE + 1);
	attr_of(cmd, UET_IB_ATTR_JOB_ALLOC_HANDLE)->data = HANDLE;
	return 0;
}

static void answer_job(struct ibv_command_buffer *cmd, uint16_t id)
{
	*(struct uet_job_attr *)ptr_of(cmd, id, sizeof(job_attr)) =
		(struct uet_job_attr) {
			.flags = UET_JOB_PERSISTENT,
			.id = 77,
			.max_addr = TABLE,
			.port_num = 1,
			.sgid_index = JOB_SGID,
			.uid = 1000,
			.gid = UET_OWNER_NONE,
			.rights = UET_RIGHT_USE,
			.num_addr = 5,
			.skey_id = 6,
			.max_jkey = 7,
		};
}

static int job_method(struct ibv_command_buffer *cmd)
{
	switch (cmd->hdr.method_id) {
	case UET_IB_METHOD_JOB_ALLOC:
		return job_alloc(cmd);
	case UET_IB_METHOD_JOB_DEALLOC:
		return 0;
	case UET_IB_METHOD_JOB_QUERY:
		answer_job(cmd, UET_IB_ATTR_JOB_QUERY_RESP);
		return 0;
	case UET_IB_METHOD_JOB_EXPORT:
		CHECK(u32_of(cmd, UET_IB_ATTR_JOB_EXPORT_RIGHTS) ==
		      UET_RIGHT_USE);
		answer_u32(cmd, UET_IB_ATTR_JOB_EXPORT_FD, 42);
		return 0;
	case UET_IB_METHOD_JOB_IMPORT:
		CHECK(attr_of(cmd, UET_IB_ATTR_JOB_IMPORT_FD)->data == 42);
		attr_of(cmd, UET_IB_ATTR_JOB_IMPORT_HANDLE)->data = HANDLE;
		answer_job(cmd, UET_IB_ATTR_JOB_IMPORT_RESP);
		return 0;
	case UET_IB_METHOD_JOB_ADDR_INSERT:
		return addr_insert(cmd);
	case UET_IB_METHOD_JOB_ADDR_REMOVE:
		return addr_remove(cmd);
	case UET_IB_METHOD_JOB_ADDR_QUERY:
		return addr_query(cmd);
	}
	abort();
}

static void take_material(struct ibv_command_buffer *cmd, uint16_t id)
{
	had_material = attr_of(cmd, id);
	if (had_material)
		memcpy(material, ptr_of(cmd, id, sizeof(material)),
		       sizeof(material));
}

static int skey_method(struct ibv_command_buffer *cmd)
{
	struct uet_skey_attr *resp;

	switch (cmd->hdr.method_id) {
	case UET_IB_METHOD_SKEY_ALLOC:
		skey_attr = *(struct uet_skey_attr *)
			    ptr_of(cmd, UET_IB_ATTR_SKEY_ALLOC_ATTR,
				   sizeof(skey_attr));
		take_material(cmd, UET_IB_ATTR_SKEY_ALLOC_KEY);
		resp = ptr_of(cmd, UET_IB_ATTR_SKEY_ALLOC_RESP, sizeof(*resp));
		resp->id = 0x1234;
		attr_of(cmd, UET_IB_ATTR_SKEY_ALLOC_HANDLE)->data = HANDLE + 1;
		return 0;
	case UET_IB_METHOD_SKEY_QUERY:
		resp = ptr_of(cmd, UET_IB_ATTR_SKEY_QUERY_RESP, sizeof(*resp));
		*resp = skey_attr;
		resp->an_valid = 3;
		return 0;
	case UET_IB_METHOD_SKEY_REKEY:
		take_material(cmd, UET_IB_ATTR_SKEY_REKEY_KEY);
		return u32_of(cmd, UET_IB_ATTR_SKEY_REKEY_OP) ==
		       UET_SKEY_REKEY_RETIRE ? ENOKEY : 0;
	case UET_IB_METHOD_SKEY_DEALLOC:
		return 0;
	}
	abort();
}

static int jkey_method(struct ibv_command_buffer *cmd)
{
	if (cmd->hdr.method_id == UET_IB_METHOD_JKEY_DESTROY)
		return 0;
	CHECK(attr_of(cmd, UET_IB_ATTR_JKEY_CREATE_JOB)->data == HANDLE);
	CHECK(attr_of(cmd, UET_IB_ATTR_JKEY_CREATE_PD)->data == pd.pd.handle);
	answer_u32(cmd, UET_IB_ATTR_JKEY_CREATE_RESP, 0xabcd);
	return 0;
}

static int method(struct ibv_command_buffer *cmd)
{
	if (error)
		return error;
	switch (cmd->hdr.object_id) {
	case UET_IB_OBJECT_JOB:
		return job_method(cmd);
	case UET_IB_OBJECT_SKEY:
		return skey_method(cmd);
	case UET_IB_OBJECT_JKEY:
		return jkey_method(cmd);
	}
	abort();
}

/* ------------------------------------------------------------------ */

static struct uetdv_job *make_job(void)
{
	struct uetdv_job_attr attr = {
		.comp_mask = UETDV_JOB_ATTR_ID,
		.id = 77,
	};

	return uetdv_alloc_job(&ctx.vctx.context, &attr, &table);
}

static void test_alloc(void)
{
	struct ibv_context other = {}, *ibctx = &ctx.vctx.context;
	struct uetdv_job_attr attr = {
		.comp_mask = UETDV_JOB_ATTR_ID,
		.id = 77,
		.max_addr_entries = 9,	/* not in comp_mask */
	};
	struct uetdv_job *job = make_job();

	CHECK(job->id == 77 && job->user_context == &table && !had_skey);
	CHECK(job_attr.id == 77 && job_attr.port_num == 1);
	CHECK(!job_attr.flags && !job_attr.max_addr);
	CHECK(job_attr.uid == UET_OWNER_NONE && job_attr.gid == UET_OWNER_NONE);
	CHECK(!uetdv_dealloc_job(job));

	attr.comp_mask |= UETDV_JOB_ATTR_MAX_ADDR_ENTRIES |
			  UETDV_JOB_ATTR_OWNER | UETDV_JOB_ATTR_SGID_INDEX |
			  UETDV_JOB_ATTR_MAX_JOB_KEYS;
	attr.uid = 5;
	attr.gid = 6;
	attr.sgid_index = 2;
	attr.max_job_keys = 8;
	job = uetdv_alloc_job(ibctx, &attr, NULL);
	CHECK(job_attr.max_addr == 9 && job_attr.uid == 5 && job_attr.gid == 6);
	CHECK(job_attr.sgid_index == 2 && job_attr.max_jkey == 8);
	CHECK(!uetdv_dealloc_job(job));

	nr_calls = 0;
	attr.comp_mask = UETDV_JOB_ATTR_OWNER;
	CHECK(!uetdv_alloc_job(ibctx, &attr, NULL) && errno == EINVAL);
	attr.comp_mask = UETDV_JOB_ATTR_ID | 1ULL << 40;
	CHECK(!uetdv_alloc_job(ibctx, &attr, NULL) && errno == EOPNOTSUPP);
	attr.comp_mask = UETDV_JOB_ATTR_ID | UETDV_JOB_ATTR_FLAGS;
	attr.flags = UETDV_JOB_PERSISTENT;
	CHECK(!uetdv_alloc_job(ibctx, &attr, NULL) && errno == EINVAL);
	attr.comp_mask = UETDV_JOB_ATTR_ID;
	CHECK(!uetdv_alloc_job(&other, &attr, NULL) && errno == EOPNOTSUPP);
	ctx.caps = UET_CAP_RU;
	CHECK(!uetdv_alloc_job(ibctx, &attr, NULL) && errno == EOPNOTSUPP);
	CHECK(!uetdv_open_job(ibctx, 77, NULL) && errno == EOPNOTSUPP);
	ctx.caps = UET_CAP_RU | UET_CAP_JOB;
	CHECK(!nr_calls);

	error = EEXIST;
	CHECK(!uetdv_alloc_job(ibctx, &attr, NULL) && errno == EEXIST);
	error = 0;
	job = uetdv_open_job(ibctx, 78, NULL);
	CHECK(job_attr.flags == UET_JOB_ALLOC_OPEN && job_attr.id == 78);
	CHECK(!job_attr.uid && !job_attr.port_num);
	CHECK(!uetdv_dealloc_job(job));
}

static void test_share(void)
{
	struct ibv_context *ibctx = &ctx.vctx.context;
	struct uetdv_job *job = make_job(), *twin = NULL;
	struct uetdv_job_attr attr;
	int fd = -1;

	CHECK(!uetdv_export_job(job, UETDV_RIGHT_USE, &fd) && fd == 42);
	CHECK(!uetdv_import_job(ibctx, fd, &twin) && twin->id == 77);
	CHECK(!uetdv_query_job(twin, &attr));
	CHECK(attr.comp_mask & UETDV_JOB_ATTR_OWNER && attr.uid == 1000);
	CHECK(attr.flags == UETDV_JOB_PERSISTENT && attr.skey_id == 6);
	CHECK(attr.num_addr_entries == 5 && attr.max_job_keys == 7);
	CHECK(attr.rights == UETDV_RIGHT_USE && !attr.skey);

	CHECK(uetdv_import_job(ibctx, -1, &twin) == EBADF);
	error = EXDEV;
	CHECK(uetdv_import_job(ibctx, 42, &twin) == EXDEV);
	error = EPERM;
	CHECK(uetdv_export_job(job, 1, &fd) == EPERM && fd == 42);
	error = EBUSY;
	CHECK(uetdv_dealloc_job(job) == EBUSY);
	error = 0;
	CHECK(!uetdv_dealloc_job(job) && !uetdv_dealloc_job(twin));
}

static void make_addrs(struct uetdv_ah_attr_ex *attr, uint32_t count)
{
	uint32_t i;

	memset(attr, 0, count * sizeof(*attr));
	for (i = 0; i < count; i++) {
		attr[i].ah_attr.is_global = 1;
		attr[i].ah_attr.port_num = 1;
		attr[i].ah_attr.grh.sgid_index = 1;
		attr[i].ah_attr.grh.hop_limit = 64;
		memcpy(attr[i].ah_attr.grh.dgid.raw, &i, sizeof(i));
		attr[i].remote_qpn = 0x1000 + i;
	}
}

static void test_long_table(struct uetdv_job *job)
{
	struct uetdv_ah_attr_ex *attr = calloc(TABLE + 1, sizeof(*attr));
	uint32_t *idx = calloc(TABLE + 1, sizeof(*idx));
	uint32_t i, count = TABLE + 1;

	make_addrs(attr, TABLE);
	nr_calls = 0;
	CHECK(!uetdv_insert_addrs(job, attr, 0, TABLE, 0));
	CHECK(nr_calls == 3 && most_entries == UET_JOB_ADDR_MAX);
	for (i = 0; i < TABLE; i++)
		CHECK(used[i] && table[i].index == i &&
		      table[i].qpn == 0x1000 + i &&
		      !memcmp(table[i].dgid, &i, sizeof(i)));

	memset(attr, 0, TABLE * sizeof(*attr));
	CHECK(!uetdv_query_addrs(job, 0, attr, idx, &count, 0));
	CHECK(count == TABLE);
	for (i = 0; i < TABLE; i++)
		CHECK(idx[i] == i && attr[i].remote_qpn == 0x1000 + i &&
		      attr[i].ah_attr.is_global &&
		      attr[i].ah_attr.grh.hop_limit == 64);

	/* room that ends where a call does, and a table that does */
	memset(used + 2 * UET_JOB_ADDR_MAX, 0, TABLE - 2 * UET_JOB_ADDR_MAX);
	count = 2 * UET_JOB_ADDR_MAX;
	CHECK(!uetdv_query_addrs(job, 0, attr, idx, &count, 0));
	CHECK(count == 2 * UET_JOB_ADDR_MAX);
	memset(used, 1, TABLE);
	count = TABLE;
	CHECK(!uetdv_query_addrs(job, TABLE - UET_JOB_ADDR_MAX, attr, idx,
				 &count, 0));
	CHECK(count == UET_JOB_ADDR_MAX && idx[count - 1] == TABLE - 1);

	/* holes */
	CHECK(!uetdv_remove_addrs(job, 10, 3000, 0));
	count = TABLE;
	CHECK(!uetdv_query_addrs(job, 5, attr, idx, &count, 0));
	CHECK(count == TABLE - 5 - 3000 && idx[4] == 9 && idx[5] == 3010);

	make_addrs(attr, TABLE);
	CHECK(uetdv_insert_addrs(job, attr, 1, TABLE, 0) == EINVAL);
	CHECK(uetdv_insert_addrs(job, attr, UINT32_MAX, 2, 0) == EINVAL);
	CHECK(!uetdv_insert_addrs(job, attr, 0, 0, 0));
	free(attr);
	free(idx);
}

static void test_addr(struct uetdv_job *job)
{
	struct uetdv_ah_attr_ex attr;

	make_addrs(&attr, 1);
	attr.ah_attr.grh.sgid_index = 9;
	attr.ah_attr.grh.traffic_class = 0x28;
	CHECK(!uetdv_insert_addr(job, &attr, 20, 0));
	CHECK(table[20].flags == UET_JOB_ADDR_SGID);
	CHECK(table[20].sgid_index == 9 && table[20].traffic_class == 0x28);
	CHECK(!uetdv_query_addr(job, 20, &attr, 0));
	CHECK(attr.ah_attr.grh.sgid_index == 9 && attr.remote_qpn == 0x1000);

	/* an entry without a local address has the job's */
	table[20].flags = 0;
	CHECK(!uetdv_query_addr(job, 20, &attr, 0));
	CHECK(attr.ah_attr.grh.sgid_index == JOB_SGID);

	CHECK(!uetdv_remove_addr(job, 20, 0));
	CHECK(uetdv_remove_addr(job, 20, 0) == ENOENT);
	CHECK(uetdv_query_addr(job, 20, &attr, 0) == ENOENT);
	CHECK(uetdv_query_addr(job, TABLE, &attr, 0) == EINVAL);
	CHECK(uetdv_query_addr(job, 20, &attr, 1) == EINVAL);
	CHECK(uetdv_insert_addr(job, &attr, 20, 1) == EINVAL);
	attr.ah_attr.is_global = 0;
	CHECK(uetdv_insert_addr(job, &attr, 20, 0) == EINVAL);
	CHECK(!used[20]);
}

static void test_skey(void)
{
	struct ibv_context *ibctx = &ctx.vctx.context;
	uint8_t key[UETDV_SKEY_BYTES + 1] = { 1, 2, 3 };
	struct uetdv_skey_attr attr = {
		.comp_mask = UETDV_SKEY_ATTR_ALG | UETDV_SKEY_ATTR_SSI,
		.id = 5,			/* not in comp_mask */
		.sdi = 0x123,
		.ssi = 0x456,
		.alg = UETDV_SKEY_AES_256_GCM,
		.mode = UETDV_SKEY_CLUSTER,
	};
	struct uetdv_job_attr job_with = {
		.comp_mask = UETDV_JOB_ATTR_ID | UETDV_JOB_ATTR_SKEY,
		.id = 9,
	};
	struct uetdv_skey_attr answer;
	struct uetdv_skey *skey;

	nr_calls = 0;
	CHECK(!uetdv_alloc_skey(ibctx, &attr, key, 33) && errno == EKEYREJECTED);
	CHECK(!uetdv_alloc_skey(ibctx, &attr, NULL, 32) && errno == EINVAL);
	CHECK(!nr_calls);
	skey = uetdv_alloc_skey(ibctx, &attr, key, UETDV_SKEY_BYTES);
	CHECK(skey && skey->id == 0x1234 && had_material);
	CHECK(!memcmp(material, key, UETDV_SKEY_BYTES));
	CHECK(skey_attr.sdi == 0x123 && skey_attr.ssi == 0x456 && !skey_attr.id);
	CHECK(skey_attr.flags == UET_SKEY_HAS_SSI && skey_attr.mode == 1);
	CHECK(!uetdv_query_skey(skey, &answer) && answer.an_valid == 3);
	CHECK(answer.comp_mask & UETDV_SKEY_ATTR_SSI && !answer.flags);

	job_with.skey = skey;
	CHECK(!uetdv_dealloc_job(uetdv_alloc_job(ibctx, &job_with, NULL)));
	CHECK(had_skey);

	CHECK(!uetdv_rekey_skey(skey, UETDV_REKEY_INSTALL, key, 32));
	CHECK(had_material);
	CHECK(!uetdv_rekey_skey(skey, UETDV_REKEY_SWITCH, NULL, 0));
	CHECK(!had_material);
	CHECK(uetdv_rekey_skey(skey, UETDV_REKEY_RETIRE, NULL, 0) == ENOKEY);
	CHECK(uetdv_rekey_skey(skey, UETDV_REKEY_INSTALL, NULL, 0) == EINVAL);
	CHECK(uetdv_rekey_skey(skey, UETDV_REKEY_SWITCH, key, 32) == EINVAL);
	CHECK(uetdv_rekey_skey(skey, UETDV_REKEY_INSTALL, key, 31) ==
	      EKEYREJECTED);
	CHECK(uetdv_rekey_skey(skey, 7, NULL, 0) == EINVAL);
	CHECK(!uetdv_dealloc_skey(skey));

	skey = uetdv_open_skey(ibctx, 12);
	CHECK(skey && skey_attr.id == 12 && !had_material);
	CHECK(skey_attr.flags == UET_SKEY_ALLOC_OPEN && !skey_attr.uid);
	CHECK(!uetdv_dealloc_skey(skey));
}

static void test_jkey(struct uetdv_job *job)
{
	struct ibv_context *ibctx = &ctx.vctx.context;
	struct ibv_parent_domain_init_attr init = { .pd = &pd.pd };
	struct ibv_pd *parent;
	struct uetdv_jkey *jkey;

	pd.pd.handle = 4;
	parent = uet_alloc_parent_domain(ibctx, &init);
	jkey = uetdv_create_jkey(parent, job, 0);
	CHECK(jkey && jkey->jkey == 0xabcd && jkey->job == job);
	CHECK(uet_dealloc_pd(parent) == EBUSY);
	error = EBUSY;
	CHECK(uetdv_destroy_jkey(jkey) == EBUSY);
	error = 0;
	CHECK(!uetdv_destroy_jkey(jkey));
	CHECK(!uet_dealloc_pd(parent));

	CHECK(!uetdv_create_jkey(&pd.pd, job, 1) && errno == EINVAL);
	error = EEXIST;
	CHECK(!uetdv_create_jkey(&pd.pd, job, 0) && errno == EEXIST);
	error = 0;
}

int main(void)
{
	struct uetdv_job *job;

	kernel = method;
	ctx.caps = UET_CAP_RU | UET_CAP_JOB;
	test_alloc();
	test_share();
	job = make_job();
	test_long_table(job);
	test_addr(job);
	test_jkey(job);
	CHECK(!uetdv_dealloc_job(job));
	test_skey();
	return line_of_failure ? 1 : 0;
}
