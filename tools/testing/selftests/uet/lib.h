/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the C tests share. One program plays both hosts: with the RDMA devices
 * of all namespaces visible to everyone it opens the one on either side, so
 * that it can compare memory directly.
 */
#ifndef UET_TEST_LIB_H
#define UET_TEST_LIB_H

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/types.h>

#include <infiniband/verbs.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PAGE		4096u
#define GUARD		0xdb
#define MAX_SGE		16
#define QKEY		0x11111111u
#define GRH_LEN		40

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)

extern unsigned int wait_s;	/* longest wait for a completion */
extern bool busy_poll;
extern const char *doing;	/* what was under way if it fails */

void say_failed(void);
void say_errno(int err);

/* Macros, so that the compiler checks formats and sees that they do not return. */
#define die(...) do {							\
	int errno_ = errno;						\
									\
	say_failed();							\
	fprintf(stderr, __VA_ARGS__);					\
	say_errno(errno_);						\
	exit(1);							\
} while (0)

#define skip(...) do {							\
	printf("SKIP: ");						\
	printf(__VA_ARGS__);						\
	printf("\n");							\
	exit(4);							\
} while (0)

/* xorshift; the seed is printed, so that a failure can be run again */
extern __u64 rnd_state;

__u32 rnd(void);

/* 0 .. n - 1 */
__u32 below(__u32 n);
__u64 now_ns(void);

/* One host: a device opened, one CQ for everything, one big memory region. */
struct side {
	const char *name;
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	__u8 *mem;
	size_t size;
	union ibv_gid gid;
	int gid_index;
	unsigned int events;	/* not acknowledged */
};

void parse_gid(const char *text, union ibv_gid *gid);
int find_gid(struct ibv_context *ctx, const union ibv_gid *gid);
struct ibv_context *open_device(const char *name);
void side_open(struct side *s, const char *name, const char *address,
	       size_t mem, int cqe);
void side_close(struct side *s);

/* Ask for the next event; true if a completion came in the meantime. */
bool arm(struct side *s, struct ibv_wc *wc);
bool event_came(struct side *s, unsigned int ms);

/* Next completion of @x or, if not NULL, @y: whose it is, or NULL after @ms. */
struct side *take_any(struct side *x, struct side *y, struct ibv_wc *wc,
		      unsigned int ms);
bool try_next(struct side *s, struct ibv_wc *wc, unsigned int ms);
void next(struct side *s, struct ibv_wc *wc);
void none_left(struct side *s);

#define expect(what, have, want) do {					\
	unsigned long long have_ = (have), want_ = (want);		\
									\
	errno = 0;							\
	if (have_ != want_)						\
		die("%s is %llu (0x%llx), not %llu (0x%llx)", what,	\
		    have_, have_, want_, want_);			\
} while (0)

void expect_status(const struct ibv_wc *wc, enum ibv_wc_status want);

/* How a connection is made; zero is a sensible default for each field. */
struct conn {
	enum ibv_qp_type type;	/* IBV_QPT_RC; or IBV_QPT_UC */
	__u32 depth;		/* 64 */
	__u32 sge;		/* as many as the device has, at most MAX_SGE */
	__u32 inline_data;
	bool sig_all;
	int path_mtu;		/* active_mtu */
	int timeout;		/* 16: with 7 retries, 8.6 s; -1: none */
	int retry, rnr_retry;	/* 7; -1: none */
	int min_rnr;		/* 1 = 10 us */
	int access;		/* all; -1: none */
	bool wr_api;		/* made for ibv_wr_*() */
	__u64 more_ops;		/* ... and for these: IBV_QP_EX_WITH_* */
	struct ibv_cq *cq;	/* the side's */
	struct ibv_pd *pd;	/* the side's */
	struct ibv_srq *srq;	/* none */
};

__u32 side_sge(const struct side *s);
struct ibv_qp *qp_create(struct side *s, enum ibv_qp_type type,
			 const struct conn *c);
int qp_init(struct ibv_qp *qp, const struct conn *c);
void ah_attr(const struct side *s, const union ibv_gid *peer,
	     struct ibv_ah_attr *attr);
struct ibv_ah *ah_to(struct side *s, const struct side *peer);
int qp_rtr(struct side *s, struct ibv_qp *qp, const union ibv_gid *peer,
	   __u32 peer_qpn, const struct conn *c);
int qp_rts(struct side *s, struct ibv_qp *qp, const struct conn *c);
void qp_connect(struct side *s, struct ibv_qp *qp, struct side *peer,
		__u32 peer_qpn, const struct conn *c);

struct pair {
	struct ibv_qp *a, *b;
};

void pair_open(struct side *a, struct side *b, struct pair *p,
	       const struct conn *c);
/* The same, but the two ends differ in more than their side */
void pair_open_as(struct side *a, const struct conn *ca, struct side *b,
		  const struct conn *cb, struct pair *p);
void pair_close(struct pair *p);
/* What a query of the state fills in, and the state */
struct ibv_qp_attr qp_now(struct ibv_qp *qp);
enum ibv_qp_state qp_state(struct ibv_qp *qp);
void to_state(struct ibv_qp *qp, enum ibv_qp_state state);

/* Has any packet of a message, which has no zeros, come to @mem, which had only those? */
bool some_came(const __u8 *mem, size_t len);

/* Scatter/gather list of pieces with guard bytes between them. */
struct sgl {
	int n;
	struct ibv_sge sge[MAX_SGE];
	size_t len;		/* bytes of data */
	size_t from, span;	/* part of the side's memory it lies in */
};

/*
 * Cut @len bytes into @n pieces behind @from. Each crosses a page boundary if
 * it has two bytes, starts at an odd place, and has guard bytes around it.
 */
void sgl_cut(struct side *s, struct sgl *l, size_t from, size_t len, int n);

/* Bytes that no test writes twice at the same distance. */
extern __u8 *noise;
extern size_t noise_len;

void noise_init(size_t len);

/* Fill the pieces with noise from a random place, which is returned. */
const __u8 *sgl_fill(struct side *s, struct sgl *l);

/*
 * The pieces hold the first @len bytes of @data; all other bytes of the part
 * of memory, between the pieces and behind @len, are still guard bytes.
 */
void sgl_check(struct side *s, const struct sgl *l, const __u8 *data,
	       size_t len);

#endif /* UET_TEST_LIB_H */
