// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The peer of drops.c: counters, packets, PDCs and requests */
#include <dirent.h>
#include <sched.h>

#include "drops.h"

/* ------------------------------------------------------------------ */
/* Counters                                                            */

#define MAX_COUNTERS	100

/* They move later, too, by timers and retransmissions. */
static const char * const restless[] = {
	"tx_pkts", "tx_bytes", "rx_bytes", "tx_acks", "tx_cps", "retx_rto",
	"retx_sack", "retx_nack", "tx_paused", "page_faults", "lifespan",
};

static struct counter {
	char name[32];
	__u64 last;
} counters[MAX_COUNTERS];
static unsigned int nr_counters;
static unsigned int packets;	/* sent since the counters were looked at */

static bool is_restless(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(restless); i++)
		if (!strcmp(name, restless[i]))
			return true;
	return false;
}

void counters_init(void)
{
	char path[100];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters", dev_a);
	dir = opendir(path);
	if (!dir)
		die("%s", path);
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.' || is_restless(d->d_name))
			continue;
		if (nr_counters == MAX_COUNTERS)
			die("more than %u counters", nr_counters);
		snprintf(counters[nr_counters++].name,
			 sizeof(counters[0].name), "%.31s", d->d_name);
	}
	closedir(dir);
}

static void counters_read(__u64 *value)
{
	unsigned int i;

	value[0] = port_counter(dev_a, counters[0].name);
	for (i = 1; i < nr_counters; i++)
		value[i] = port_counter_shown(dev_a, counters[i].name);
}

/* @moves is "rx_msgs drop_mem=2": what that counter rises by, 1 if it is not said. */
static __u64 expected(const char *moves, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	if (!strcmp(name, "rx_pkts"))
		return packets;
	for (at = moves; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		if (strncmp(at, name, len))
			continue;
		if (!at[len] || at[len] == ' ')
			return 1;
		if (at[len] == '=')
			return strtoull(at + len + 1, NULL, 0);
	}
	return 0;
}

static unsigned int names_in(const char *moves)
{
	unsigned int n = 0;

	for (; *moves; moves += strspn(moves, " "), n++)
		moves += strcspn(moves, " ");
	return n;
}

/* The first counter that is not where it should be, or NULL */
static struct counter *astray(const char *moves, const __u64 *value)
{
	unsigned int i, found = 0;

	for (i = 0; i < nr_counters; i++) {
		struct counter *c = &counters[i];
		__u64 by = expected(moves, c->name);

		if (by && strcmp(c->name, "rx_pkts"))
			found++;
		if (value[i] != c->last + by)
			return c;
	}
	if (found != names_in(moves))
		die("no such counter: %s", moves);
	return NULL;
}

/* All counters have moved so since the last time, and no other has. */
void moved(const char *what, const char *moves)
{
	__u64 value[MAX_COUNTERS], start = now_ns();
	struct counter *c;
	unsigned int i;

	for (;;) {
		counters_read(value);
		c = astray(moves, value);
		if (!c || now_ns() - start > wait_s * 1000000000ull)
			break;
	}
	for (i = 0; c && i < nr_counters; i++)
		if (value[i] != counters[i].last)
			fprintf(stderr, "%s rose by %lld\n", counters[i].name,
				(long long)(value[i] - counters[i].last));
	errno = 0;
	if (c)
		die("%s: %u packets should move %s, but look at %s", what,
		    packets, *moves ? moves : "nothing", c->name);
	for (i = 0; i < nr_counters; i++)
		counters[i].last = value[i];
	packets = 0;
}

void counters_start(void)
{
	__u64 value[MAX_COUNTERS];
	unsigned int i;

	counters_read(value);
	for (i = 0; i < nr_counters; i++)
		counters[i].last = value[i];
	packets = 0;
}

/* ------------------------------------------------------------------ */
/* Packets                                                             */

void put(struct packet *p, __u64 value, unsigned int bytes)
{
	while (bytes--)
		p->data[p->len++] = value >> 8 * bytes;
}

void fill(struct packet *p, size_t len)
{
	memset(p->data + p->len, 0xee, len);
	p->len += len;
}

void prologue(struct packet *p, int type, int next, int flags)
{
	p->len = 0;
	put(p, type << 11 | next << 7 | flags, 2);
}

struct sockaddr_in at_port(const char *address, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		die("bad address %s", address);
	return to;
}

void send_to(int sock, const struct packet *p, const char *address)
{
	struct sockaddr_in to = at_port(address, PORT);

	if (sendto(sock, p->data, p->len, 0, (void *)&to, sizeof(to)) < 0)
		die("sendto");
	packets++;
}

void send_packet(int sock, const struct packet *p)
{
	send_to(sock, p, addr_a);
}

int socket_of_peer(int type, int proto)
{
	int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int there = open("/run/netns/h2", O_RDONLY | O_CLOEXEC);
	int sock;

	if (here < 0 || there < 0 || setns(there, CLONE_NEWNET))
		die("host h2");
	sock = socket(AF_INET, type | SOCK_CLOEXEC, proto);
	if (sock < 0 || setns(here, CLONE_NEWNET))
		die("socket");
	close(here);
	close(there);
	return sock;
}

int peer_at(const char *address)
{
	struct sockaddr_in from = at_port(address, PORT);
	const int room = 16 << 20;	/* for all that comes before it is read */
	int sock = socket_of_peer(SOCK_DGRAM, 0);

	if (setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    bind(sock, (void *)&from, sizeof(from)) ||
	    setsockopt(sock, IPPROTO_IP, IP_MULTICAST_IF, &from.sin_addr,
		       sizeof(from.sin_addr)))
		die("bind to %s", address);
	return sock;
}

/* ------------------------------------------------------------------ */
/* PDCs and requests                                                   */

struct pdc pdc_new(int sock, int type)
{
	static __u16 last = 0x100;
	__u32 start = rnd();

	return (struct pdc){ sock, type, ++last, 0, start, start };
}

void put_request(struct packet *p, const struct request *r)
{
	__u8 flags = r->flags ? r->flags : SOM | EOM;
	__u16 payload = r->payload ? r->payload :
			r->opcode == READ || r->opcode == FLUSH ? 0 : r->length;

	put(p, r->opcode, 1);
	put(p, flags, 1);
	put(p, r->id ? r->id : 1, 2);
	put(p, r->gen, 1);
	put(p, r->job, 3);
	put(p, r->qpn & 0xfff, 2);
	put(p, r->qpn >> 12, 2);
	put(p, r->addr, 8);
	put(p, r->initiator, 4);
	put(p, r->key, 8);
	put(p, flags & SOM ? 0 : (__u64)payload << 32 | r->offset, 8);
	put(p, r->length, 4);
	if (r->opcode == ATOMIC) {
		put(p, r->amo, 1);
		put(p, r->amo_type, 1);
		put(p, 0, 2);
	}
	fill(p, payload);
}

/* OK, to no message */
void put_response(struct packet *p)
{
	put(p, 0x0101, 2);
	put(p, 0, 10);
}

/* The PDS header of a request, with the PSN @psn */
void put_pds(struct packet *p, const struct pdc *c, int next, __u32 psn)
{
	prologue(p, c->type, next, c->theirs ? AR : AR | SYN);
	/* The answers to all before it were seen. */
	put(p, 0xffff, 2);
	put(p, psn, 4);
	put(p, c->ours, 2);
	put(p, c->theirs ? c->theirs : psn - c->start, 2);
}

void send_request(const struct pdc *c, const struct request *r,
		  __u32 psn)
{
	struct packet p;

	put_pds(&p, c, STANDARD, psn);
	put_request(&p, r);
	send_packet(c->sock, &p);
}

void send_control(const struct pdc *c, int what, int flags, __u32 psn)
{
	struct packet p;

	prologue(&p, CP, what, flags);
	put(&p, 0, 2);
	put(&p, psn, 4);
	put(&p, c->ours, 2);
	put(&p, c->theirs, 2);
	put(&p, 0, 4);
	send_packet(c->sock, &p);
}

/* Of all up to @psn */
void send_ack(const struct pdc *c, __u32 psn)
{
	struct packet p;

	prologue(&p, ACK, NOTHING, 0);
	put(&p, 0, 2);
	put(&p, psn, 4);
	put(&p, c->ours, 2);
	put(&p, c->theirs, 2);
	send_packet(c->sock, &p);
}

void send_nack(const struct pdc *c, int flags, __u32 psn)
{
	struct packet p;

	prologue(&p, NACK, NOTHING, flags);
	put(&p, NOT_RECEIVED, 1);
	put(&p, 0, 1);
	put(&p, psn, 4);
	put(&p, c->ours, 2);
	put(&p, c->theirs, 2);
	put(&p, 0, 4);
	send_packet(c->sock, &p);
}

static __u32 get(const __u8 *at, unsigned int bytes)
{
	__u32 value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

/* Of requests that come back only the PSN counts here. */
static void take_apart(const __u8 *data, struct answer *a)
{
	__u32 head = get(data, 2);
	const __u8 *response;

	a->type = head >> 11;
	a->next = head >> 7 & 0xf;
	a->psn = get(data + 4, 4);
	a->from = get(data + 8, 2);
	a->to = get(data + 10, 2);
	a->code = 0;
	if (a->type == NACK)
		a->code = data[2];
	if (a->type != ACK && a->type != ACK_CC)
		return;
	a->psn += (__s16)get(data + 2, 2);
	response = data + (a->type == ACK ? 12 : 32);
	if (a->next >= RESPONSE)
		a->code = response[1] & 0x3f;
}

/* The next packet to that socket of one of the types */
struct answer receive(int sock, __u32 types, const char *what)
{
	struct pollfd fd = { .fd = sock, .events = POLLIN };
	struct answer a;
	__u8 data[9000];

	for (;;) {
		errno = 0;
		if (poll(&fd, 1, wait_s * 1000) <= 0)
			die("%s: no answer", what);
		if (recv(sock, data, sizeof(data), 0) < 12)
			die("%s: a short packet", what);
		take_apart(data, &a);
		if (types & 1u << a.type)
			return a;
	}
}

/* The ACK or NACK of a PSN */
struct answer answer_to(const struct pdc *c, __u32 psn, const char *what)
{
	struct answer a;

	do {
		a = receive(c->sock, 1 << ACK | 1 << ACK_CC | 1 << NACK, what);
	} while (a.to != c->ours || a.psn != psn);
	return a;
}

void refused(const struct pdc *c, __u32 psn, int code, const char *what)
{
	struct answer a = answer_to(c, psn, what);

	errno = 0;
	if (a.type != NACK || a.code != code)
		die("%s: answer of type %d, code %#x, not a NACK %#x", what,
		    a.type, a.code, code);
}

/* A request, answered by an ACK with that return code; and what it moved */
void asks(const char *what, struct pdc *c, const struct request *r,
	  int rc, const char *moves)
{
	struct answer a;

	send_request(c, r, c->psn);
	a = answer_to(c, c->psn, what);
	errno = 0;
	if (a.type == NACK || a.code != rc)
		die("%s: answer of type %d, code %#x, not an ACK with %#x", what,
		    a.type, a.code, rc);
	c->theirs = a.from;
	c->psn++;
	moved(what, moves);
}

/* In good order */
void pdc_close(struct pdc *c)
{
	send_control(c, CLOSE_COMMAND, c->type == ROD ? 0x20 | AR : AR, c->psn);
	if (answer_to(c, c->psn, "close").type == NACK)
		die("the PDC cannot be closed");
	moved("close", "pdc_closed rx_cps");
}

struct request to_memory(__u32 qpn, __u8 opcode, __u32 len)
{
	return (struct request){
		.opcode = opcode,
		.qpn = qpn,
		.initiator = PEER_QPN,
		.length = len,
		.addr = (uintptr_t)A.mem,
		.key = A.mr->rkey,
	};
}
