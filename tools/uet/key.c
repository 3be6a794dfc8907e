// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Key material comes from a file or from standard input, never from the command
 * line, where everybody could read it. It is kept nowhere longer than needed.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "uet.h"

/* More than a key in any form, so that too much is seen. */
#define FILE_MAX	256

static int digit(char c)
{
	if (!isxdigit((unsigned char)c))
		return -1;
	return isdigit((unsigned char)c) ? c - '0' :
					   tolower((unsigned char)c) - 'a' + 10;
}

/* 64 hexadecimal digits, or else 32 bytes as they are. */
static bool parse_key(const char *text, size_t size, uint8_t *key)
{
	size_t i;

	if (size == KEY_BYTES) {
		memcpy(key, text, size);
		return true;
	}
	while (size && isspace((unsigned char)text[size - 1]))
		size--;
	if (size != 2 * KEY_BYTES)
		return false;
	for (i = 0; i < KEY_BYTES; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		key[i] = high << 4 | low;
	}
	return true;
}

/* Somebody gave the key itself; it must not be repeated. */
static bool is_key(const char *file)
{
	uint8_t key[KEY_BYTES];
	bool is = strlen(file) == 2 * KEY_BYTES && parse_key(file, strlen(file), key);

	explicit_bzero(key, sizeof(key));
	return is;
}

static int open_key(const char *file)
{
	int fd;

	if (strcmp(file, "-")) {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && is_key(file))
			error("key-file takes a file or \"-\", never the key itself");
		else if (fd < 0)
			error("cannot open \"%s\": %s", file, strerror(errno));
		return fd;
	}
	if (opt.stdin_taken) {
		error("key-file -: standard input is the batch");
		return -1;
	}
	return STDIN_FILENO;
}

/* All there is, as far as it fits; bytes read, or -1 with errno. */
static ssize_t read_all(int fd, char *text, size_t room)
{
	size_t used = 0;
	ssize_t got;

	while (used < room) {
		got = read(fd, text + used, room - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		used += got;
	}
	return used;
}

/* Read KEY_BYTES of key material from @file, "-" for standard input. */
int key_read(const char *file, uint8_t *key)
{
	char text[FILE_MAX];
	ssize_t size;
	bool ok;
	int fd;

	fd = open_key(file);
	if (fd < 0)
		return RET_USAGE;
	size = read_all(fd, text, sizeof(text));
	if (size < 0)
		error("cannot read \"%s\": %s", file, strerror(errno));
	if (fd != STDIN_FILENO)
		close(fd);
	if (size < 0)
		return RET_USAGE;
	ok = parse_key(text, size, key);
	explicit_bzero(text, sizeof(text));
	if (ok)
		return RET_OK;
	error("\"%s\" is no key: it takes 64 hexadecimal digits, or 32 bytes", file);
	return RET_USAGE;
}
