/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Rings shared with the kernel. What is written by this side is kept in
 * private memory too and never read back, so a scribbled ring costs the
 * process its own completions and nothing else.
 */
#ifndef UET_RING_H
#define UET_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/uet-abi.h>

/**
 * struct uet_lock - a spinlock that can be switched off
 * @spin: the lock
 * @off: the application promised that one thread uses the object
 */
struct uet_lock {
	pthread_spinlock_t spin;
	bool off;
};

static inline void uet_lock_init(struct uet_lock *lock, bool off)
{
	lock->off = off;
	pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
}

static inline void uet_lock_destroy(struct uet_lock *lock)
{
	pthread_spin_destroy(&lock->spin);
}

static inline void uet_lock(struct uet_lock *lock)
{
	if (!lock->off)
		pthread_spin_lock(&lock->spin);
}

static inline void uet_unlock(struct uet_lock *lock)
{
	if (!lock->off)
		pthread_spin_unlock(&lock->spin);
}

/**
 * struct uet_map - a mapped ring
 * @hdr: head of the ring, NULL if there is no ring
 * @size: bytes mapped
 * @depth: entries, a power of two
 * @stride: bytes from one entry to the next
 */
struct uet_map {
	struct uet_ring *hdr;
	size_t size;
	uint32_t depth;
	uint32_t stride;
};

int uet_map_ring(struct uet_map *map, int fd, const struct uet_ring_info *info,
		 size_t entry_size);
void uet_unmap_ring(struct uet_map *map);

static inline void *uet_entry(const struct uet_map *map, uint32_t index)
{
	size_t slot = index & (map->depth - 1);

	return (uint8_t *)map->hdr + UET_RING_HDR + slot * map->stride;
}

static inline uint32_t uet_load_prod(const struct uet_map *map)
{
	return atomic_load_explicit((_Atomic(__u32) *)&map->hdr->prod,
				    memory_order_acquire);
}

static inline uint32_t uet_load_cons(const struct uet_map *map)
{
	return atomic_load_explicit((_Atomic(__u32) *)&map->hdr->cons,
				    memory_order_acquire);
}

static inline void uet_store_prod(const struct uet_map *map, uint32_t prod)
{
	atomic_store_explicit((_Atomic(__u32) *)&map->hdr->prod, prod,
			      memory_order_release);
}

static inline void uet_store_cons(const struct uet_map *map, uint32_t cons)
{
	atomic_store_explicit((_Atomic(__u32) *)&map->hdr->cons, cons,
			      memory_order_release);
}

static inline void uet_store_hints(const struct uet_map *map, uint32_t hints)
{
	atomic_store_explicit((_Atomic(__u32) *)&map->hdr->hints, hints,
			      memory_order_relaxed);
}

/*
 * What the kernel says now. To be asked after uet_store_prod(); the fence pairs
 * with the kernel's between changing a flag and reading prod.
 */
static inline uint32_t uet_load_flags(const struct uet_map *map)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit((_Atomic(__u32) *)&map->hdr->flags,
				    memory_order_relaxed);
}

/* Receive queues: must the kernel be told of new entries? */
static inline bool uet_wants_kick(const struct uet_map *map)
{
	return uet_load_flags(map) & UET_RING_KICK;
}

/* Send queues: does the kernel find new entries by itself? */
static inline bool uet_kernel_looks(const struct uet_map *map)
{
	return uet_load_flags(map) & UET_RING_LOOKING;
}

#endif /* UET_RING_H */
