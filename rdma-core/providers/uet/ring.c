// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Rings shared with the kernel: mapping. */

#include <errno.h>
#include <sys/mman.h>

#include "ring.h"

/*
 * Whatever the kernel says, no entry may lie outside the mapping or be too
 * short for what is written to it.
 */
static bool ring_is_sane(const struct uet_ring_info *info, size_t entry_size)
{
	uint64_t need = UET_RING_HDR + (uint64_t)info->depth * info->stride;

	return info->depth && !(info->depth & (info->depth - 1)) &&
	       info->stride >= entry_size && !(info->stride % 16) &&
	       info->mmap_size >= need && info->mmap_size <= SIZE_MAX;
}

/**
 * uet_map_ring - map a ring
 * @map: filled in
 * @fd: command fd of the context
 * @info: what the kernel answered
 * @entry_size: least bytes of an entry
 *
 * Return: 0 or an errno value
 */
int uet_map_ring(struct uet_map *map, int fd, const struct uet_ring_info *info,
		 size_t entry_size)
{
	void *addr;

	if (!ring_is_sane(info, entry_size))
		return EPROTO;

	addr = mmap(NULL, info->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, info->mmap_offset);
	if (addr == MAP_FAILED)
		return errno;

	map->hdr = addr;
	map->size = info->mmap_size;
	map->depth = info->depth;
	map->stride = info->stride;
	return 0;
}

void uet_unmap_ring(struct uet_map *map)
{
	if (map->hdr)
		munmap(map->hdr, map->size);
	map->hdr = NULL;
}
