// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Words of the command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uet.h"

/* The next word, taken; NULL at the end. */
const char *arg_next(struct args *a)
{
	if (!a->n)
		return NULL;
	a->n--;
	return *a->v++;
}

/* Is the next word this one, in full? */
bool arg_is(const struct args *a, const char *word)
{
	return a->n && !strcmp(a->v[0], word);
}

/* Is the next word a call for help? */
bool arg_is_help(const struct args *a)
{
	return arg_is(a, "help") || arg_is(a, "-h") || arg_is(a, "--help");
}

/* The value after @word, taken. */
int arg_value(struct args *a, const char *word, const char **value)
{
	*value = arg_next(a);
	if (*value)
		return RET_OK;
	error("%s: value missing", word);
	return RET_USAGE;
}

/* "dev NAME", or NAME alone, taken. */
int arg_device(struct args *a, const char **dev)
{
	if (arg_is(a, "dev"))
		arg_next(a);
	return arg_value(a, "dev", dev);
}

/* A number from 0 to @max; decimal, 0x hexadecimal or 0 octal. */
int arg_number(const char *word, const char *text, uint64_t max, uint32_t *value)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (text[0] < '0' || text[0] > '9' || *end) {
		error("argument \"%s\" is wrong: %s takes a number", text, word);
		return RET_USAGE;
	}
	if (errno || n > max) {
		error("argument \"%s\" is wrong: %s: number too large", text, word);
		return RET_USAGE;
	}
	*value = n;
	return RET_OK;
}

/* "on" or "off", as 1 or 0 */
int arg_on_off(const char *word, const char *text, uint32_t *value)
{
	*value = !strcmp(text, "on");
	if (*value || !strcmp(text, "off"))
		return RET_OK;
	error("argument \"%s\" is wrong: %s is \"on\" or \"off\"", text, word);
	return RET_USAGE;
}

/* Fails if there are words left. */
int arg_end(const struct args *a)
{
	if (!a->n)
		return RET_OK;
	error("either \"%s\" is duplicate, or \"%s\" is a garbage", a->v[0], a->v[0]);
	return RET_USAGE;
}

static const char *nth_word(const void *first, size_t stride, size_t i)
{
	return *(const char *const *)((const char *)first + i * stride);
}

static void print_ambiguous(const char *what, const char *text, const void *first,
			    size_t stride, size_t count)
{
	const char *sep = "";
	size_t i;

	fprintf(stderr, "Error: %s \"%s\" is ambiguous:", what, text);
	for (i = 0; i < count; i++) {
		const char *word = nth_word(first, stride, i);

		if (strncmp(word, text, strlen(text)))
			continue;
		fprintf(stderr, "%s %s", sep, word);
		sep = ",";
	}
	fputc('\n', stderr);
}

/*
 * Which word is meant by @text: the one that is equal, or the only one that
 * begins so. @first points to the first word, the next one's pointer is
 * @stride bytes further. @object is "" or a word and a space, for the hint.
 * Returns its number, or -1 after an error message.
 */
int word_find(const char *what, const char *object, const char *text,
	      const void *first, size_t stride, size_t count)
{
	size_t len = strlen(text);
	int found = -1;
	size_t i;

	for (i = 0; len && i < count; i++) {
		const char *word = nth_word(first, stride, i);

		if (strncmp(word, text, len))
			continue;
		if (!word[len])
			return i;
		if (found >= 0) {
			print_ambiguous(what, text, first, stride, count);
			return -1;
		}
		found = i;
	}
	if (found < 0)
		error("%s \"%s\" is unknown, try \"uet %shelp\"", what, text, object);
	return found;
}

/*
 * Run the command that the next word names; the first one if there is none.
 * @object as in word_find().
 */
int cmd_run(const char *object, const struct cmd *cmds, size_t count,
	    struct args *a)
{
	bool help = arg_is_help(a);
	const char *text = arg_next(a);
	int i = 0;

	if (help)
		text = "help";
	if (text)
		i = word_find(*object ? "command" : "object", object, text, cmds,
			      sizeof(*cmds), count);
	return i < 0 ? RET_USAGE : cmds[i].run(a);
}
