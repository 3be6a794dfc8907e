// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Every counter of drops and refusals, provoked: a peer that is no driver but a
 * socket sends one packet, and all counters of the device that stand still by
 * themselves must move by what is expected, and its answer must be the right one.
 * Started by drops.sh, which made a host h2 without a device for that peer.
 *
 *	drops [-a DEV -A ADDR] [-w SECONDS] TEST...
 */
#include "drops.h"

static const struct conn conn = { .depth = 16, .sge = 1 };
static union ibv_gid peer_gid;
static int peer, stranger;	/* sockets at port 4793 of both addresses */

/* ------------------------------------------------------------------ */
/* QPs                                                                 */

static struct ibv_qp *rc_with(const struct conn *c)
{
	struct ibv_qp *qp = qp_create(&A, IBV_QPT_RC, c);

	if (qp_init(qp, c) || qp_rtr(&A, qp, &peer_gid, PEER_QPN, c) ||
	    qp_rts(&A, qp, c))
		die("RC QP");
	return qp;
}

static struct ibv_qp *rc_open(void)
{
	return rc_with(&conn);
}

static struct ibv_qp *ud_open(void)
{
	struct ibv_qp *qp = qp_create(&A, IBV_QPT_UD, &conn);

	if (qp_init(qp, &conn) || qp_rtr(&A, qp, NULL, 0, &conn) ||
	    qp_rts(&A, qp, &conn))
		die("UD QP");
	return qp;
}

static void qp_end(struct ibv_qp *qp)
{
	errno = 0;
	if (ibv_destroy_qp(qp))
		die("destroy_qp");
}

static void ends(const struct ibv_qp *qp, __u64 id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	next(&A, &wc);
	expect("wr_id", wc.wr_id, id);
	expect("qp_num", wc.qp_num, qp->qp_num);
	expect_status(&wc, status);
}

/* ------------------------------------------------------------------ */
/* Packets that contradict themselves                                  */

static void t_malformed(void)
{
	static const __u8 lengths[] = { 0, 1, 2, 11, 55 };
	/* of 8 bytes behind the header */
	static const __u16 udp_lengths[] = { 0, 7, 17, 65535 };
	struct pdc c = pdc_new(peer, RUD);
	struct request r = to_memory(NO_QPN, WRITE, 8);
	struct sockaddr_in to = at_port(addr_a, 0);
	struct packet p;
	int raw;
	size_t i;

	counters_start();
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		put_pds(&p, &c, STANDARD, 0);
		put_request(&p, &r);
		p.len = lengths[i];
		send_packet(peer, &p);
		moved("a packet that is cut off", "drop_malformed");
	}
	put_pds(&p, &c, STANDARD, 0);
	put_request(&p, &r);
	p.len++;
	send_packet(peer, &p);
	moved("a byte too many", "drop_malformed");
	p.len--;
	p.data[13] |= 0x40;
	send_packet(peer, &p);
	moved("SES version 1", "drop_malformed");

	/* Not even taken for packets */
	raw = socket_of_peer(SOCK_RAW, IPPROTO_UDP);
	for (i = 0; i < ARRAY_SIZE(udp_lengths); i++) {
		p.len = 0;
		put(&p, PORT, 2);
		put(&p, PORT, 2);
		put(&p, udp_lengths[i], 2);
		put(&p, 0, 2);
		fill(&p, 8);
		if (sendto(raw, p.data, p.len, 0, (void *)&to, sizeof(to)) < 0)
			die("sendto");
		moved("a wrong length in the UDP header", "drop_malformed");
	}
	close(raw);
}

/* ------------------------------------------------------------------ */
/* Packets of kinds that are not there                                 */

static void t_unsupported(void)
{
	static const __u8 types[] = { 0, TSS, RUDI, RUDI_RESPONSE, 15, 31 };
	struct pdc c = pdc_new(peer, RUD);
	struct request r = to_memory(NO_QPN, WRITE, 8);
	struct packet p;
	size_t i;

	counters_start();
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		bool response = types[i] == RUDI_RESPONSE;

		prologue(&p, types[i], response ? RESPONSE : STANDARD, 0);
		put(&p, 0, 6);
		if (response)
			put_response(&p);
		else
			put_request(&p, &r);
		send_packet(peer, &p);
		moved("a type that is not there", "drop_unsupported");
	}
	put_pds(&p, &c, 9, 0);
	send_packet(peer, &p);
	moved("a next header that is not there", "drop_unsupported");
	send_control(&c, 12, AR, 0);
	moved("a control packet that is not there", "drop_unsupported");
	send_control(&c, CLOSE_COMMAND, AR | SYN, 0);
	moved("SYN in a Close Command", "drop_unsupported rx_cps");

	prologue(&p, UUD, STANDARD, 0);
	put(&p, 0, 2);
	r.opcode = SEND;
	put_request(&p, &r);
	send_packet(peer, &p);
	moved("a SEND as datagram", "drop_unsupported");
	prologue(&p, UUD, STANDARD, 0);
	put(&p, 0, 2);
	r.opcode = DATAGRAM;
	r.flags = SOM | EOM | IE;
	put_request(&p, &r);
	send_packet(peer, &p);
	moved("a datagram that its sender marked as bad", "drop_unsupported");

	r = to_memory(NO_QPN, WRITE, 8);
	for (i = RUD; i <= ROD; i++) {
		c.type = i;
		put_pds(&p, &c, STANDARD, c.psn);
		put_request(&p, &r);
		send_to(peer, &p, EVERYBODY);
		moved("a WRITE to a multicast group", "drop_unsupported");
	}
	c.type = RUD;

	/* What only a live PDC looks at */
	asks("a first request", &c, &r, UNDELIVERABLE,
	     "pdc_accepted refused_no_ep");
	send_control(&c, CREDIT, AR, c.psn);
	moved("Credit", "drop_unsupported rx_cps");
	send_control(&c, NEGOTIATION, AR, c.psn);
	moved("Negotiation", "drop_unsupported rx_cps");
	pdc_close(&c);
}

/* ------------------------------------------------------------------ */
/* Datagrams                                                           */

static void datagram(const char *what, const char *to, struct request r,
		     const char *moves)
{
	struct packet p;

	r.opcode = DATAGRAM;
	r.initiator = PEER_QPN;
	if (!r.key)
		r.key = QKEY;
	prologue(&p, UUD, STANDARD, 0);
	put(&p, 0, 2);
	put_request(&p, &r);
	send_to(peer, &p, to);
	moved(what, moves);
}

static void t_datagram(void)
{
	struct ibv_qp *ud = ud_open(), *other = ud_open(), *rc = rc_open();
	struct ibv_qp *unready = qp_create(&A, IBV_QPT_UD, &conn);
	struct request r = { .qpn = ud->qp_num, .length = 100 };
	struct ibv_sge bad = piece(&A, 0, 1000);
	union ibv_gid group;

	if (qp_init(unready, &conn))
		die("INIT");
	bad.lkey = NO_KEY;
	counters_start();
	r.qpn = NO_QPN;
	datagram("to no QP", addr_a, r, "drop_no_ep");
	r.qpn = rc->qp_num;
	datagram("to an RC QP", addr_a, r, "drop_no_ep");
	r.qpn = unready->qp_num;
	datagram("to a QP in INIT", addr_a, r, "drop_no_ep");
	r.qpn = ud->qp_num;
	datagram("to a group without a QP", EVERYBODY, r, "drop_no_ep");
	datagram("no buffer", addr_a, r, "drop_no_recv");
	parse_gid(GROUP, &group);
	errno = 0;
	if (ibv_attach_mcast(ud, &group, 0) ||
	    ibv_attach_mcast(other, &group, 0))
		die("attach_mcast");
	datagram("no buffer of two QPs in a group", GROUP, r, "drop_no_recv=2");
	if (ibv_detach_mcast(ud, &group, 0) ||
	    ibv_detach_mcast(other, &group, 0))
		die("detach_mcast");

	/* None of these takes the buffer. */
	post_recv(&A, ud, 1, piece(&A, 0, 140));
	r.job = NO_JOB;
	datagram("of a job", addr_a, r, "drop_no_ep");
	r.flags = SOM | EOM | REL;
	datagram("a relative address", addr_a, r, "drop_no_ep");
	r.job = 0;
	r.flags = 0;
	r.key = QKEY + 1;
	datagram("a wrong Q_Key", addr_a, r, "drop_qkey");
	r.key = 0;
	none_left(&A);
	datagram("a good one", addr_a, r, "rx_msgs");
	ends(ud, 1, IBV_WC_SUCCESS);

	post_recv(&A, ud, 2, piece(&A, 0, 139));
	post_recv(&A, ud, 3, piece(&A, 0, 140));
	datagram("too long", addr_a, r, "drop_too_long");
	ends(ud, 2, IBV_WC_LOC_LEN_ERR);
	datagram("the next one", addr_a, r, "rx_msgs");
	ends(ud, 3, IBV_WC_SUCCESS);

	post_recv(&A, other, 4, bad);
	r.qpn = other->qp_num;
	datagram("a buffer with a wrong key", addr_a, r, "drop_mem bad_wqe");
	ends(other, 4, IBV_WC_LOC_PROT_ERR);
	none_left(&A);
	qp_end(ud);
	qp_end(other);
	qp_end(rc);
	qp_end(unready);
}

/* ------------------------------------------------------------------ */
/* PDCs                                                                */

static void settings(const char *what)
{
	char command[100];

	snprintf(command, sizeof(command), "uet -n h1 dev set %s %s", dev_a, what);
	errno = 0;
	if (system(command))
		die("%s", command);
}

static void t_pdc_unknown(void)
{
	struct pdc c = pdc_new(peer, RUD), second = pdc_new(peer, RUD);
	struct request r = to_memory(NO_QPN, WRITE, 8);

	counters_start();
	c.theirs = 0x7777;
	send_request(&c, &r, c.psn);
	refused(&c, c.psn, UNKNOWN_PDC, "a request");
	moved("a request", "drop_pdc_unknown tx_nacks");
	send_control(&c, ACK_REQUEST, 0, c.psn);
	refused(&c, c.psn, UNKNOWN_PDC, "a control packet");
	moved("a control packet", "drop_pdc_unknown tx_nacks rx_cps");
	send_ack(&c, c.psn);
	moved("an ACK", "drop_pdc_unknown rx_acks");
	send_nack(&c, 0, c.psn);
	moved("a NACK", "drop_pdc_unknown rx_nacks");

	c.theirs = 0;
	asks("a first request", &c, &r, UNDELIVERABLE,
	     "pdc_accepted refused_no_ep");
	send_nack(&c, ABOUT_RUDI, c.start);
	moved("a NACK of RUDI", "drop_pdc_unknown rx_nacks");
	settings("pdc-max 1");
	send_request(&second, &r, second.psn);
	refused(&second, second.psn, NO_PDC, "one PDC too many");
	moved("one PDC too many", "drop_pdc_unknown tx_nacks");
	settings("pdc-max 65535");
	asks("the same again", &second, &r, UNDELIVERABLE,
	     "pdc_accepted refused_no_ep");
	pdc_close(&second);
	pdc_close(&c);
}

static void t_pdc_mismatch(void)
{
	struct pdc c = pdc_new(peer, RUD), wrong;
	struct request r = to_memory(NO_QPN, WRITE, 8);
	struct packet p;

	counters_start();
	asks("a first request", &c, &r, UNDELIVERABLE,
	     "pdc_accepted refused_no_ep");
	wrong = c;
	wrong.ours++;
	send_request(&wrong, &r, c.psn);
	refused(&wrong, c.psn, MISMATCH, "another PDCID");
	moved("another PDCID", "drop_pdc_mismatch tx_nacks");
	send_ack(&wrong, c.start - 1);
	moved("an ACK with another PDCID", "drop_pdc_mismatch rx_acks");
	send_nack(&wrong, 0, c.start);
	moved("a NACK with another PDCID", "drop_pdc_mismatch rx_nacks");

	wrong = c;
	wrong.sock = stranger;
	send_request(&wrong, &r, c.psn);
	refused(&wrong, c.psn, MISMATCH, "another address");
	moved("another address", "drop_pdc_mismatch tx_nacks");

	wrong = c;
	wrong.type = ROD;
	send_request(&wrong, &r, c.psn);
	refused(&wrong, c.psn, WRONG_MODE, "another mode");
	moved("another mode", "drop_pdc_mismatch tx_nacks");

	wrong = c;
	wrong.theirs = 0;
	wrong.start++;
	send_request(&wrong, &r, c.psn);
	refused(&wrong, c.psn, INVALID_SYN, "SYN with another first PSN");
	moved("SYN with another first PSN", "drop_pdc_mismatch tx_nacks");

	put_pds(&p, &c, RESPONSE, c.psn);
	put_response(&p);
	send_packet(c.sock, &p);
	refused(&c, c.psn, UNEXPECTED, "a response to the target");
	moved("a response to the target", "drop_pdc_mismatch tx_nacks");
	pdc_close(&c);
}

/* PSNs that were never sent, sent long ago, or twice */
static void t_order(void)
{
	struct ibv_qp *qp = ru_open(&A, 4);
	struct pdc c = pdc_new(peer, RUD);
	struct request r = to_memory(wire_qpn(qp), WRITE, 8);
	const int ce = 3;

	counters_start();
	asks("a WRITE", &c, &r, RC_OK, "pdc_accepted rx_msgs");
	send_ack(&c, c.start);
	moved("an ACK of nothing", "drop_stale_ack rx_acks");
	send_ack(&c, c.start - 2);
	moved("an ACK of before", "drop_stale_ack rx_acks");
	send_nack(&c, 0, c.start);
	moved("a NACK of nothing", "drop_stale_nack rx_nacks");

	send_request(&c, &r, c.psn - 1);
	if (answer_to(&c, c.psn - 1, "a duplicate").type == NACK)
		die("a duplicate is refused");
	moved("a duplicate", "rx_dup");
	send_request(&c, &r, c.psn + WINDOW);
	refused(&c, c.psn + WINDOW, OUT_OF_WINDOW, "beyond the window");
	moved("beyond the window", "drop_out_of_window tx_nacks");
	send_request(&c, &r, c.psn - WINDOW - 1);
	moved("more than a window old", "drop_out_of_window");
	send_control(&c, ACK_REQUEST, 0, c.psn - WINDOW - 1);
	moved("an ACK Request of it", "drop_out_of_window rx_cps");
	send_control(&c, ACK_REQUEST, 0, c.psn);
	refused(&c, c.psn, NOT_RECEIVED, "an ACK Request of what was not sent");
	moved("an ACK Request of what was not sent", "tx_nacks rx_cps");

	if (setsockopt(c.sock, IPPROTO_IP, IP_TOS, &ce, sizeof(ce)))
		die("IP_TOS");
	asks("congestion experienced", &c, &r, RC_OK, "rx_msgs rx_ecn");
	if (setsockopt(c.sock, IPPROTO_IP, IP_TOS, &(int){ 0 }, sizeof(ce)))
		die("IP_TOS");
	pdc_close(&c);
	qp_end(qp);
}

/* The end of a PDC, which comes before its read data was taken */
static void t_close(void)
{
	struct ibv_qp *qp = ru_open(&A, 4);
	struct pdc c = pdc_new(peer, RUD);
	struct request w = to_memory(wire_qpn(qp), WRITE, 8);
	struct request r = to_memory(wire_qpn(qp), READ, 1000);
	struct answer a;
	int i;

	counters_start();
	asks("a WRITE", &c, &w, RC_OK, "pdc_accepted rx_msgs");
	send_request(&c, &r, c.psn++);
	a = receive(c.sock, 1 << RUD, "read data");
	expect("PSN of read data", a.psn, c.start);
	send_control(&c, CLOSE_COMMAND, AR, c.psn);
	moved("a Close Command before the ACK", "drop_early_close rx_cps");
	send_ack(&c, a.psn);
	moved("the ACK", "rx_acks");
	pdc_close(&c);

	/* So many that some still wait to be sent */
	c = pdc_new(peer, RUD);
	asks("a WRITE", &c, &w, RC_OK, "pdc_accepted rx_msgs");
	for (i = 0; i < 200; i++)
		send_request(&c, &r, c.psn++);
	moved("READs", "");
	send_control(&c, CLOSE_COMMAND, AR, c.psn);
	refused(&c, c.psn, CLOSING_IN_ERR, "a Close Command too early");
	moved("a Close Command too early", "pdc_failed tx_nacks rx_cps");
	qp_end(qp);
}

/* Behind a gap, until there is no room (MTU 9000) */
static void t_reorder(void)
{
	struct ibv_qp *qp = rc_open();
	struct pdc c = pdc_new(peer, ROD);
	struct request r = to_memory(qp->qp_num, WRITE, 8192);
	struct answer a;
	char moves[100];
	int n = 0;

	counters_start();
	asks("a WRITE", &c, &r, RC_OK, "pdc_accepted rx_msgs");
	c.psn++;
	do {
		send_request(&c, &r, c.psn);
		a = answer_to(&c, c.psn++, "behind a gap");
	} while (a.type != NACK && ++n < WINDOW - 2);
	expect("type of the answer", a.type, NACK);
	expect("its code", a.code, ROD_OOO);
	snprintf(moves, sizeof(moves), "rx_ooo=%d drop_reorder_full tx_nacks",
		 n + 1);
	moved("behind a gap", moves);
	/* 2 MiB were let in, if the memory of packets is mostly data. */
	if (n < 60 || n > 256)
		die("%d packets of %u bytes were held", n, r.length);
	/* The gap is filled: all that was held is executed, the rest is not here. */
	snprintf(moves, sizeof(moves), "rx_msgs=%d", n + 1);
	send_request(&c, &r, c.start + 1);
	answer_to(&c, c.psn - 2, "the gap");
	moved("the gap", moves);
	c.psn--;
	pdc_close(&c);
	qp_end(qp);
}

/* ------------------------------------------------------------------ */
/* Requests that are refused                                           */

static void t_refused(void)
{
	struct ibv_qp *qp = ru_open(&A, 8), *rc = rc_open(), *ud = ud_open();
	const __u32 wire = wire_qpn(qp);
	const struct request right = to_memory(wire, WRITE, 8);
	struct ibv_mr *closed, *atomic;
	struct ibv_sge bad = piece(&A, 0, 100);
	struct pdc c = pdc_new(peer, RUD);
	struct request r = right;

	closed = ibv_reg_mr(A.pd, A.mem, MEM, IBV_ACCESS_LOCAL_WRITE);
	atomic = ibv_reg_mr(A.pd, A.mem, MEM, IBV_ACCESS_LOCAL_WRITE |
			    IBV_ACCESS_REMOTE_ATOMIC);
	if (!closed || !atomic)
		die("reg_mr");
	counters_start();
	asks("a right one", &c, &r, RC_OK, "pdc_accepted rx_msgs");

	r.qpn = NO_QPN;
	asks("no QP", &c, &r, UNDELIVERABLE, "refused_no_ep");
	r = right;
	r.flags = SOM | EOM | REL;
	asks("relative without a job", &c, &r, BAD_JOB, "refused_job");
	r.job = NO_JOB;
	asks("relative in no job", &c, &r, UNDELIVERABLE, "refused_no_ep");
	r.flags = 0;
	asks("of a job", &c, &r, BAD_JOB, "refused_job");

	r = right;
	r.key = NO_KEY;
	asks("no such key", &c, &r, BAD_MKEY, "refused_key");
	r = right;
	r.addr += MEM - 7;
	asks("a byte too far", &c, &r, BAD_ADDR, "refused_addr");
	r = right;
	r.addr--;
	asks("a byte in front", &c, &r, BAD_ADDR, "refused_addr");
	r = right;
	r.key = closed->rkey;
	asks("WRITE without the right", &c, &r, PERM_VIOLATION, "refused_perm");
	r.opcode = READ;
	asks("READ without the right", &c, &r, PERM_VIOLATION, "refused_perm");
	r = to_memory(wire, INVALIDATE, 8);
	asks("SEND with invalidate", &c, &r, PERM_VIOLATION, "refused_perm");

	r = to_memory(wire, READ, 8193);
	asks("a READ of 8193 bytes", &c, &r, UNSUPPORTED_SIZE, "refused_op");
	r = to_memory(wire, VENDOR, 8);
	asks("an unknown operation", &c, &r, UNSUPPORTED_OP, "refused_op");
	r = to_memory(wire, FLUSH, 0);
	asks("FLUSH without an order", &c, &r, UNSUPPORTED_OP, "refused_op");
	r = right;
	r.qpn = rc->qp_num;
	asks("unordered to an RC QP", &c, &r, OP_VIOLATION, "refused_op");
	r.qpn = ud->qp_num;
	asks("to a UD QP", &c, &r, OP_VIOLATION, "refused_op");

	r = to_memory(wire, ATOMIC, 8);
	r.key = atomic->rkey;
	r.amo = AMO_SUM;
	r.amo_type = UINT64;
	asks("a right atomic", &c, &r, RC_OK, "rx_msgs");
	r.addr += 4;
	asks("an atomic that is not aligned", &c, &r, AMO_UNALIGNED,
	     "refused_op");
	r.amo = AMO_MIN;
	asks("a minimum", &c, &r, AMO_BAD_OP, "refused_op");
	r.amo = AMO_SUM;
	r.amo_type = INT32;
	asks("an atomic of 32 bits", &c, &r, AMO_BAD_TYPE, "refused_op");
	r.amo_type = UINT64;
	r.length = 4;
	asks("an atomic of 4 bytes", &c, &r, AMO_BAD_SIZE, "refused_op");

	r = right;
	r.flags = SOM | EOM | IE;
	asks("marked as bad", &c, &r, INITIATOR_ERROR, "refused_other");
	r = right;
	r.flags = SOM;
	r.id = 7;
	r.length = 2048;
	r.payload = 1024;
	asks("the first half", &c, &r, RC_OK, "");
	r.flags = EOM;
	r.length = 3072;
	r.offset = 1024;
	asks("the second half of something else", &c, &r, UNCOR,
	     "refused_other");

	r = to_memory(wire, SEND, 100);
	asks("no buffer", &c, &r, NO_MATCH, "rnr_sent");
	post_recv(&A, qp, 1, piece(&A, 0, 99));
	asks("longer than the buffer", &c, &r, TOO_LONG, "refused_too_long");
	ends(qp, 1, IBV_WC_LOC_LEN_ERR);
	bad.lkey = NO_KEY;
	post_recv(&A, qp, 2, bad);
	asks("a buffer with a wrong key", &c, &r, HOST_UNSUCCESS,
	     "refused_other bad_wqe");
	ends(qp, 2, IBV_WC_LOC_PROT_ERR);
	asks("to a QP in error", &c, &r, DISABLED, "refused_no_ep");
	none_left(&A);
	pdc_close(&c);
	qp_end(qp);
	qp_end(rc);
	qp_end(ud);
	errno = 0;
	if (ibv_dereg_mr(closed) || ibv_dereg_mr(atomic))
		die("dereg_mr");
}

static void t_refused_rc(void)
{
	const struct conn none = { .depth = 16, .sge = 1, .access = -1 };
	struct ibv_qp *qp = rc_open(), *closed = rc_with(&none);
	struct ibv_qp *unready = qp_create(&A, IBV_QPT_RC, &conn);
	struct pdc c = pdc_new(peer, ROD), other = pdc_new(stranger, ROD);
	struct request r = to_memory(qp->qp_num, SEND, 100);

	if (qp_init(unready, &conn))
		die("INIT");
	post_recv(&A, qp, 1, piece(&A, 0, 100));
	counters_start();
	asks("a right one", &c, &r, RC_OK, "pdc_accepted rx_msgs");
	ends(qp, 1, IBV_WC_SUCCESS);
	r.initiator++;
	asks("of another QP", &c, &r, BAD_PID, "refused_peer");
	r.initiator--;
	asks("of another host", &other, &r, BAD_PID, "pdc_accepted refused_peer");

	asks("no buffer", &c, &r, DISABLED_GEN, "rnr_sent");
	post_recv(&A, qp, 2, piece(&A, 0, 100));
	asks("of before there was one", &c, &r, BAD_GENERATION, "rnr_sent");
	r.gen = 1;
	asks("behind it", &c, &r, RC_OK, "rx_msgs");
	ends(qp, 2, IBV_WC_SUCCESS);

	r.qpn = unready->qp_num;
	send_request(&c, &r, c.psn);
	refused(&c, c.psn, NO_RESOURCE, "to a QP in INIT");
	moved("to a QP in INIT", "tx_nacks");

	r = to_memory(closed->qp_num, WRITE, 8);
	asks("what the QP forbids", &c, &r, OP_VIOLATION, "refused_op");
	asks("to a QP in error", &c, &r, DISABLED, "refused_no_ep");
	none_left(&A);
	pdc_close(&c);
	pdc_close(&other);
	qp_end(qp);
	qp_end(closed);
	qp_end(unready);
}

/* A faulty program's own requests */
static void t_queues(void)
{
	struct ibv_sge bad = piece(&A, 0, 100);
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = 3,
		.sg_list = &bad,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_qp *qp = rc_open();

	bad.lkey = NO_KEY;
	counters_start();
	errno = ibv_post_send(qp, &wr, &bad_wr);
	if (errno)
		die("post_send");
	ends(qp, 3, IBV_WC_LOC_PROT_ERR);
	moved("a wrong key", "bad_wqe");
	none_left(&A);
	qp_end(qp);
}

static const struct entry tests[] = {
	{ "malformed", t_malformed },
	{ "unsupported", t_unsupported },
	{ "datagram", t_datagram },
	{ "pdc_unknown", t_pdc_unknown },
	{ "pdc_mismatch", t_pdc_mismatch },
	{ "order", t_order },
	{ "close", t_close },
	{ "reorder", t_reorder },
	{ "refused", t_refused },
	{ "refused_rc", t_refused_rc },
	{ "queues", t_queues },
	{}
};

int main(int argc, char **argv)
{
	char **names = pair_options(argc, argv, tests, NULL);

	pair_seed();
	side_open(&A, dev_a, addr_a, MEM, 64);
	parse_gid(PEER, &peer_gid);
	peer = peer_at(PEER);
	stranger = peer_at(STRANGER);
	counters_init();
	for (; *names; names++)
		pair_run(*names, tests);
	side_close(&A);
	return 0;
}
