// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Generic netlink: requests to the family "uet", answers and errors. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <rdma/uet_netlink.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "uet.h"

/* A dump fills up to this much at once if it may. */
#define NL_BUF_SIZE	32768

static struct mnl_socket *sock;
static uint16_t family;
static uint32_t seq;
static char send_buf[NL_BUF_SIZE];
static char recv_buf[NL_BUF_SIZE];

/* ---- errors ---- */

/* The attribute that stands @offs bytes after the begin of the request. */
static const struct nlattr *attr_at(const struct nlmsghdr *req, uint32_t offs)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, req, sizeof(struct genlmsghdr))
		if ((const char *)attr - (const char *)req == (ptrdiff_t)offs)
			return attr;
	return NULL;
}

static const struct nl_word *attr_word(const struct nl_words *words,
				       unsigned int type)
{
	static const struct nl_word none;

	return words && type < words->count ? &words->words[type] : &none;
}

/* "WORD VALUE: " for an attribute that the kernel took offence at. */
static void print_culprit(const struct nlattr *attr, const struct nl_word *word)
{
	if (!word->word)
		return;
	fputs(word->word, stderr);
	if (word->kind == NL_NUMBER)
		fprintf(stderr, " %llu", (unsigned long long)nl_uint(attr));
	else if (word->kind == NL_STRING)
		fprintf(stderr, " %s", nl_str(attr));
	fputs(": ", stderr);
}

/* "WORD: " for one that it misses. */
static void print_missing(const struct nl_word *word)
{
	if (word->word)
		fprintf(stderr, "%s: ", word->word);
}

/* " (1 to 65535)" if the kernel tells what it takes. */
static void print_range(const struct nlattr *policy)
{
	const struct nlattr *attr, *min = NULL, *max = NULL;

	mnl_attr_for_each_nested(attr, policy) {
		switch (mnl_attr_get_type(attr)) {
		case NL_POLICY_TYPE_ATTR_MIN_VALUE_U:
			min = attr;
			break;
		case NL_POLICY_TYPE_ATTR_MAX_VALUE_U:
			max = attr;
			break;
		}
	}
	if (min && max)
		fprintf(stderr, " (%llu to %llu)", (unsigned long long)nl_uint(min),
			(unsigned long long)nl_uint(max));
}

static void print_extack(const struct nlmsghdr *req, const struct nl_words *words,
			 const struct nlattr **tb, int code)
{
	const struct nlattr *attr = NULL;
	const char *text;
	size_t len;

	fputs("Error: ", stderr);
	if (tb[NLMSGERR_ATTR_OFFS])
		attr = attr_at(req, nl_uint(tb[NLMSGERR_ATTR_OFFS]));
	if (attr)
		print_culprit(attr, attr_word(words, mnl_attr_get_type(attr)));
	else if (tb[NLMSGERR_ATTR_MISS_TYPE])
		print_missing(attr_word(words, nl_uint(tb[NLMSGERR_ATTR_MISS_TYPE])));

	if (tb[NLMSGERR_ATTR_MSG]) {
		text = nl_str(tb[NLMSGERR_ATTR_MSG]);
	} else {
		text = strerror(-code);
		fputs("kernel answers: ", stderr);
	}
	fputs(text, stderr);
	if (tb[NLMSGERR_ATTR_POLICY])
		print_range(tb[NLMSGERR_ATTR_POLICY]);
	len = strlen(text);
	fputs(len && text[len - 1] == '.' ? "\n" : ".\n", stderr);
}

/*
 * An NLMSG_ERROR or NLMSG_DONE with extended attributes behind @used bytes of
 * payload.
 */
static void print_error(const struct nlmsghdr *req, const struct nl_words *words,
			const struct nlmsghdr *nlh, size_t used, int code)
{
	const struct nlattr *tb[NLMSGERR_ATTR_MAX + 1] = { NULL };
	const struct nlattr *attr;

	if (req->nlmsg_type == GENL_ID_CTRL && code == -ENOENT) {
		error("the kernel has no UET (module uet is not loaded)");
		return;
	}
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_for_each(attr, nlh, used)
			if (mnl_attr_get_type(attr) < ARRAY_SIZE(tb))
				tb[mnl_attr_get_type(attr)] = attr;
	print_extack(req, words, tb, code);
}

/* ---- attributes of answers ---- */

/* Attributes of a message by type; those we do not know are left out. */
void nl_parse(const struct nlmsghdr *nlh, const struct nlattr **tb, size_t count)
{
	const struct nlattr *attr;

	memset(tb, 0, count * sizeof(*tb));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) < count)
			tb[mnl_attr_get_type(attr)] = attr;
}

/* A number of any width; 0 if it is not there. */
uint64_t nl_uint(const struct nlattr *attr)
{
	uint64_t u64;

	if (!attr)
		return 0;
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		return mnl_attr_get_u8(attr);
	case 2:
		return mnl_attr_get_u16(attr);
	case 4:
		return mnl_attr_get_u32(attr);
	case 8:
		memcpy(&u64, mnl_attr_get_payload(attr), sizeof(u64));
		return u64;
	}
	return 0;
}

/* A string; "?" if it is not there or has no end. */
const char *nl_str(const struct nlattr *attr)
{
	if (!attr || mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
		return "?";
	return mnl_attr_get_str(attr);
}

/* An IPv4 or IPv6 address as text, good until the next but one call. */
const char *nl_addr(const struct nlattr *attr)
{
	static char text[2][INET6_ADDRSTRLEN];
	static int turn;
	int len = attr ? mnl_attr_get_payload_len(attr) : 0;

	if (len != 4 && len != 16)
		return "?";
	turn = !turn;
	return inet_ntop(len == 4 ? AF_INET : AF_INET6, mnl_attr_get_payload(attr),
			 text[turn], sizeof(text[turn]));
}

/* ---- talking ---- */

/* What one message of an answer means for the loop in nl_talk(). */
enum verdict { GO_ON, DONE, FAILED };

static enum verdict take_end(const struct nlmsghdr *req, const struct nl_words *words,
			     const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	size_t used = sizeof(*e);
	int code = 0;

	if (nlh->nlmsg_type == NLMSG_DONE) {
		used = sizeof(code);
		if (mnl_nlmsg_get_payload_len(nlh) >= used)
			memcpy(&code, e, used);
	} else if (mnl_nlmsg_get_payload_len(nlh) >= used) {
		code = e->error;
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			used += e->msg.nlmsg_len - sizeof(e->msg);
	} else {
		code = -EBADMSG;
	}
	if (code >= 0)
		return DONE;
	print_error(req, words, nlh, used, code);
	return FAILED;
}

static enum verdict take(const struct nlmsghdr *req, const struct nl_words *words,
			 const struct nlmsghdr *nlh, nl_answer_fn answer,
			 bool *interrupted)
{
	if (nlh->nlmsg_seq != req->nlmsg_seq)
		return GO_ON;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		*interrupted = true;
	if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE)
		return take_end(req, words, nlh);
	if (answer && nlh->nlmsg_type == req->nlmsg_type)
		answer(nlh);
	return GO_ON;
}

static ssize_t receive(void)
{
	ssize_t len;

	do {
		len = mnl_socket_recvfrom(sock, recv_buf, sizeof(recv_buf));
	} while (len < 0 && errno == EINTR);
	return len;
}

/*
 * Send a request and take the whole answer; @answer gets each message of it.
 * Returns RET_*, after an error message if need be.
 */
int nl_talk(const struct nlmsghdr *req, const struct nl_words *words,
	    nl_answer_fn answer)
{
	enum verdict verdict = GO_ON;
	bool interrupted = false;

	if (mnl_socket_sendto(sock, req, req->nlmsg_len) < 0) {
		error("cannot ask the kernel: %s", strerror(errno));
		return RET_KERNEL;
	}
	while (verdict == GO_ON) {
		ssize_t got = receive();
		int len = got;
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)recv_buf;

		if (got < 0) {
			error("no answer from the kernel: %s", strerror(errno));
			return RET_KERNEL;
		}
		for (; verdict == GO_ON && mnl_nlmsg_ok(nlh, len);
		     nlh = mnl_nlmsg_next(nlh, &len))
			verdict = take(req, words, nlh, answer, &interrupted);
	}
	if (interrupted)
		fputs("Things changed while they were listed; the list may be inconsistent.\n",
		      stderr);
	return verdict == DONE ? RET_OK : RET_KERNEL;
}

/* @flags: NLM_F_ACK or NLM_F_DUMP */
static struct nlmsghdr *put_header(uint16_t type, uint16_t flags, uint8_t cmd,
				   uint8_t version)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(send_buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

static void family_answer(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[CTRL_ATTR_MAX + 1];

	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	family = nl_uint(tb[CTRL_ATTR_FAMILY_ID]);
}

/* The kernel loads the module for this request if it is installed. */
static int find_family(void)
{
	struct nlmsghdr *nlh = put_header(GENL_ID_CTRL, NLM_F_ACK,
					  CTRL_CMD_GETFAMILY, 1);

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, UET_FAMILY_NAME);
	return nl_talk(nlh, NULL, family_answer);
}

static int open_socket(void)
{
	const int on = 1;

	sock = mnl_socket_open(NETLINK_GENERIC);
	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		error("cannot open a netlink socket: %s", strerror(errno));
		return RET_USAGE;
	}
	/* without these, errors come without a text */
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, (void *)&on, sizeof(on));
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, (void *)&on, sizeof(on));
	seq = time(NULL);
	return RET_OK;
}

/*
 * Begin a request to the family; @flags is NLM_F_ACK or NLM_F_DUMP. The buffer is good
 * until the next call.
 */
int nl_begin(uint8_t cmd, uint16_t flags, struct nlmsghdr **nlh)
{
	int ret = RET_OK;

	if (!sock)
		ret = open_socket();
	if (!ret && !family)
		ret = find_family();
	if (!ret)
		*nlh = put_header(family, flags, cmd, UET_FAMILY_VERSION);
	return ret;
}

/* At the end of the program. */
void nl_end(void)
{
	if (sock)
		mnl_socket_close(sock);
	sock = NULL;
}
