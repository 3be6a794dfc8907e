// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A random program: verbs commands by write() and ioctl(), with fields, handles and
 * lengths of which some are nonsense, and work requests in rings that are scribbled
 * on. It runs as many short lives, each a process of its own that ends in the middle
 * of it all; some at a time, half of them for either device. Another process
 * (witness.h) moves data between the same devices meanwhile and must not notice.
 *
 *	fuzz [-a DEV -A ADDR -b DEV -B ADDR] [-w SECONDS] [-n CALLS] [-S SEED] [-L LIFE]
 *	-S SEED	as printed by a run, to have it again
 *	-L LIFE	only that life of it
 */
#include "fuzz.h"
#include "witness.h"

#define LIFE_CALLS	500
#define LIVES_AT_ONCE	6	/* even: each place has its device */
/* Far from all else, so that a spoilt address does not hit this program itself. */
#define MEM_ADDR	((void *)0x2000000000)

struct tally *tally;
struct ibv_context *ctx;
union ibv_gid gid[2];
int gid_index[2];
unsigned int me;
__u8 *mem, *answer;

static void random_events(void)
{
	struct pool *p = &pools[CHANNEL];
	int fd = p->n && below(2) ? (int)p->handle[below(p->n)] :
				    ctx->async_fd;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	tally->calls++;
	tally->succeeded += read(fd, answer, below(64)) > 0;
}

static void random_step(void)
{
	unsigned int what = below(100);

	if (what < 30)
		random_command(false);
	else if (what < 42)
		random_command(true);
	else if (what < 50)
		random_modify();
	else if (what < 58)
		random_ioctl();
	else if (what < 92)
		random_work();
	else if (what < 96)
		random_mmap();
	else
		random_events();
}

/* In the kernel's log, so that its complaints can be told apart */
static void tell_kernel(__u64 seed, unsigned int life)
{
	int fd = open("/dev/kmsg", O_WRONLY);

	if (fd < 0)
		return;
	dprintf(fd, "uet-test: seed %llu, life %u, process %d\n",
		(unsigned long long)seed, life, getpid());
	close(fd);
}

static void live(__u64 seed, unsigned int life)
{
	unsigned int from, i;

	rnd_state = (seed + life) * 0x9e3779b97f4a7c15ull | 1;
	for (i = 0; i < 8; i++)
		rnd();
	tell_kernel(seed, life);
	me = life & 1;
	tally += life % LIVES_AT_ONCE;
	from = tally->calls;
	alarm(wait_s);
	mem = mmap(MEM_ADDR, MEM_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	answer = malloc(1 << 16);
	if (mem != MEM_ADDR || !answer)
		die("memory");
	ctx = open_device(me ? dev_b : dev_a);
	first_commands();
	while (tally->calls - from < LIFE_CALLS)
		random_step();
	/* with all that there is, in the middle of it */
	if (below(2))
		close(ctx->cmd_fd);
	exit(0);
}

/* A life may end by what it did to its own memory, and by nothing else. */
static void life_ended(int status, __u64 seed, unsigned int life)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	errno = 0;
	if (sig == SIGSEGV || sig == SIGBUS)
		tally->crashes++;
	else if (sig == SIGALRM)
		die("life %u of seed %llu hangs", life,
		    (unsigned long long)seed);
	else if (status)
		die("life %u of seed %llu ended with %#x", life,
		    (unsigned long long)seed, status);
}

static void live_all(__u64 seed, unsigned int first, unsigned int last)
{
	pid_t pid[LIVES_AT_ONCE] = { 0 };
	unsigned int life;
	int status;

	for (life = first; life < last + LIVES_AT_ONCE; life++) {
		pid_t *slot = &pid[life % LIVES_AT_ONCE];

		if (*slot) {
			if (waitpid(*slot, &status, 0) != *slot)
				die("waitpid");
			life_ended(status, seed, life - LIVES_AT_ONCE);
			*slot = 0;
		}
		if (life >= last)
			continue;
		fflush(stdout);
		*slot = fork();
		if (*slot < 0)
			die("fork");
		if (!*slot)
			live(seed, life);
		if (life % 100 == 0)
			witness_lives();
	}
}

static void find_address(unsigned int i, const char *dev, const char *addr)
{
	struct ibv_context *c = open_device(dev);

	parse_gid(addr, &gid[i]);
	gid_index[i] = find_gid(c, &gid[i]);
	if (gid_index[i] < 0)
		die("no GID %s on %s", addr, dev);
	ibv_close_device(c);
}

/* Was it a program that got anywhere? */
static void look_at_tally(bool whole)
{
	static const char * const names[] = {
		"PDs", "CQs", "QPs", "SRQs", "MRs", "MWs", "AHs", "channels",
	};
	unsigned int i, k;

	for (k = 1; k < LIVES_AT_ONCE; k++) {
		tally->calls += tally[k].calls;
		tally->succeeded += tally[k].succeeded;
		tally->completions += tally[k].completions;
		for (i = 0; i < KINDS; i++)
			tally->made[i] += tally[k].made[i];
	}
	printf("%u calls, %u succeeded, %u completions, %u lives ended early\n",
	       tally->calls, tally->succeeded, tally->completions,
	       tally->crashes);
	for (i = 0; i < KINDS; i++)
		printf("%u %s\n", tally->made[i], names[i]);
	errno = 0;
	if (!whole)
		return;
	for (i = 0; i < KINDS; i++)
		if (!tally->made[i])
			die("no %s were made", names[i]);
	if (tally->succeeded < tally->calls / 4 || !tally->completions)
		die("most of the program was refused");
	if (tally->crashes > tally->calls / LIFE_CALLS / 20)
		die("%u lives crashed", tally->crashes);
}

static long only = -1;		/* life */

static void life_option(int opt)
{
	only = strtol(optarg, NULL, 0);
}

static const struct pair_more more = {
	.options = "L:",
	.option = life_option,
	.usage = "  -L LIFE              only that life of a run\n",
};

int main(int argc, char **argv)
{
	__u64 seed;

	rounds = 20000;
	pair_options(argc, argv, NULL, &more);
	seed = pair_seed();
	tally = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		die("tally");
	witness_start();
	find_address(0, dev_a, addr_a);
	find_address(1, dev_b, addr_b);
	doing = "a random program";
	if (only >= 0)
		live_all(seed, only, only + 1);
	else
		live_all(seed, 0, (rounds + LIFE_CALLS - 1) / LIFE_CALLS);
	witness_lives();
	witness_end();
	look_at_tally(only < 0);
	return 0;
}
