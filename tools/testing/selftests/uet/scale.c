// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * One RU QP and very many peers: what the first message to each takes, and what
 * memory the kernel has for a peer before, while and after they talk. Peers are the
 * addresses behind 10.64.0.0 or fd64:: of host 2, which this program plays as well.
 *
 *	scale [-a DEV] [-A ADDR] [-b DEV] [-B ADDR] [-w SECONDS] [-n PEERS] [-o FIGURES]
 *	      [-e] TEST...
 */
#include "ru_jobs.h"
#include "figures.h"

#define JOB		0x5ca1e
#define PAIR		0x3005		/* RI 3, PIDonFEP 5 */
#define WINDOW		48		/* messages under way at a time */

static unsigned int peers;
static bool ipv6;		/* peers are behind fd64:: */
static struct member a, b;
static struct ibv_ah **ahs;		/* by peer; NULL: by rank */
static __u32 round_no;

static void peer_gid(unsigned int i, union ibv_gid *gid)
{
	char text[32];

	i++;
	snprintf(text, sizeof(text), ipv6 ? "fd64::%x:%x" : "10.64.%u.%u",
		 i >> 8, i & 255);
	parse_gid(text, gid);
}

static struct ibv_ah *peer_ah(unsigned int i)
{
	struct ibv_ah_attr attr;
	union ibv_gid gid;
	struct ibv_ah *ah;

	peer_gid(i, &gid);
	ah_attr(a.side, &gid, &attr);
	ah = ibv_create_ah(a.pd, &attr);
	if (!ah)
		die("AH of peer %u", i);
	return ah;
}

static void ahs_make(void)
{
	unsigned int i;

	for (i = 0; i < peers; i++)
		ahs[i] = peer_ah(i);
}

static void ahs_end(void)
{
	unsigned int i;

	for (i = 0; i < peers; i++) {
		errno = ibv_destroy_ah(ahs[i]);
		if (errno)
			die("destroy_ah %u", i);
	}
}

/* ------------------------------------------------------------------ */
/* Messages                                                            */

static __u64 word_for(unsigned int i)
{
	return (__u64)round_no << 48 | i * 0x10001ull;
}

/* Eight bytes to a place of its own in the memory of host 2. */
static void write_to(unsigned int i)
{
	__u64 word = word_for(i);

	memcpy(a.mem + 8 * i, &word, 8);
	begin(&a, i, 0);
	uetdv_wr_rdma_write64(a.dvx, MEM_KEY, 8 * i);
	if (ahs)
		uetdv_wr_set_ru_addr(a.dvx, ahs[i], PAIR, 0);
	else
		uetdv_wr_set_job_addr(a.dvx, i, 0);
	ibv_wr_set_sge(a.qpx, a.own->lkey, (uintptr_t)a.mem + 8 * i, 8);
	finish(&a);
}

/* An event would cost more than what is measured. */
static void spin(struct done *d)
{
	__u64 end = now_ns() + wait_s * 1000000000ull;

	while (!poll_one(&a, d))
		if (now_ns() > end)
			die("no completion in %u s", wait_s);
	errno = 0;
	if (d->status != IBV_WC_SUCCESS)
		die("peer %u: %s (%#x)", (unsigned int)d->wr_id,
		    ibv_wc_status_str(d->status), d->vendor);
}

static void all_arrived(void)
{
	unsigned int i;
	__u64 word;

	errno = 0;
	for (i = 0; i < peers; i++) {
		memcpy(&word, b.mem + 8 * i, 8);
		if (word != word_for(i))
			die("peer %u has %#llx", i, (unsigned long long)word);
	}
}

/* One message to each peer, several under way. Nanoseconds for all. */
static __u64 write_all(void)
{
	unsigned int posted = 0, done = 0;
	__u64 start = now_ns();
	struct done d;

	round_no++;
	while (done < peers) {
		while (posted < peers && posted - done < WINDOW)
			write_to(posted++);
		spin(&d);
		done++;
	}
	start = now_ns() - start;
	all_arrived();
	return start;
}

static __u64 counted_here(int h, const char *name)
{
	return port_counter(host[h].name, name);
}

static __u64 contexts(int h)
{
	return counted_here(h, "pdc_opened") + counted_here(h, "pdc_accepted") -
	       counted_here(h, "pdc_closed") - counted_here(h, "pdc_failed");
}

/* Nobody tells of the end of a PDC, so look now and then. */
static void wait_closed(int h)
{
	__u64 end = now_ns() + wait_s * 3000000000ull;

	while (contexts(h)) {
		errno = 0;
		if (now_ns() > end)
			die("%llu PDCs of %s still open",
			    (unsigned long long)contexts(h), host[h].name);
		pause_ms(50);
	}
}

/* ------------------------------------------------------------------ */
/* R7: from before the address handle to the completion                */

static __u64 sent_again(void)
{
	return counted_here(0, "retx_rto") + counted_here(0, "retx_sack") +
	       counted_here(0, "retx_nack");
}

static void first_messages(void)
{
	double *us = calloc(peers, sizeof(*us));
	__u64 start, packets, again;
	unsigned int i;
	struct done d;

	round_no++;
	packets = counted_here(0, "tx_pkts");
	again = sent_again();
	for (i = 0; i < peers; i++) {
		start = now_ns();
		ahs[i] = peer_ah(i);
		write_to(i);
		spin(&d);
		us[i] = (now_ns() - start) / 1000.0;
	}
	packets = counted_here(0, "tx_pkts") - packets;
	again = sent_again() - again;
	all_arrived();
	printf("# %llu packets for %u first messages, %llu of them again\n",
	       (unsigned long long)packets, peers, (unsigned long long)again);
	/* The first packet opens the PDC and is the message. */
	errno = 0;
	if (packets != peers + again)
		die("first messages took %llu packets",
		    (unsigned long long)packets);
	figure("R7", "first", peers, "us", us, peers);
	free(us);
}

/* ------------------------------------------------------------------ */
/* R6: bytes of the kernel for each peer                               */

static double per_peer(const char *op, double bytes)
{
	if (!figures_exact)
		return 0;
	return figure_one("R6", op, peers, "B/peer", bytes / peers);
}

static void at_most(const char *what, double have, double want)
{
	errno = 0;
	if (peers >= 500 && have > want)
		die("%s: %.0f bytes a peer, goal %.0f", what, have, want);
}

static void join(enum uetdv_addressing how, struct uetdv_job *job[2])
{
	/* of a test before */
	wait_closed(0);
	wait_closed(1);
	member_join(&a, 0, how, PAIR, 1, job[0], NULL);
	member_join(&b, 1, how, PAIR, 2, job[1], NULL);
}

static void leave(void)
{
	member_leave(&a);
	member_leave(&b);
}

/*
 * A message to each peer: the time it took, and the kernel's bytes while the PDCs of
 * all are open. A host may be so slow that the first close before the bytes are counted.
 */
static __u64 all_active(double zero, double *bytes)
{
	__u64 ns, open[2];
	int tries;

	for (tries = 3; tries; tries--) {
		ns = write_all();
		*bytes = kernel_bytes() - zero;
		open[0] = contexts(0);
		open[1] = contexts(1);
		if (open[0] == peers && open[1] == peers)
			return ns;
		wait_closed(0);
		wait_closed(1);
	}
	errno = 0;
	die("%llu and %llu PDCs, not %u", (unsigned long long)open[0],
	    (unsigned long long)open[1], peers);
}

static void test_peers(void)
{
	struct uetdv_job *none[2] = {};
	double zero, handles, both, idle;
	__u64 ns;

	ahs = calloc(peers, sizeof(*ahs));
	join(UETDV_ADDR_ABSOLUTE, none);
	/* What only the first message ever allocates is nobody's. */
	ahs[0] = peer_ah(0);
	write_to(0);
	expect_done(&a, IBV_WC_SUCCESS, 0);
	ibv_destroy_ah(ahs[0]);
	wait_closed(0);
	wait_closed(1);

	doing = "before";
	zero = kernel_bytes();
	ahs_make();
	handles = kernel_bytes() - zero;
	ahs_end();

	doing = "first messages, one at a time";
	first_messages();
	expect("PDCs", contexts(0), peers);
	expect("PDCs of the peers", contexts(1), peers);
	doing = "idle";
	wait_closed(0);
	wait_closed(1);
	idle = kernel_bytes() - zero;

	doing = "first messages, many at a time";
	ns = all_active(zero, &both);
	figure_one("R7", "first-parallel", peers, "us/peer",
		   ns / 1000.0 / peers);
	per_peer("handle", handles);
	per_peer("active-both-ends", both);
	at_most("idle", per_peer("idle", idle), 1024);
	doing = "again";
	ns = write_all();
	figure_one("R7", "next-parallel", peers, "us/peer",
		   ns / 1000.0 / peers);
	expect("PDCs", contexts(0), peers);
	doing = "the end";
	ahs_end();
	free(ahs);
	ahs = NULL;
	leave();
}

/* The peers are a job: a rank each. */
static void ranks_insert(struct uetdv_job *job)
{
	struct uetdv_ah_attr_ex *addr = calloc(peers, sizeof(*addr));
	union ibv_gid gid;
	unsigned int i;

	for (i = 0; i < peers; i++) {
		peer_gid(i, &gid);
		ah_attr(&host[0], &gid, &addr[i].ah_attr);
		addr[i].remote_qpn = PAIR;
	}
	errno = uetdv_insert_addrs(job, addr, 0, peers, 0);
	if (errno)
		die("insert");
	free(addr);
}

static void ranks_query(struct uetdv_job *job)
{
	struct uetdv_ah_attr_ex *addr = calloc(peers + 1, sizeof(*addr));
	__u32 *index = calloc(peers + 1, sizeof(*index)), n = peers + 1, i;
	struct uetdv_ah_attr_ex one;
	union ibv_gid gid;

	errno = uetdv_query_addrs(job, 0, addr, index, &n, 0);
	if (errno)
		die("query");
	expect("ranks", n, peers);
	for (i = 0; i < peers; i++) {
		peer_gid(i, &gid);
		expect("rank", index[i], i);
		expect("pair", addr[i].remote_qpn, PAIR);
		if (memcmp(&addr[i].ah_attr.grh.dgid, &gid, sizeof(gid)))
			die("address of rank %u", i);
		errno = i % 64 ? 0 : uetdv_query_addr(job, i, &one, 0);
		if (errno)
			die("query of rank %u", i);
	}
	free(addr);
	free(index);
}

static struct uetdv_job *ranks_job(int h, unsigned int max)
{
	struct uetdv_job_attr attr = {
		.comp_mask = UETDV_JOB_ATTR_ID | UETDV_JOB_ATTR_SGID_INDEX |
			     UETDV_JOB_ATTR_MAX_ADDR_ENTRIES,
		.id = JOB,
		.max_addr_entries = max,
		.sgid_index = host[h].gid_index,
	};
	struct uetdv_job *job;

	enter(h);
	job = uetdv_alloc_job(host[h].ctx, &attr, NULL);
	if (!job)
		die("job on %s", host[h].name);
	return job;
}

static double ms_since(__u64 start)
{
	return (now_ns() - start) / 1e6;
}

static void test_ranks(void)
{
	struct uetdv_job *job[2] = { ranks_job(0, peers), ranks_job(1, 1) };
	struct uetdv_ah_attr_ex addr = {};
	double zero, table, both;
	__u64 start;

	join(UETDV_ADDR_RELATIVE, job);
	zero = kernel_bytes();
	start = now_ns();
	ranks_insert(job[0]);
	printf("# %u ranks inserted in %.0f ms\n", peers, ms_since(start));
	start = now_ns();
	ranks_query(job[0]);
	printf("# and queried in %.0f ms\n", ms_since(start));
	ah_attr(&host[0], &host[1].gid, &addr.ah_attr);
	expect("a rank too many",
	       uetdv_insert_addr(job[0], &addr, peers, 0), EINVAL);
	table = kernel_bytes() - zero;
	all_active(zero, &both);
	per_peer("rank", table);
	per_peer("rank-active-both-ends", both);
	wait_closed(0);
	wait_closed(1);
	at_most("rank, idle", per_peer("rank-idle", kernel_bytes() - zero),
		1024);
	start = now_ns();
	expect("removal", uetdv_remove_addrs(job[0], 0, peers, 0), 0);
	printf("# and removed in %.0f ms\n", ms_since(start));
	expect("query", uetdv_query_addr(job[0], 0, &addr, 0), ENOENT);
	leave();
	job_end(job[0]);
	job_end(job[1]);
}

/* ------------------------------------------------------------------ */

/*
 * The peers go, and with them their share of what both ends had. Their device is gone
 * afterwards: for the end of a test.
 */
static void test_sender(void)
{
	struct uetdv_job *none[2] = {};
	double zero, gone;

	ahs = calloc(peers, sizeof(*ahs));
	join(UETDV_ADDR_ABSOLUTE, none);
	ahs_make();
	write_all();
	if (system("rdma link del u2"))
		die("rdma link del");
	expect("PDCs", contexts(0), peers);
	gone = kernel_bytes();
	wait_closed(0);
	ahs_end();
	zero = kernel_bytes();
	at_most("active", per_peer("active", gone - zero), 4096);
	fflush(NULL);
	/* Nothing of host 2 answers any more. */
	_exit(0);
}

static const struct entry tests[] = {
	{ "peers", test_peers },
	{ "ranks", test_ranks },
	{ "sender", test_sender },
	{ }
};

static void option(int opt)
{
	if (opt == 'o')
		figures_open(optarg);
	else
		figures_exact = true;
}

int main(int argc, char **argv)
{
	static const struct pair_more more = {
		.options = "o:e",
		.option = option,
		.usage = "  -o FIGURES           file for what is measured\n"
			 "  -e                   measure memory, and hold it against the goals\n",
	};
	char **names = pair_options(argc, argv, tests, &more);

	peers = rounds;
	if (!peers || peers > MEM_SIZE / 8)
		die("-n: 1 to %zu", (size_t)MEM_SIZE / 8);
	ipv6 = strchr(addr_a, ':');
	side_open(&host[0], dev_a, addr_a, 0, 16);
	side_open(&host[1], dev_b, addr_b, 0, 16);
	for (; *names; names++)
		pair_run(*names, tests);
	side_close(&host[0]);
	side_close(&host[1]);
	return 0;
}
