// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * uet_pingpong: ranks 0 and 1, 2 and 3, ... take turns in sending a message, by
 * rank, and compare every byte. To be started by uet_job_launch.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "world.h"

static uint32_t size = 64, iters = 1000;

static uint8_t pattern(uint32_t turn, uint32_t i)
{
	return turn * 31 + i + (i >> 8) * 7;
}

static void serve(struct world *w, uint32_t peer, uint32_t turn, uint8_t *buf,
		  uint32_t lkey)
{
	uint32_t i;

	for (i = 0; i < size; i++)
		buf[i] = pattern(turn, i);
	world_send(w, peer, turn, buf, size, lkey);
}

static void receive(struct world *w, uint32_t peer, uint32_t turn)
{
	struct message msg;
	uint32_t i;

	world_receive(w, &msg);
	errno = 0;
	if (msg.from != peer || msg.value != turn || msg.len != size)
		die("rank %u: turn %u, %u bytes from rank %u; expected turn %u, %u bytes from %u",
		    w->rank, msg.value, msg.len, msg.from, turn, size, peer);
	for (i = 0; i < size; i++)
		if (msg.data[i] != pattern(turn, i))
			die("rank %u: turn %u: byte %u is %02x, not %02x",
			    w->rank, turn, i, msg.data[i], pattern(turn, i));
	world_release(w, &msg);
}

static void play(struct world *w)
{
	uint32_t peer = w->rank ^ 1, turn;
	uint8_t *buf = calloc(1, size ? size : 1);
	struct ibv_mr *mr;
	double start;

	if (!buf)
		die("memory");
	mr = ibv_reg_mr(w->pd, buf, size ? size : 1, 0);
	if (!mr)
		die("registering memory");

	start = now();
	for (turn = 0; turn < 2 * iters; turn++) {
		if (turn % 2 == w->rank % 2)
			serve(w, peer, turn, buf, mr->lkey);
		else
			receive(w, peer, turn);
		/* the buffer is filled anew in the next turn but one */
		world_wait(w, 0);
	}
	if (!(w->rank % 2))
		printf("ranks %u and %u: %u bytes, %.2f us half round trip\n",
		       w->rank, peer, size, (now() - start) / turn * 1e6);
	if (ibv_dereg_mr(mr))
		die("deregistering memory");
	free(buf);
}

static void usage(FILE *to)
{
	fprintf(to, "usage: uet_job_launch -j ID -n PROCESSES uet_pingpong [OPTION...]\n"
		"  -s BYTES   size of a message (64)\n"
		"  -n ITERS   messages each way (1000)\n");
	exit(to == stdout ? 0 : 2);
}

int main(int argc, char **argv)
{
	struct world w;
	int c;

	while ((c = getopt(argc, argv, "s:n:h")) != -1) {
		if (c == 's')
			size = number_of(optarg, 0, 1 << 26);
		else if (c == 'n')
			iters = number_of(optarg, 1, 1u << 30);
		else
			usage(c == 'h' ? stdout : stderr);
	}
	if (optind != argc)
		usage(stderr);

	world_join(&w, UETDV_ADDR_RELATIVE, 4, size, 0, 0);
	/* without a partner there is only to wait */
	if ((w.rank ^ 1) < w.size)
		play(&w);
	world_leave(&w);
	return 0;
}
