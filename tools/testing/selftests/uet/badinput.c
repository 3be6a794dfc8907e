// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Wrong input of every kind: each call must give a clear error, each work request
 * an error completion with the right status. All the while another process moves
 * data between the same devices, and must not notice.
 *
 * badinput [-a DEV -A ADDRESS -b DEV -B ADDRESS] [-n ROUNDS] TEST...
 */
#include "badinput.h"
#include "witness.h"

void refused(const char *what, bool failed, const int *list)
{
	int err = errno, i;

	if (!failed) {
		errno = 0;
		die("%s was accepted", what);
	}
	for (i = 0; list[i]; i++)
		if (list[i] == err)
			return;
	die("%s: unclear error", what);
}

void refused_ret(const char *what, int ret, const int *list)
{
	errno = ret > 0 ? ret : -ret;
	refused(what, ret != 0, list);
}

static const struct entry tests[] = {
	{ "sizes", t_sizes },
	{ "memory", t_memory },
	{ "modify", t_modify },
	{ "address", t_address },
	{ "post", t_post },
	{ "local", t_local },
	{ "remote", t_remote },
	{ "length", t_length },
	{ "datagram", t_datagram },
	{ "peer", t_peer },
	{ "udata", t_udata },
	{ "handles", t_handles },
	{ "doorbell", t_doorbell },
	{ "commands", t_commands },
	{ "mmap", t_mmap },
	{ "rings", t_rings },
	{ "scribble", t_scribble },
	{}
};

int main(int argc, char **argv)
{
	char **names;

	rounds = 300;
	names = pair_options(argc, argv, tests, NULL);
	pair_seed();
	noise_init(1 << 17);
	witness_start();
	side_open(&A, dev_a, addr_a, 1 << 17, 256);
	side_open(&B, dev_b, addr_b, 1 << 17, 256);
	for (; *names; names++) {
		pair_run(*names, tests);
		witness_lives();
		printf("%s: the other process is at message %u\n", *names,
		       witness->messages);
	}
	side_close(&A);
	side_close(&B);
	witness_end();
	return 0;
}
