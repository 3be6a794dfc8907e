/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A peer that is no driver but a socket: what it sends, what it hears, and what its
 * packets moved among the counters (drops_peer.c).
 */
#ifndef UET_TEST_DROPS_H
#define UET_TEST_DROPS_H

#include <sys/socket.h>

#include "figures.h"
#include "pair_test.h"
#include "piece.h"
#include "ru_qp.h"

#define MEM		(64 * 1024u)
#define PORT		4793
#define PEER		"10.0.0.2"
#define STRANGER	"10.0.0.3"	/* the other address of the peer */
#define GROUP		"239.1.2.3"
#define EVERYBODY	"224.0.0.1"	/* a group of all hosts, without QPs */
#define PEER_QPN	0x123456u
#define NO_KEY		0x7fffff00u
#define NO_QPN		0x765432u
#define NO_JOB		5
#define WINDOW		1024

/* Documentation/infiniband/uet-wire.rst */
enum { TSS = 1, RUD, ROD, RUDI, RUDI_RESPONSE, UUD, ACK, ACK_CC, NACK = 10, CP };
enum { NOTHING, STANDARD = 3, RESPONSE };
enum { AR = 0x08, SYN = 0x04, ABOUT_RUDI = 0x08 };
enum { ACK_REQUEST = 1, CLOSE_COMMAND = 4, CREDIT = 7, NEGOTIATION = 9 };
enum { SOM = 1, EOM = 2, HD = 4, REL = 8, IE = 0x10 };
enum { WRITE = 1, READ, ATOMIC, SEND = 5, DATAGRAM = 7, INVALIDATE = 0x30,
	FLUSH, VENDOR = 0x3e };
enum { AMO_MIN, AMO_SUM = 2, INT32 = 4, UINT64 = 7 };
enum { RC_OK = 1, BAD_GENERATION, DISABLED, DISABLED_GEN, NO_MATCH,
	UNSUPPORTED_OP, UNSUPPORTED_SIZE, HOST_UNSUCCESS = 0x0e, AMO_BAD_OP,
	AMO_BAD_TYPE, AMO_BAD_SIZE, AMO_UNALIGNED, PERM_VIOLATION = 0x17,
	OP_VIOLATION, BAD_PID = 0x1a, BAD_JOB, BAD_MKEY, BAD_ADDR,
	UNDELIVERABLE = 0x1f, UNCOR, TOO_LONG = 0x22, INITIATOR_ERROR };
enum { NO_PDC = 0x04, NO_RESOURCE = 0x0a, OUT_OF_WINDOW, ROD_OOO = 0x0d,
	UNKNOWN_PDC, MISMATCH, CLOSING_IN_ERR = 0x11, NOT_RECEIVED,
	INVALID_SYN = 0x15, WRONG_MODE, UNEXPECTED = 0x19 };

struct packet {
	size_t len;
	__u8 data[9000];
};

struct pdc {
	int sock;
	int type;		/* RUD, ROD */
	__u16 ours, theirs;	/* theirs is 0 until an answer told it */
	__u32 start, psn;	/* the next one */
};

struct request {
	__u8 opcode;
	__u8 flags;		/* 0: SOM | EOM */
	__u8 gen;
	__u32 job, qpn, initiator, length;
	__u64 addr, key;
	__u16 id;
	__u32 offset;		/* of a packet without SOM */
	__u16 payload;		/* if it is not what follows from the rest */
	__u8 amo, amo_type;
};

struct answer {
	int type, next;
	int code;		/* of a NACK; the return code of a response, or 0 */
	__u32 psn;
	__u16 from, to;
};

void counters_init(void);
void moved(const char *what, const char *moves);
void counters_start(void);
void put(struct packet *p, __u64 value, unsigned int bytes);
void fill(struct packet *p, size_t len);
void prologue(struct packet *p, int type, int next, int flags);
struct sockaddr_in at_port(const char *address, int port);
void send_to(int sock, const struct packet *p, const char *address);
void send_packet(int sock, const struct packet *p);
int socket_of_peer(int type, int proto);
int peer_at(const char *address);
struct pdc pdc_new(int sock, int type);
void put_request(struct packet *p, const struct request *r);
void put_response(struct packet *p);
void put_pds(struct packet *p, const struct pdc *c, int next, __u32 psn);
void send_request(const struct pdc *c, const struct request *r,
		  __u32 psn);
void send_control(const struct pdc *c, int what, int flags, __u32 psn);
void send_ack(const struct pdc *c, __u32 psn);
void send_nack(const struct pdc *c, int flags, __u32 psn);
struct answer receive(int sock, __u32 types, const char *what);
struct answer answer_to(const struct pdc *c, __u32 psn, const char *what);
void refused(const struct pdc *c, __u32 psn, int code, const char *what);
void asks(const char *what, struct pdc *c, const struct request *r,
	  int rc, const char *moves);
void pdc_close(struct pdc *c);
struct request to_memory(__u32 qpn, __u8 opcode, __u32 len);

#endif /* UET_TEST_DROPS_H */
