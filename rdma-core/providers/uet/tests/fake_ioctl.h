/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Methods of the verbs ioctl without a kernel: execute_ioctl() leads to a
 * function of the test. Included by each test program, once, after fake.h.
 */
#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "../dv.h"

/* What answers; called with a complete command. */
static int (*kernel)(struct ibv_command_buffer *cmd);
static unsigned int nr_calls;

int execute_ioctl(struct ibv_context *ibctx, struct ibv_command_buffer *cmd)
{
	nr_calls++;
	if (cmd->buffer_error)
		return EINVAL;
	return kernel(cmd);
}

static struct ib_uverbs_attr *attr_of(struct ibv_command_buffer *cmd,
				      uint16_t id)
{
	struct ib_uverbs_attr *attr;

	for (attr = cmd->hdr.attrs; attr < cmd->next_attr; attr++)
		if (attr->attr_id == id)
			return attr;
	return NULL;
}

static void *ptr_of(struct ibv_command_buffer *cmd, uint16_t id, size_t size)
{
	struct ib_uverbs_attr *attr = attr_of(cmd, id);

	if (!attr || attr->len != size)
		abort();
	return (void *)(uintptr_t)attr->data;
}

static __attribute__((unused))
uint32_t u32_of(struct ibv_command_buffer *cmd, uint16_t id)
{
	struct ib_uverbs_attr *attr = attr_of(cmd, id);
	uint32_t value;

	if (!attr || attr->len != sizeof(value))
		abort();
	memcpy(&value, &attr->data, sizeof(value));
	return value;
}

/* A number that the method answers. */
static __attribute__((unused))
void answer_u32(struct ibv_command_buffer *cmd, uint16_t id, uint32_t value)
{
	*(uint32_t *)ptr_of(cmd, id, sizeof(value)) = value;
}
