// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Address tables of jobs. An attribute of the ioctl has room for
 * UET_JOB_ADDR_MAX entries, so longer lists go in several calls.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ccan/minmax.h>
#include <infiniband/cmd_ioctl.h>
#include <rdma/uet-abi.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "dv.h"

static int to_entry(struct uet_job_addr *to, uint32_t index,
		    const struct uetdv_ah_attr_ex *attr)
{
	const struct ibv_ah_attr *ah = &attr->ah_attr;

	if (!ah->is_global || ah->port_num != 1)
		return EINVAL;

	*to = (struct uet_job_addr) {
		.index = index,
		.qpn = attr->remote_qpn,
		.sgid_index = ah->grh.sgid_index,
		.hop_limit = ah->grh.hop_limit,
		.traffic_class = ah->grh.traffic_class,
		.flags = UET_JOB_ADDR_SGID,
	};
	memcpy(to->dgid, ah->grh.dgid.raw, sizeof(to->dgid));
	return 0;
}

static void from_entry(struct uetdv_ah_attr_ex *to,
		       const struct uet_job_addr *entry)
{
	*to = (struct uetdv_ah_attr_ex) {
		.ah_attr.is_global = 1,
		.ah_attr.port_num = 1,
		.ah_attr.grh.sgid_index = entry->sgid_index,
		.ah_attr.grh.hop_limit = entry->hop_limit,
		.ah_attr.grh.traffic_class = entry->traffic_class,
		.remote_qpn = entry->qpn,
	};
	memcpy(to->ah_attr.grh.dgid.raw, entry->dgid, sizeof(entry->dgid));
}

/* Is this a range of indices that a table can have? */
static bool range_is_sane(uint32_t first, uint32_t count)
{
	return count <= UINT32_MAX - first;
}

/* Room for one call's worth of @count entries. */
static struct uet_job_addr *alloc_entries(uint32_t count)
{
	return calloc(min_t(uint32_t, count, UET_JOB_ADDR_MAX),
		      sizeof(struct uet_job_addr));
}

static int cmd_insert(struct uetdv_job *job, const struct uet_job_addr *entries,
		      uint32_t count)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_JOB,
			       UET_IB_METHOD_JOB_ADDR_INSERT, 2);

	fill_attr_in_obj(cmd, UET_IB_ATTR_JOB_ADDR_INSERT_HANDLE,
			 to_ujob(job)->handle);
	fill_attr_in_ptr_array(cmd, UET_IB_ATTR_JOB_ADDR_INSERT_ENTRIES,
			       entries, count);
	return execute_ioctl(job->context, cmd);
}

static int insert_some(struct uetdv_job *job, struct uet_job_addr *entries,
		       const struct uetdv_ah_attr_ex *attr, uint32_t first,
		       uint32_t count)
{
	uint32_t i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = to_entry(&entries[i], first + i, &attr[i]);
		if (ret)
			return ret;
	}
	return cmd_insert(job, entries, count);
}

int uetdv_insert_addrs(struct uetdv_job *job,
		       const struct uetdv_ah_attr_ex *attr, uint32_t first,
		       uint32_t count, uint32_t flags)
{
	struct uet_job_addr *entries;
	uint32_t done, part;
	int ret = 0;

	if (flags || !range_is_sane(first, count))
		return EINVAL;
	if (!count)
		return 0;
	entries = alloc_entries(count);
	if (!entries)
		return ENOMEM;

	for (done = 0; done < count && !ret; done += part) {
		part = min_t(uint32_t, count - done, UET_JOB_ADDR_MAX);
		ret = insert_some(job, entries, &attr[done], first + done,
				  part);
	}
	free(entries);
	return ret;
}

int uetdv_insert_addr(struct uetdv_job *job,
		      const struct uetdv_ah_attr_ex *attr, uint32_t addr_idx,
		      uint32_t flags)
{
	return uetdv_insert_addrs(job, attr, addr_idx, 1, flags);
}

/* A range is two numbers, however long it is. */
int uetdv_remove_addrs(struct uetdv_job *job, uint32_t first, uint32_t count,
		       uint32_t flags)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_JOB,
			       UET_IB_METHOD_JOB_ADDR_REMOVE, 3);

	if (flags || !range_is_sane(first, count))
		return EINVAL;
	if (!count)
		return 0;
	fill_attr_in_obj(cmd, UET_IB_ATTR_JOB_ADDR_REMOVE_HANDLE,
			 to_ujob(job)->handle);
	fill_attr_in_uint32(cmd, UET_IB_ATTR_JOB_ADDR_REMOVE_FIRST, first);
	fill_attr_in_uint32(cmd, UET_IB_ATTR_JOB_ADDR_REMOVE_COUNT, count);
	return execute_ioctl(job->context, cmd);
}

int uetdv_remove_addr(struct uetdv_job *job, uint32_t addr_idx, uint32_t flags)
{
	return uetdv_remove_addrs(job, addr_idx, 1, flags);
}

/* Up to *@count entries from @first on; *@count becomes how many there are. */
static int cmd_query(struct uetdv_job *job, uint32_t first,
		     struct uet_job_addr *entries, uint32_t *count)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_JOB,
			       UET_IB_METHOD_JOB_ADDR_QUERY, 4);
	uint32_t room = *count, got = 0;
	int ret;

	fill_attr_in_obj(cmd, UET_IB_ATTR_JOB_ADDR_QUERY_HANDLE,
			 to_ujob(job)->handle);
	fill_attr_in_uint32(cmd, UET_IB_ATTR_JOB_ADDR_QUERY_FIRST, first);
	fill_attr_out_ptr_array(cmd, UET_IB_ATTR_JOB_ADDR_QUERY_ENTRIES,
				entries, room);
	fill_attr_out_ptr(cmd, UET_IB_ATTR_JOB_ADDR_QUERY_COUNT, &got);
	ret = execute_ioctl(job->context, cmd);
	if (!ret && got > room)
		ret = EPROTO;
	*count = got;
	return ret;
}

/* Entries that name no local address have that of the job. */
static int fill_in_sgid(struct uetdv_job *job, struct uet_job_addr *entries,
			uint32_t count)
{
	struct uetdv_job_attr attr = {};
	uint32_t i;
	int ret;

	for (i = 0; i < count; i++) {
		if (entries[i].flags & UET_JOB_ADDR_SGID)
			continue;
		if (!attr.comp_mask) {
			ret = uetdv_query_job(job, &attr);
			if (ret)
				return ret;
		}
		entries[i].sgid_index = attr.sgid_index;
	}
	return 0;
}

int uetdv_query_addr(struct uetdv_job *job, uint32_t addr_idx,
		     struct uetdv_ah_attr_ex *attr, uint32_t flags)
{
	struct uet_job_addr entry = {};
	uint32_t count = 1;
	int ret;

	if (flags)
		return EINVAL;
	ret = cmd_query(job, addr_idx, &entry, &count);
	if (ret)
		return ret;
	if (!count || entry.index != addr_idx)
		return ENOENT;
	ret = fill_in_sgid(job, &entry, 1);
	if (!ret)
		from_entry(attr, &entry);
	return ret;
}

/* One call's worth: where it went on to, and whether the table ends there. */
static int query_some(struct uetdv_job *job, struct uet_job_addr *entries,
		      struct uetdv_ah_attr_ex *attr, uint32_t *addr_idx,
		      uint32_t *next, uint32_t *count)
{
	uint32_t i;
	int ret;

	ret = cmd_query(job, *next, entries, count);
	if (!ret)
		ret = fill_in_sgid(job, entries, *count);
	if (ret)
		return ret;

	for (i = 0; i < *count; i++) {
		from_entry(&attr[i], &entries[i]);
		addr_idx[i] = entries[i].index;
		*next = entries[i].index + 1;
	}
	return 0;
}

int uetdv_query_addrs(struct uetdv_job *job, uint32_t first,
		      struct uetdv_ah_attr_ex *attr, uint32_t *addr_idx,
		      uint32_t *count, uint32_t flags)
{
	uint32_t room = *count, done = 0, next = first, part, got;
	struct uet_job_addr *entries;
	int ret = 0;

	if (flags || !room)
		return EINVAL;
	entries = alloc_entries(room);
	if (!entries)
		return ENOMEM;

	do {
		part = min_t(uint32_t, room - done, UET_JOB_ADDR_MAX);
		got = part;
		ret = query_some(job, entries, &attr[done], &addr_idx[done],
				 &next, &got);
		/* The last call ended at the last index of the table. */
		if (ret == EINVAL && done) {
			ret = 0;
			got = 0;
		}
		if (!ret)
			done += got;
	} while (!ret && got == part && done < room);

	free(entries);
	if (!ret)
		*count = done;
	return ret;
}
