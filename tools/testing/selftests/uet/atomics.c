// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Contended atomics: every addition counts once, and every old value comes back
 * to exactly one of those who asked. Started by atomics.sh.
 *
 *	atomics -a DEV -A ADDR -b DEV -B ADDR [-n OPS] [-w SECONDS] qps | procs | cas
 *
 * qps: two QPs of one process; procs: eight processes with a QP each; cas: the
 * same with compare-and-swap loops. The word is on host a, the users on host b.
 */
#include <sys/wait.h>

#include "pair_test.h"

#define DEPTH		16
#define MAX_USERS	8

static struct conn conn = {
	.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	.timeout = 17,
};

/* Shared by all processes */
struct shared {
	uint32_t qpn[MAX_USERS], peer_qpn[MAX_USERS];
	uint32_t connected[MAX_USERS];
	uint64_t attempts[MAX_USERS];
	uint8_t seen[];		/* by old value: how often it came back */
};

static struct shared *shared;
static struct ibv_mr *word_mr;
static uint64_t *word;

static void open_word(void)
{
	side_open(&A, dev_a, addr_a, 0, 64);
	word = aligned_alloc(PAGE, PAGE);
	memset(word, 0, PAGE);
	word_mr = ibv_reg_mr(A.pd, word, PAGE, IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_ATOMIC);
	if (!word_mr && (errno == EOPNOTSUPP || errno == EINVAL))
		skip("no atomics here");
	if (!word_mr)
		die("register the word");
	if (A.attr.atomic_cap == IBV_ATOMIC_NONE)
		die("the device says it has no atomics");
}

static void close_word(void)
{
	if (ibv_dereg_mr(word_mr))
		die("dereg_mr");
	free(word);
	side_close(&A);
}

struct remote {
	uint64_t addr;
	uint32_t rkey;
};

static struct remote remote;

static void post_atomic(struct ibv_qp *qp, struct side *s, unsigned int slot,
			enum ibv_wr_opcode op, uint64_t compare_add,
			uint64_t swap)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->mem + slot * 8,
		.length = 8,
		.lkey = s->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = slot,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = {
			.remote_addr = remote.addr,
			.compare_add = compare_add,
			.swap = swap,
			.rkey = remote.rkey,
		},
	};
	int err = ibv_post_send(qp, &wr, &bad);

	if (err) {
		errno = err;
		die("post an atomic");
	}
}

static uint64_t old_value(const struct side *s, unsigned int slot)
{
	return __atomic_load_n((uint64_t *)s->mem + slot, __ATOMIC_ACQUIRE);
}

static void saw(uint64_t value, unsigned int total)
{
	errno = 0;
	if (value >= total)
		die("an old value of %llu came back",
		    (unsigned long long)value);
	if (__atomic_fetch_add(&shared->seen[value], 1, __ATOMIC_RELAXED))
		die("the old value %llu came back twice",
		    (unsigned long long)value);
}

static void take(struct side *s, struct ibv_wc *wc)
{
	next(s, wc);
	expect_status(wc, IBV_WC_SUCCESS);
	expect("byte_len", wc->byte_len, 8);
}

/* Additions of 1 over @nr QPs by turns, DEPTH at a time on each. */
static void add(struct side *s, struct ibv_qp **qp, unsigned int nr,
		unsigned int total)
{
	unsigned int posted = 0, done = 0, ops = rounds * nr;
	struct ibv_wc wc;

	while (posted < DEPTH * nr && posted < ops) {
		post_atomic(qp[posted % nr], s, posted,
			    IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0);
		posted++;
	}
	while (done < ops) {
		take(s, &wc);
		expect("opcode", wc.opcode, IBV_WC_FETCH_ADD);
		saw(old_value(s, wc.wr_id), total);
		done++;
		if (posted < ops) {
			post_atomic(qp[wc.wr_id % nr], s, wc.wr_id,
				    IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0);
			posted++;
		}
	}
	none_left(s);
}

/* As many increments by compare and swap; what was there is tried again. */
static uint64_t add_by_cas(struct side *s, struct ibv_qp *qp,
			   unsigned int total)
{
	uint64_t guess = 0, old, attempts = 0;
	unsigned int done = 0;
	struct ibv_wc wc;

	while (done < rounds) {
		post_atomic(qp, s, 0, IBV_WR_ATOMIC_CMP_AND_SWP, guess,
			    guess + 1);
		take(s, &wc);
		expect("opcode", wc.opcode, IBV_WC_COMP_SWAP);
		attempts++;
		old = old_value(s, 0);
		if (old == guess) {
			saw(old, total);
			done++;
			old++;
		}
		guess = old;
	}
	return attempts;
}

static void all_seen(unsigned int total)
{
	unsigned int i;

	errno = 0;
	expect("the sum", *(volatile uint64_t *)word, total);
	for (i = 0; i < total; i++)
		if (shared->seen[i] != 1)
			die("the old value %u came back %u times", i,
			    shared->seen[i]);
	for (i = 1; i < PAGE / 8; i++)
		if (word[i])
			die("word %u was written", i);
}

static void make_shared(unsigned int total)
{
	shared = mmap(NULL, sizeof(*shared) + total, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("shared memory");
}

static void two_qps(void)
{
	unsigned int total = 2 * rounds, i;
	struct pair pair[2];
	struct ibv_qp *qp[2];

	make_shared(total);
	open_word();
	remote = (struct remote){ (uintptr_t)word, word_mr->rkey };
	side_open(&B, dev_b, addr_b, PAGE, 256);
	for (i = 0; i < 2; i++) {
		pair_open(&A, &B, &pair[i], &conn);
		qp[i] = pair[i].b;
	}
	add(&B, qp, 2, total);
	all_seen(total);
	for (i = 0; i < 2; i++)
		pair_close(&pair[i]);
	side_close(&B);
	close_word();
}

static void wait_for(const uint32_t *what)
{
	uint64_t end = now_ns() + wait_s * 1000000000ull;

	errno = 0;
	while (!__atomic_load_n(what, __ATOMIC_ACQUIRE)) {
		if (now_ns() > end)
			die("the other process did not come");
		usleep(1000);
	}
}

/* A process of host b: everything of its own. */
static int user(unsigned int n, bool cas, unsigned int total)
{
	struct ibv_qp *qp;

	side_open(&B, dev_b, addr_b, PAGE, 256);
	qp = qp_create(&B, IBV_QPT_RC, &conn);
	__atomic_store_n(&shared->qpn[n], qp->qp_num, __ATOMIC_RELEASE);
	wait_for(&shared->peer_qpn[n]);
	parse_gid(addr_a, &A.gid);
	qp_connect(&B, qp, &A, shared->peer_qpn[n], &conn);
	/* All begin together */
	__atomic_store_n(&shared->connected[n], 1, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < MAX_USERS; i++)
		wait_for(&shared->connected[i]);
	if (cas)
		shared->attempts[n] = add_by_cas(&B, qp, total);
	else
		add(&B, &qp, 1, total);
	if (ibv_destroy_qp(qp))
		die("destroy_qp");
	side_close(&B);
	return 0;
}

static void eight_processes(bool cas)
{
	unsigned int total = MAX_USERS * rounds, i;
	struct ibv_qp *qp[MAX_USERS];
	uint64_t attempts = 0;
	pid_t pid[MAX_USERS];
	int status;

	make_shared(total);
	open_word();
	remote = (struct remote){ (uintptr_t)word, word_mr->rkey };
	fflush(stdout);
	for (i = 0; i < MAX_USERS; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			die("fork");
		if (!pid[i])
			exit(user(i, cas, total));
	}
	parse_gid(addr_b, &B.gid);
	for (i = 0; i < MAX_USERS; i++) {
		wait_for(&shared->qpn[i]);
		qp[i] = qp_create(&A, IBV_QPT_RC, &conn);
		qp_connect(&A, qp[i], &B, shared->qpn[i], &conn);
		__atomic_store_n(&shared->peer_qpn[i], qp[i]->qp_num,
				 __ATOMIC_RELEASE);
	}
	for (i = 0; i < MAX_USERS; i++) {
		if (waitpid(pid[i], &status, 0) != pid[i] || status)
			die("process %u ended with %#x", i, status);
		attempts += shared->attempts[i];
	}
	all_seen(total);
	if (cas)
		printf("%llu of %llu swaps were lost to others\n",
		       (unsigned long long)attempts - total,
		       (unsigned long long)attempts);
	for (i = 0; i < MAX_USERS; i++)
		if (ibv_destroy_qp(qp[i]))
			die("destroy_qp");
	close_word();
}

static void procs(void)
{
	eight_processes(false);
}

static void cas(void)
{
	eight_processes(true);
}

static const struct entry tests[] = {
	{ "qps", two_qps },
	{ "procs", procs },
	{ "cas", cas },
	{}
};

int main(int argc, char **argv)
{
	char **names;

	rounds = 2000;
	for (names = pair_options(argc, argv, tests, NULL); *names; names++)
		pair_run(*names, tests);
	return 0;
}
