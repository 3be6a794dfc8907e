// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs on the wire: who hears whom under relative and absolute addressing, what
 * outsiders are told, and what travels with a request. Plays both hosts.
 *
 *	ru_jobs [-a DEV] [-A ADDR] [-b DEV] [-B ADDR] [-w SECONDS] [-f FORGER] TEST...
 */
#include "ru_jobs.h"

#define JOB1	0x1001
#define JOB2	0xfffffe
#define PAIR	0x3005		/* RI 3, PIDonFEP 5 */
#define OTHER	0x4006
#define ALIEN	0x5007

static const char *forger = "./ru_forge.py";

/* ------------------------------------------------------------------ */
/* Who hears whom                                                      */

static void hears(struct member *from, struct member *to, __u64 imm,
		  __u32 job_id, __u32 src_id)
{
	struct done d;

	post_recv(to, imm, 0, 64);
	send64(from, to->wire, -1, imm, 10);
	take(to, &d);
	errno = 0;
	if (d.status != IBV_WC_SUCCESS)
		die("%s", ibv_wc_status_str(d.status));
	expect("wr_id", d.wr_id, imm);
	expect("immediate", d.imm, imm);
	expect("job", d.job_id, job_id);
	expect("source", d.src_id, src_id);
	expect("bytes", d.len, 10);
	expect_done(from, IBV_WC_SUCCESS, 0);
}

/* One wire pair thrice: in two jobs, and absolute. */
static void test_apart(void)
{
	struct uetdv_job *job1[2], *job2[2];
	struct member one[2], two[2], none[2];
	int h, round;

	for (h = 0; h < 2; h++) {
		job1[h] = job_on(h, JOB1);
		job2[h] = job_on(h, JOB2);
		member_join(&one[h], h, UETDV_ADDR_RELATIVE, PAIR, 100 + h,
			    job1[h], NULL);
		member_join(&two[h], h, UETDV_ADDR_RELATIVE, PAIR, 200 + h,
			    job2[h], NULL);
		member_join(&none[h], h, UETDV_ADDR_ABSOLUTE, PAIR, 300 + h,
			    NULL, NULL);
	}
	for (round = 0; round < 20; round++) {
		h = round & 1;
		hears(&one[h], &one[!h], 0x1111222233334444 + round, JOB1,
		      100 + h);
		hears(&two[h], &two[!h], 0xfedcba9876543210 + round, JOB2,
		      200 + h);
		hears(&none[h], &none[!h], ~0ull - round, 0, 300 + h);
	}
	for (h = 0; h < 2; h++) {
		nothing(&one[h]);
		nothing(&two[h]);
		nothing(&none[h]);
	}

	/* The end of one takes nothing from the others */
	member_leave(&one[1]);
	send64(&one[0], PAIR, -1, 7, 0);
	expect_done(&one[0], IBV_WC_REM_INV_REQ_ERR, RC_UNDELIVERABLE);
	hears(&two[0], &two[1], 8, JOB2, 200);
	hears(&none[0], &none[1], 9, 0, 300);
	member_leave(&one[0]);
	for (h = 0; h < 2; h++) {
		member_leave(&two[h]);
		member_leave(&none[h]);
		job_end(job1[h]);
		job_end(job2[h]);
	}
}

/* A request that is to be refused, that nobody sees, and that spoils nothing. */
static void refused(struct member *from, __u32 pair, int job, __u32 rc,
		    const char *stat)
{
	enum ibv_wc_status status = rc == RC_UNDELIVERABLE ?
		IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_ACCESS_ERR;
	__u64 before = counted(1, stat);

	send64(from, pair, job, 1, 10);
	expect_done(from, status, rc);
	begin(from, 2, 0);
	uetdv_wr_rdma_write64(from->dvx, MEM_KEY, 0);
	to_pair(from, pair, job, 0, 64);
	finish(from);
	expect_done(from, status, rc);
	begin(from, 3, 0);
	uetdv_wr_atomic_fetch_add64(from->dvx, MEM_KEY, 0, 1);
	to_pair(from, pair, job, 0, 8);
	finish(from);
	expect_done(from, status, rc);
	expect(stat, counted(1, stat), before + 3);
	expect("state", qp_state(from->qp), IBV_QPS_RTS);
}

static void untouched(const struct member *m)
{
	__u32 i;

	errno = 0;
	for (i = 0; i < MEM_SIZE; i++)
		if (m->mem[i] != GUARD)
			die("byte %u of QP %#x is %02x", i, m->wire, m->mem[i]);
}

static void test_refused(void)
{
	struct uetdv_job *job1[2], *job2[2];
	struct member rel, abs, alien, to_rel, to_abs, to_alien;
	int h;

	for (h = 0; h < 2; h++) {
		job1[h] = job_on(h, JOB1);
		job2[h] = job_on(h, JOB2);
	}
	member_join(&rel, 0, UETDV_ADDR_RELATIVE, PAIR, 1, job1[0], NULL);
	member_join(&alien, 0, UETDV_ADDR_RELATIVE, PAIR, 1, job2[0], NULL);
	member_join(&abs, 0, UETDV_ADDR_ABSOLUTE, PAIR, 1, job1[0], job2[0]);
	member_join(&to_rel, 1, UETDV_ADDR_RELATIVE, PAIR, 2, job1[1], NULL);
	member_join(&to_abs, 1, UETDV_ADDR_ABSOLUTE, OTHER, 2, job1[1], NULL);
	member_join(&to_alien, 1, UETDV_ADDR_ABSOLUTE, ALIEN, 2, NULL, NULL);
	post_recv(&to_rel, 9, 0, 64);
	post_recv(&to_abs, 9, 0, 64);
	post_recv(&to_alien, 9, 0, 64);

	doing = "a pair that is not there";
	refused(&rel, ALIEN, -1, RC_UNDELIVERABLE, "refused_no_ep");
	refused(&abs, PAIR + 1, 0, RC_UNDELIVERABLE, "refused_no_ep");
	doing = "a pair of another job";
	refused(&alien, PAIR, -1, RC_UNDELIVERABLE, "refused_no_ep");
	doing = "absolute to relative";
	refused(&abs, PAIR, 0, RC_UNDELIVERABLE, "refused_no_ep");
	doing = "relative to absolute";
	refused(&rel, OTHER, -1, RC_UNDELIVERABLE, "refused_no_ep");
	doing = "a job that the target has no key for";
	refused(&abs, OTHER, 1, RC_BAD_JOB_ID, "refused_job");
	refused(&abs, ALIEN, 0, RC_BAD_JOB_ID, "refused_job");

	doing = "nobody saw it";
	nothing(&to_rel);
	nothing(&to_abs);
	nothing(&to_alien);
	untouched(&to_rel);
	untouched(&to_abs);
	untouched(&to_alien);
	doing = "what is allowed still works";
	hears(&rel, &to_rel, 9, JOB1, 1);
	send64(&abs, OTHER, 0, 10, 10);
	expect_done(&abs, IBV_WC_SUCCESS, 0);
	expect_done(&to_abs, IBV_WC_SUCCESS, 0);

	doing = "the job key goes";
	member_leave(&to_abs);
	member_join(&to_abs, 1, UETDV_ADDR_ABSOLUTE, OTHER, 2, NULL, job2[1]);
	refused(&abs, OTHER, 0, RC_BAD_JOB_ID, "refused_job");
	doing = "the job is ended";
	if (system("uet -n h2 job del dev u2 id 0x1001 force"))
		die("uet job del");
	refused(&rel, PAIR, -1, RC_BAD_JOB_ID, "refused_job");

	member_leave(&rel);
	member_leave(&abs);
	member_leave(&alien);
	member_leave(&to_rel);
	member_leave(&to_abs);
	member_leave(&to_alien);
	for (h = 0; h < 2; h++) {
		job_end(job1[h]);
		job_end(job2[h]);
	}
}

/* ------------------------------------------------------------------ */
/* What travels                                                        */

static void fill(struct member *m, __u32 at, __u32 len, __u32 seed)
{
	__u32 i;

	for (i = 0; i < len; i++)
		m->mem[at + i] = seed + i * 7 + (i >> 8);
}

static void same(const struct member *a, __u32 at, const struct member *b,
		 __u32 bt, __u32 len)
{
	errno = 0;
	if (memcmp(a->mem + at, b->mem + bt, len))
		die("%u bytes differ", len);
	if (b->mem[bt + len] != GUARD)
		die("written behind %u bytes", len);
}

/* Each operation with @len bytes; half of them ask for the delivery. */
static void each_op(struct member *a, struct member *b, int job, __u32 job_id,
		    __u32 len, __u32 flags)
{
	const __u32 far = MEM_SIZE / 2;
	struct done d;
	__u64 word;

	memset(b->mem, GUARD, MEM_SIZE);
	fill(a, 0, len, len);
	post_recv(b, 1, 0, far);
	begin(a, 1, flags);
	uetdv_wr_send_imm64(a->dvx, htobe64(0x8877665544332211));
	to_pair(a, b->wire, job, 0, len);
	finish(a);
	take(b, &d);
	expect("immediate of SEND", d.imm, 0x8877665544332211);
	expect("bytes", d.len, len);
	expect("job", d.job_id, job_id);
	expect_done(a, IBV_WC_SUCCESS, 0);
	same(a, 0, b, 0, len);

	fill(a, 0, len, len + 1);
	post_recv(b, 2, 0, 0);
	begin(a, 2, flags);
	uetdv_wr_rdma_write64_imm64(a->dvx, MEM_KEY, far,
				    htobe64(0xf00000010000000f));
	to_pair(a, b->wire, job, 0, len);
	finish(a);
	take(b, &d);
	expect("immediate of WRITE", d.imm, 0xf00000010000000f);
	expect("operation", d.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	expect("job", d.job_id, job_id);
	expect_done(a, IBV_WC_SUCCESS, 0);
	same(a, 0, b, far, len);

	memset(a->mem, GUARD, MEM_SIZE);
	begin(a, 3, flags);
	uetdv_wr_rdma_read64(a->dvx, MEM_KEY, far);
	to_pair(a, b->wire, job, 0, len);
	finish(a);
	expect_done(a, IBV_WC_SUCCESS, 0);
	same(b, far, a, 0, len);

	word = 5;
	memcpy(b->mem, &word, 8);
	begin(a, 4, flags);
	uetdv_wr_atomic_fetch_add64(a->dvx, MEM_KEY, 0, 1ull << 40);
	to_pair(a, b->wire, job, 8, 8);
	finish(a);
	expect_done(a, IBV_WC_SUCCESS, 0);
	memcpy(&word, a->mem + 8, 8);
	expect("old value", word, 5);
	begin(a, 5, flags);
	uetdv_wr_atomic_cmp_swp64(a->dvx, MEM_KEY, 0, (1ull << 40) + 5, 77);
	to_pair(a, b->wire, job, 8, 8);
	finish(a);
	expect_done(a, IBV_WC_SUCCESS, 0);
	memcpy(&word, b->mem, 8);
	expect("new value", word, 77);
}

static void test_ops(void)
{
	static const __u32 lengths[] = { 0, 1, 16, 17, 1023, 1024, 1025, 8192,
					 100000, MEM_SIZE / 2 - 1 };
	struct uetdv_job *job[2] = { job_on(0, JOB1), job_on(1, JOB1) };
	struct member rel[2], abs[2];
	unsigned int i;
	int h;

	for (h = 0; h < 2; h++) {
		member_join(&rel[h], h, UETDV_ADDR_RELATIVE, PAIR, h, job[h],
			    NULL);
		member_join(&abs[h], h, UETDV_ADDR_ABSOLUTE, OTHER, h, job[h],
			    NULL);
	}
	for (i = 0; i < 2 * ARRAY_SIZE(lengths); i++) {
		__u32 flags = i & 1 ? UETDV_SEND_DELIVERY_COMPLETE : 0;

		h = i & 1;
		doing = "relative";
		each_op(&rel[h], &rel[!h], -1, JOB1, lengths[i / 2], flags);
		doing = "absolute, in the job";
		each_op(&abs[h], &abs[!h], 0, JOB1, lengths[i / 2], flags);
		doing = "absolute, without job";
		each_op(&abs[h], &abs[!h], -1, 0, lengths[i / 2], flags);
	}
	for (h = 0; h < 2; h++) {
		member_leave(&rel[h]);
		member_leave(&abs[h]);
		job_end(job[h]);
	}
}

/* ------------------------------------------------------------------ */
/* PDCs                                                                */

/* More long messages than there are PDCs, and then a short one. */
static void test_passes(void)
{
	struct member a, b;
	struct done d;
	int i;

	member_join(&a, 0, UETDV_ADDR_ABSOLUTE, PAIR, 1, NULL, NULL);
	member_join(&b, 1, UETDV_ADDR_ABSOLUTE, PAIR, 2, NULL, NULL);
	ibv_wr_start(a.qpx);
	for (i = 0; i < 12; i++) {
		a.qpx->wr_id = i;
		a.qpx->wr_flags = 0;
		uetdv_wr_rdma_write64(a.dvx, MEM_KEY, 0);
		to_pair(&a, PAIR, -1, 0, MEM_SIZE);
	}
	a.qpx->wr_id = 100;
	a.qpx->wr_flags = 0;
	uetdv_wr_rdma_write64(a.dvx, MEM_KEY, 0);
	to_pair(&a, PAIR, -1, 0, 8);
	finish(&a);
	take(&a, &d);
	expect("status", d.status, IBV_WC_SUCCESS);
	expect("first to complete", d.wr_id, 100);
	for (i = 0; i < 12; i++)
		expect_done(&a, IBV_WC_SUCCESS, 0);
	member_leave(&a);
	member_leave(&b);
}

static __u64 left_v1(void)
{
	return number_from("ip -n h1 -j -s link show v1 | jq '.[0].stats64.tx.packets'");
}

/* What is posted at once leaves in bursts: few packets for the device. */
static void test_together(void)
{
	struct member a, b;
	__u64 before, skbs;
	int i;

	member_join(&a, 0, UETDV_ADDR_ABSOLUTE, PAIR, 1, NULL, NULL);
	member_join(&b, 1, UETDV_ADDR_ABSOLUTE, PAIR, 2, NULL, NULL);
	for (i = 0; i < DEPTH; i++)
		post_recv(&b, i, i * 64, 64);
	/* The PDC is there, and its window known */
	send64(&a, PAIR, -1, 0, 8);
	expect_done(&a, IBV_WC_SUCCESS, 0);
	expect_done(&b, IBV_WC_SUCCESS, 0);
	post_recv(&b, 0, 0, 64);
	before = left_v1();
	ibv_wr_start(a.qpx);
	for (i = 0; i < DEPTH; i++) {
		a.qpx->wr_id = i;
		a.qpx->wr_flags = 0;
		uetdv_wr_send_imm64(a.dvx, htobe64(i));
		to_pair(&a, PAIR, -1, 0, 32);
	}
	finish(&a);
	for (i = 0; i < DEPTH; i++) {
		expect_done(&a, IBV_WC_SUCCESS, 0);
		expect_done(&b, IBV_WC_SUCCESS, 0);
	}
	skbs = left_v1() - before;
	printf("# %d messages left as %llu packets of the device\n", DEPTH,
	       (unsigned long long)skbs);
	errno = 0;
	if (skbs > DEPTH / 4)
		die("%d messages in %llu packets", DEPTH,
		    (unsigned long long)skbs);
	member_leave(&a);
	member_leave(&b);
}

/* ------------------------------------------------------------------ */
/* Outsiders                                                           */

/* A packet of no QP, from host 1 or, if @h, from host 2 to itself. */
static void forge(int h, bool sent, const char *what)
{
	char command[512];
	int ret;

	snprintf(command, sizeof(command),
		 "ip netns exec h%d python3 %s -s %s -d %s %s", h + 1, forger,
		 h ? "10.0.0.2" : "10.0.0.1", "10.0.0.2", what);
	ret = system(command);
	errno = 0;
	if (!WIFEXITED(ret) || WEXITSTATUS(ret) != (sent ? 0 : 3))
		die("%s: ended with %#x", command, ret);
}

/* What becomes of a guess, and the counter that says so. */
static const struct {
	const char *what;
	const char *stat;
} guess[] = {
	{ "--relative --job 0 --pair 0x3005 --key 0x4a4f42", "refused_job" },
	{ "--relative --job 0x1002 --pair 0x3005 --key 0x4a4f42", "refused_no_ep" },
	{ "--relative --job 0x1001 --pair 0x3006 --key 0x4a4f42", "refused_no_ep" },
	{ "--relative --job 0x1001 --pair 0x3005 --key 0x4a4f43", "refused_key" },
	{ "--job 0x1001 --pair 0x3005 --key 0x4a4f42", "refused_no_ep" },
	{ "--job 0x1002 --pair 0x4006 --key 0x4a4f42", "refused_job" },
	{ "--job 0x1001 --pair 0x4006 --key 0x4a4f43", "refused_key" },
	{ "--pair 0x5007 --key 0x4a4f43", "refused_key" },
	{ "--dpdcid 0x1234 --pair 0x4006 --key 0x4a4f42", "drop_pdc_unknown" },
};

static __u64 guesses_counted(void)
{
	return counted(1, "refused_no_ep") + counted(1, "refused_job") +
	       counted(1, "refused_key") + counted(1, "drop_pdc_unknown");
}

/* One who can send packets as he likes, and guesses. */
static void test_forged(void)
{
	struct uetdv_job *job = job_on(1, JOB1);
	struct member rel, abs, none;
	__u64 before, dropped;
	unsigned int i;

	member_join(&rel, 1, UETDV_ADDR_RELATIVE, PAIR, 1, job, NULL);
	member_join(&abs, 1, UETDV_ADDR_ABSOLUTE, OTHER, 1, job, NULL);
	member_join(&none, 1, UETDV_ADDR_ABSOLUTE, ALIEN, 1, NULL, NULL);

	doing = "the filter is on";
	dropped = counted(0, "drop_local");
	before = guesses_counted();
	for (i = 0; i < ARRAY_SIZE(guess); i++)
		forge(0, false, guess[i].what);
	forge(0, false, "--relative --job 0x1001 --pair 0x3005 --key 0x4a4f42");
	expect("drop_local", counted(0, "drop_local"), dropped + i + 1);
	expect("guesses that arrived", guesses_counted(), before);

	doing = "the filter is off";
	if (system("uet -n h1 dev set u1 local-filter off"))
		die("local-filter off");
	for (i = 0; i < ARRAY_SIZE(guess); i++) {
		doing = guess[i].what;
		before = counted(1, guess[i].stat);
		forge(0, true, guess[i].what);
		expect(guess[i].stat, counted(1, guess[i].stat), before + 1);
	}
	if (system("uet -n h1 dev set u1 local-filter on"))
		die("local-filter on");
	nothing(&rel);
	nothing(&abs);
	nothing(&none);
	untouched(&rel);
	untouched(&abs);
	untouched(&none);
	member_leave(&rel);
	member_leave(&abs);
	member_leave(&none);
	job_end(job);
}

#define FORGED_READ	"--pair 0x5007 --key 0x4a4f42"

/* PDCs of the forger, one for each test: they stay for a while */
enum { FORGED_GREEDY = 16962, FORGED_LATE, FORGED_NEW };

/* The options of the first packet of such a PDC, and of the next. */
static void forged_first(char *to, int spdcid)
{
	sprintf(to, " --spdcid %d --psn 5", spdcid);
}

static void forged_next(char *to, int spdcid)
{
	char command[80];

	/* The PDCID that host 2 gave it */
	sprintf(command, "uet -n h2 -j pdc | jq '.[] | select(.peer_id == %d).id'",
		spdcid);
	sprintf(to, " --spdcid %d --psn 6 --dpdcid %llu", spdcid,
		number_from(command));
}

/*
 * One who asks for more and more, and takes none of it, waits after as many READs as
 * a reader can have under way.
 */
static void test_greedy(void)
{
	__u64 before = counted(1, "tx_nacks"), dropped;
	struct member m;
	char what[128], *end;

	member_join(&m, 1, UETDV_ADDR_ABSOLUTE, ALIEN, 1, NULL, NULL);
	if (system("uet -n h1 dev set u1 local-filter off") ||
	    system("tc -n h2 qdisc replace dev v2 root netem loss 100%"))
		die("set up");
	end = stpcpy(what, FORGED_READ " --reads 1");
	forged_first(end, FORGED_GREEDY);
	forge(0, true, what);
	end = stpcpy(what, FORGED_READ " --reads 20000");
	forged_next(end, FORGED_GREEDY);
	dropped = counted(1, "drop_out_of_window");
	forge(0, true, what);
	before = counted(1, "tx_nacks") - before;
	dropped = counted(1, "drop_out_of_window") - dropped;
	printf("%llu refused, %llu behind them\n", (unsigned long long)before,
	       (unsigned long long)dropped);
	if (system("tc -n h2 qdisc del dev v2 root") ||
	    system("uet -n h1 dev set u1 local-filter on"))
		die("clean up");
	errno = 0;
	if (!before || !dropped)
		die("all READs were accepted");
	nothing(&m);
	member_leave(&m);
}

static void reconnect(struct pair *p, const struct conn *c)
{
	to_state(p->a, IBV_QPS_RESET);
	to_state(p->b, IBV_QPS_RESET);
	qp_connect(&host[0], p->a, &host[1], p->b->qp_num, c);
	qp_connect(&host[1], p->b, &host[0], p->a->qp_num, c);
}

/* Does a forged WRITE come to @mem? */
static bool comes_to(__u8 *mem, const char *what)
{
	__u64 start = now_ns(), refused = counted(1, "refused_no_ep");

	memset(mem, 0, 8);
	forge(0, true, what);
	while (!READ_ONCE(mem[7]) &&
	       counted(1, "refused_no_ep") == refused) {
		errno = 0;
		if (now_ns() - start > wait_s * 1000000000ull)
			die("neither written nor refused");
	}
	return mem[7];
}

/*
 * What was sent on a connection and comes when its QPs are those of another one.
 * Here an outsider, whom nothing tells from the peer, sends it.
 */
static void test_late(void)
{
	static const struct conn conn = { .type = IBV_QPT_RC };
	static __u8 mem[8];
	char what[256], *end;
	struct ibv_mr *mr;
	struct pair p;

	mr = ibv_reg_mr(host[1].pd, mem, sizeof(mem),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr || system("uet -n h1 dev set u1 local-filter off"))
		die("set up");
	pair_open(&host[0], &host[1], &p, &conn);
	end = what + sprintf(what, "--rod --pair %u --initiator %u --key %u --at %lu",
			     p.b->qp_num, p.a->qp_num, mr->rkey, (uintptr_t)mem);
	forged_first(end, FORGED_LATE);
	expect("written", comes_to(mem, what), true);
	forged_next(end, FORGED_LATE);
	reconnect(&p, &conn);
	expect("written late", comes_to(mem, what), false);
	expect("state of the QP", qp_state(p.b), IBV_QPS_RTS);
	/* The new connection has a PDC of its own. */
	forged_first(end, FORGED_NEW);
	expect("written on the new connection", comes_to(mem, what), true);
	pair_close(&p);
	if (ibv_dereg_mr(mr) || system("uet -n h1 dev set u1 local-filter on"))
		die("clean up");
}

/* ------------------------------------------------------------------ */

static const struct entry tests[] = {
	{ "apart", test_apart },
	{ "refused", test_refused },
	{ "ops", test_ops },
	{ "passes", test_passes },
	{ "together", test_together },
	{ "forged", test_forged },
	{ "greedy", test_greedy },
	{ "late", test_late },
	{}
};

static void forger_option(int opt)
{
	forger = optarg;
}

static const struct pair_more more = {
	.options = "f:",
	.option = forger_option,
	.usage = "  -f FILE              ru_forge.py\n",
};

int main(int argc, char **argv)
{
	char **names = pair_options(argc, argv, tests, &more);
	int h;

	side_open(&host[0], dev_a, addr_a, 0, 16);
	side_open(&host[1], dev_b, addr_b, 0, 16);
	for (; *names; names++)
		pair_run(*names, tests);
	for (h = 0; h < 2; h++)
		side_close(&host[h]);
	return 0;
}
