// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Netlink: requests to the generic family "uet" and to the RDMA core, answers,
 * notifications and errors.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <poll.h>
#include <rdma/rdma_netlink.h>
#include <rdma/uet_netlink.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "uet.h"

/* A dump fills up to this much at once if it may. */
#define NL_BUF_SIZE	32768

/* What a monitor may be behind: thousands of jobs that come at once. */
#define NL_MONITOR_BUF	(4 << 20)

static struct mnl_socket *genl_sock;
static struct mnl_socket *rdma_sock;
static struct mnl_socket *sock;	/* the one that the request was begun for */
static uint16_t family;
static uint32_t group;
static uint32_t seq;
static char send_buf[NL_BUF_SIZE];
static char recv_buf[NL_BUF_SIZE];

/* ---- errors ---- */

/*
 * The attribute that stands @offs bytes after the begin of the request, or the
 * nest that it is in.
 */
static const struct nlattr *attr_at(const struct nlmsghdr *req, uint32_t offs)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, req, sizeof(struct genlmsghdr)) {
		ptrdiff_t pos = (const char *)attr - (const char *)req;

		if (pos <= (ptrdiff_t)offs && (ptrdiff_t)offs < pos + attr->nla_len)
			return attr;
	}
	return NULL;
}

/* The first number in a nest, which says which one it is. */
static uint64_t nest_number(const struct nlattr *nest)
{
	return mnl_attr_get_payload_len(nest) < MNL_ATTR_HDRLEN ? 0 :
	       nl_uint(mnl_attr_get_payload(nest));
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
	else if (word->kind == NL_NEST)
		fprintf(stderr, " %llu", (unsigned long long)nest_number(attr));
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

/* Which group is the one of that name? */
static uint32_t find_group(const struct nlattr *groups, const char *name)
{
	const struct nlattr *one, *attr;

	mnl_attr_for_each_nested(one, groups) {
		const char *text = "";
		uint32_t id = 0;

		mnl_attr_for_each_nested(attr, one) {
			if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME)
				text = nl_str(attr);
			else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID)
				id = nl_uint(attr);
		}
		if (!strcmp(text, name))
			return id;
	}
	return 0;
}

static void family_answer(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[CTRL_ATTR_MAX + 1];

	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	family = nl_uint(tb[CTRL_ATTR_FAMILY_ID]);
	if (tb[CTRL_ATTR_MCAST_GROUPS])
		group = find_group(tb[CTRL_ATTR_MCAST_GROUPS], UET_MCGRP_MONITOR);
}

/* The kernel loads the module for this request if it is installed. */
static int find_family(void)
{
	struct nlmsghdr *nlh = put_header(GENL_ID_CTRL, NLM_F_ACK,
					  CTRL_CMD_GETFAMILY, 1);

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, UET_FAMILY_NAME);
	return nl_talk(nlh, NULL, family_answer);
}

static int open_socket(struct mnl_socket **s, int bus)
{
	const int on = 1;

	if (*s)
		return RET_OK;
	*s = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (!*s || mnl_socket_bind(*s, 0, MNL_SOCKET_AUTOPID) < 0) {
		error("cannot open a netlink socket: %s", strerror(errno));
		return RET_USAGE;
	}
	/* without these, errors come without a text */
	mnl_socket_setsockopt(*s, NETLINK_EXT_ACK, (void *)&on, sizeof(on));
	mnl_socket_setsockopt(*s, NETLINK_CAP_ACK, (void *)&on, sizeof(on));
	if (!seq)
		seq = time(NULL);
	return RET_OK;
}

/* Make the socket for the family the current one, and know the family. */
static int use_genl(void)
{
	int ret = open_socket(&genl_sock, NETLINK_GENERIC);

	sock = genl_sock;
	if (!ret && !family)
		ret = find_family();
	return ret;
}

/*
 * Begin a request to the family; @flags is NLM_F_ACK or NLM_F_DUMP. The buffer
 * is good until the next call.
 */
int nl_begin(uint8_t cmd, uint16_t flags, struct nlmsghdr **nlh)
{
	int ret = use_genl();

	if (!ret)
		*nlh = put_header(family, flags, cmd, UET_FAMILY_VERSION);
	return ret;
}

/* Begin a request to the RDMA core, about a device that the family named. */
int nl_begin_rdma(uint16_t cmd, struct nlmsghdr **nlh)
{
	int ret = open_socket(&rdma_sock, NETLINK_RDMA);

	if (ret)
		return ret;
	sock = rdma_sock;
	*nlh = mnl_nlmsg_put_header(send_buf);
	(*nlh)->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd);
	(*nlh)->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	(*nlh)->nlmsg_seq = ++seq;
	return RET_OK;
}

/* Bytes that a request may still grow by. */
size_t nl_room(const struct nlmsghdr *nlh)
{
	return sizeof(send_buf) - nlh->nlmsg_len;
}

/* Forget a request that had secrets in it. */
void nl_wipe(void)
{
	explicit_bzero(send_buf, sizeof(send_buf));
}

/* ---- notifications ---- */

/* SIGINT and SIGTERM come here from now on; -1 with errno. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int join(void)
{
	const int size = NL_MONITOR_BUF;
	int fd, ret = use_genl();

	if (ret)
		return ret;
	fd = mnl_socket_get_fd(sock);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (!group || mnl_socket_setsockopt(sock, NETLINK_ADD_MEMBERSHIP, &group,
					    sizeof(group)) < 0) {
		error("cannot listen to the kernel: %s", group ? strerror(errno) :
								 "no such group");
		return RET_KERNEL;
	}
	return RET_OK;
}

/* Take what is there. 0, or -1 with errno. */
static int take_events(nl_answer_fn event)
{
	ssize_t got = mnl_socket_recvfrom(sock, recv_buf, sizeof(recv_buf));
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)recv_buf;
	int len = got;

	if (got < 0)
		return -1;
	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
		if (nlh->nlmsg_type == family)
			event(nlh);
	return 0;
}

/* Take notifications until something happens at one of the other two. */
static int listen_on(struct pollfd *fds, nl_answer_fn event)
{
	while (!fds[1].revents && !fds[2].revents) {
		if (poll(fds, 3, -1) < 0 || !fds[0].revents)
			continue;
		if (!take_events(event) || errno == EINTR)
			continue;
		if (errno != ENOBUFS) {
			error("no notifications from the kernel: %s", strerror(errno));
			return RET_KERNEL;
		}
		fputs("Notifications were lost: there were too many at once.\n", stderr);
	}
	return RET_OK;
}

/*
 * Pass each notification to @event, until SIGINT or SIGTERM, or until nobody
 * reads what is printed any more. Returns RET_*.
 */
int nl_listen(nl_answer_fn event)
{
	struct pollfd fds[3] = {
		{ .events = POLLIN },
		{ .events = POLLIN },
		{ .fd = STDOUT_FILENO },	/* only for POLLERR */
	};
	int ret = join();

	if (ret)
		return ret;
	fds[0].fd = mnl_socket_get_fd(sock);
	fds[1].fd = open_signals();
	if (fds[1].fd < 0) {
		error("cannot wait for signals: %s", strerror(errno));
		return RET_USAGE;
	}
	ret = listen_on(fds, event);
	close(fds[1].fd);
	return ret;
}

/* At the end of the program. */
void nl_end(void)
{
	if (genl_sock)
		mnl_socket_close(genl_sock);
	if (rdma_sock)
		mnl_socket_close(rdma_sock);
	genl_sock = NULL;
	rdma_sock = NULL;
}
