// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A thousand jobs on a device and very many regions of one protection domain: all are
 * made, first, last and some between are used, and all go again, each in bounded time.
 *
 *	scale_many [-a DEV] [-A ADDR] [-b DEV] [-B ADDR] [-w SECONDS] [-n REGIONS] TEST...
 */
#include "ru_jobs.h"
#include "pair_test.h"

#define JOBS		1000
#define PAIR		0x3005
#define TRIES		100

static double seconds_since(__u64 start)
{
	return (now_ns() - start) / 1e9;
}

/* ------------------------------------------------------------------ */

/* In the middle of the id space and at both its ends */
static __u32 job_id(unsigned int i)
{
	return i == JOBS - 1 ? 0xffffff : 1 + i * 16000;
}

/* Hears of all jobs */
static struct uetdv_jkey *keys[2][JOBS];

static void jobs_say(struct member *a, struct member *b, unsigned int i)
{
	struct done d;

	post_recv(b, i, 0, 64);
	begin(a, i, 0);
	uetdv_wr_send_imm64(a->dvx, htobe64(i));
	uetdv_wr_set_ru_addr(a->dvx, a->ah, PAIR, keys[0][i]->jkey);
	ibv_wr_set_sge(a->qpx, a->own->lkey, (uintptr_t)a->mem, 8);
	finish(a);
	take(b, &d);
	expect("status", d.status, IBV_WC_SUCCESS);
	expect("job of the message", d.job_id, job_id(i));
	expect("immediate", d.imm, i);
	expect_done(a, IBV_WC_SUCCESS, 0);
}

static void test_jobs(void)
{
	static struct uetdv_job *job[2][JOBS];
	__u64 start = now_ns();
	struct member m[2];
	unsigned int i;
	int h;

	for (h = 0; h < 2; h++) {
		member_join(&m[h], h, UETDV_ADDR_ABSOLUTE, PAIR, h, NULL, NULL);
		for (i = 0; i < JOBS; i++) {
			job[h][i] = job_on(h, job_id(i));
			keys[h][i] = uetdv_create_jkey(m[h].pd, job[h][i], 0);
			if (!keys[h][i])
				die("key of job %u", i);
		}
	}
	printf("# twice %u jobs with a key each in %.2f s\n", JOBS,
	       seconds_since(start));
	for (i = 0; i < JOBS; i++)
		jobs_say(&m[0], &m[1], i);
	start = now_ns();
	for (h = 0; h < 2; h++) {
		for (i = 0; i < JOBS; i++) {
			errno = uetdv_destroy_jkey(keys[h][i]);
			if (errno)
				die("key of job %u", i);
			job_end(job[h][i]);
		}
		member_leave(&m[h]);
	}
	printf("# and gone in %.2f s\n", seconds_since(start));
}

/* ------------------------------------------------------------------ */

static struct ibv_mr **region;

/* Regions of host 2 that lie 64 bytes apart in one page after the other */
static void write_region(struct member *a, struct member *b, unsigned int i)
{
	__u64 word = 0xabcd000000000000 | i, got;
	uint64_t rkey;
	size_t at = (size_t)i * 64 % (MEM_SIZE - 64);

	errno = uetdv_mr_rkey64(region[i], &rkey);
	if (errno)
		die("key of region %u", i);
	memset(b->mem + at, GUARD, 64);
	memcpy(a->mem, &word, 8);
	begin(a, i, 0);
	uetdv_wr_rdma_write64(a->dvx, rkey, (uintptr_t)b->mem + at);
	to_pair(a, PAIR, -1, 0, 8);
	finish(a);
	expect_done(a, IBV_WC_SUCCESS, 0);
	memcpy(&got, b->mem + at, 8);
	expect("word", got, word);
	expect("byte behind it", b->mem[at + 8], GUARD);
	/* Its neighbours have keys of their own. */
	begin(a, i, 0);
	uetdv_wr_rdma_write64(a->dvx, rkey, (uintptr_t)b->mem + at + 60);
	to_pair(a, PAIR, -1, 0, 8);
	finish(a);
	expect_done(a, IBV_WC_REM_ACCESS_ERR, 0x1d);
}

static void test_regions(void)
{
	__u64 start = now_ns();
	struct member m[2];
	unsigned int i;
	uint64_t rkey;

	member_join(&m[0], 0, UETDV_ADDR_ABSOLUTE, PAIR, 1, NULL, NULL);
	member_join(&m[1], 1, UETDV_ADDR_ABSOLUTE, PAIR, 2, NULL, NULL);
	region = calloc(rounds, sizeof(*region));
	for (i = 0; i < rounds; i++) {
		size_t at = (size_t)i * 64 % (MEM_SIZE - 64);

		region[i] = ibv_reg_mr(m[1].pd, m[1].mem + at, 64,
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_WRITE);
		if (!region[i])
			die("region %u", i);
	}
	printf("# %u regions in %.2f s\n", rounds, seconds_since(start));
	start = now_ns();
	write_region(&m[0], &m[1], 0);
	write_region(&m[0], &m[1], rounds - 1);
	for (i = 0; i < TRIES; i++)
		write_region(&m[0], &m[1], below(rounds));
	printf("# %u of them used in %.2f s\n", TRIES + 2,
	       seconds_since(start));
	errno = uetdv_mr_rkey64(region[rounds / 2], &rkey);
	start = now_ns();
	for (i = 0; i < rounds; i++)
		if (ibv_dereg_mr(region[i]))
			die("dereg_mr %u", i);
	printf("# and gone in %.2f s\n", seconds_since(start));
	begin(&m[0], 0, 0);
	uetdv_wr_rdma_write64(m[0].dvx, rkey, (uintptr_t)m[1].mem);
	to_pair(&m[0], PAIR, -1, 0, 8);
	finish(&m[0]);
	expect_done(&m[0], IBV_WC_REM_ACCESS_ERR, RC_BAD_MKEY);
	free(region);
	member_leave(&m[0]);
	member_leave(&m[1]);
}

static const struct entry entries[] = {
	{ "jobs", test_jobs },
	{ "regions", test_regions },
	{}
};

int main(int argc, char **argv)
{
	char **names = pair_options(argc, argv, entries, NULL);
	int h;

	side_open(&host[0], dev_a, addr_a, 0, 16);
	side_open(&host[1], dev_b, addr_b, 0, 16);
	for (; *names; names++)
		pair_run(*names, entries);
	for (h = 0; h < 2; h++)
		side_close(&host[h]);
	return 0;
}
