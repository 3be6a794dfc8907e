// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Moves data with every operation, in every size that has an edge, through
 * scatter/gather lists that cross pages, and compares each byte and the guard
 * bytes around it.
 *
 * data -a DEV -A ADDRESS -b DEV -B ADDRESS [OPTION...] TEST...
 * "data -h" lists the options and tests.
 */
#include "data.h"

__u32 mtus[8] = { 1024 };
int nr_mtu = 1;
size_t largest = BIG;
bool every_sge;
bool builder;
const char *cut, *mend;

static const struct entry tests[] = {
	{ "rc_send", rc_send },
	{ "rc_send_imm", rc_send_imm },
	{ "rc_write", rc_write },
	{ "rc_write_imm", rc_write_imm },
	{ "rc_read", rc_read },
	{ "rc_inline", rc_inline },
	{ "rc_builder", rc_builder },
	{ "rc_unsignalled", rc_unsignalled },
	{ "rc_queue_full", rc_queue_full },
	{ "rc_solicited", rc_solicited },
	{ "rc_rnr", rc_rnr },
	{ "rc_late_peer", rc_late_peer },
	{ "rc_fence", rc_fence },
	{ "rc_order", rc_order },
	{ "rc_mix", rc_mix },
	{ "rc_64_qps", rc_64_qps },
	{ "uc_send", uc_send },
	{ "uc_send_imm", uc_send_imm },
	{ "uc_write", uc_write },
	{ "uc_write_imm", uc_write_imm },
	{ "uc_builder", uc_builder },
	{ "uc_bad_key", uc_bad_key },
	{ "uc_bad_key_imm", uc_bad_key_imm },
	{ "uc_no_right", uc_no_right },
	{ "uc_no_buffer", uc_no_buffer },
	{ "uc_too_long", uc_too_long },
	{ "uc_mix", uc_mix },
	{ "uc_no_reads", uc_no_reads },
	{ "uc_own_fault", uc_own_fault },
	{ "uc_peer_gone", uc_peer_gone },
	{ "uc_silent", uc_silent },
	{ "ud_send", ud_send },
	{ "ud_builder", ud_builder },
	{ "ud_reply", ud_reply },
	{ "ud_dropped", ud_dropped },
	{ "ud_lossy", ud_lossy },
	{ "ru_send", ru_send },
	{ "ru_send_imm", ru_send_imm },
	{ "ru_write", ru_write },
	{ "ru_write_imm", ru_write_imm },
	{ "ru_read", ru_read },
	{ "ru_mix", ru_mix },
	{ "ru_rnr", ru_rnr },
	{ "ru_too_long", ru_too_long },
	{ "rc_post_in_poll", rc_post_in_poll },
	{ "rc_sqd_rights", rc_sqd_rights },
	{}
};

static void parse_mtus(char *list)
{
	char *at;

	nr_mtu = 0;
	for (at = strtok(list, ","); at; at = strtok(NULL, ","))
		if (nr_mtu < (int)ARRAY_SIZE(mtus))
			mtus[nr_mtu++] = strtoul(at, NULL, 0);
}

static void own_option(int opt)
{
	switch (opt) {
	case 'm':
		parse_mtus(optarg);
		break;
	case 'M':
		largest = strtoul(optarg, NULL, 0);
		break;
	case 's':
		every_sge = true;
		break;
	case 'p':
		busy_poll = true;
		break;
	case 'x':
		cut = optarg;
		break;
	case 'y':
		mend = optarg;
		break;
	}
}

static const struct pair_more more = {
	.options = "m:M:spx:y:",
	.option = own_option,
	.usage = "  -m N[,N...]          payload MTUs whose edges are tried (1024)\n"
		 "  -M BYTES             largest message (16 MiB + 3)\n"
		 "  -s                   1, 2, .. 16 pieces instead of some\n"
		 "  -p                   poll instead of waiting for events\n"
		 "  -x COMMAND           cuts the wire for uc_silent\n"
		 "  -y COMMAND           mends it\n",
};

int main(int argc, char **argv)
{
	char **names;
	__u64 start;

	rounds = 100;
	names = pair_options(argc, argv, tests, &more);
	pair_seed();
	noise_init(BIG);
	side_open(&A, dev_a, addr_a, ARENA, 4096);
	side_open(&B, dev_b, addr_b, ARENA, 4096);
	for (; *names; names++) {
		start = now_ns();
		pair_run(*names, tests);
		printf("%s: %llu ms\n", *names,
		       (unsigned long long)(now_ns() - start) / 1000000);
		fflush(stdout);
	}
	side_close(&A);
	side_close(&B);
	return 0;
}
