// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Files of lines of words: batches of commands, and peer tables. Words are
 * divided by white space and may be quoted; "#" begins a comment, and a
 * backslash at the end of a line joins it to the next.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uet.h"

/* @name: "-" for standard input. */
int file_open(const char *name, struct line *line)
{
	memset(line, 0, sizeof(*line));
	line->file = strcmp(name, "-") ? fopen(name, "re") : stdin;
	if (line->file)
		return RET_OK;
	error("cannot open \"%s\": %s", name, strerror(errno));
	return RET_USAGE;
}

void file_close(struct line *line)
{
	if (line->file != stdin)
		fclose(line->file);
	free(line->text);
	free(line->room);
}

/* A line with those it is joined to; false at the end of the file. */
static bool read_line(struct line *line)
{
	char *more = NULL;
	size_t room = 0;
	ssize_t len, next;

	len = getline(&line->text, &line->size, line->file);
	if (len < 0)
		return false;
	line->number++;
	while (len >= 2 && !strcmp(line->text + len - 2, "\\\n")) {
		char *grown;

		next = getline(&more, &room, line->file);
		if (next < 0)
			break;
		line->number++;
		len -= 2;
		grown = realloc(line->text, len + next + 1);
		if (!grown)
			abort();
		memcpy(grown + len, more, next + 1);
		line->text = grown;
		len += next;
		line->size = len + 1;
	}
	free(more);
	return true;
}

static void add_word(struct line *line, char *word)
{
	struct args *a = &line->words;

	if ((size_t)a->n == line->max) {
		line->max = line->max ? 2 * line->max : 32;
		line->room = realloc(line->room, line->max * sizeof(*line->room));
		if (!line->room)
			abort();
	}
	line->room[a->n++] = word;
	a->v = line->room;
}

/* Takes the word at @text; returns where to go on, NULL after a lone quote. */
static char *take_word(struct line *line, char *text)
{
	char *end;

	if (*text == '"' || *text == '\'') {
		end = strchr(text + 1, *text);
		if (!end)
			return NULL;
		text++;
	} else {
		end = text + strcspn(text, " \t\r\n\v\f");
	}
	add_word(line, text);
	if (*end)
		*end++ = '\0';
	return end;
}

/* No line: is that the end, or an error? */
static int read_error(const struct line *line)
{
	if (!ferror(line->file))
		return -1;
	error("cannot read: %s", strerror(errno));
	return RET_USAGE;
}

/*
 * The next line that has words, in @line->words; good until the next call.
 * Returns RET_OK, RET_USAGE after an error message, or -1 at the end.
 */
int file_line(struct line *line)
{
	char *text;

	do {
		if (!read_line(line))
			return read_error(line);
		line->words.n = 0;
		text = line->text;
		for (;;) {
			text += strspn(text, " \t\r\n\v\f");
			if (!*text || *text == '#')
				break;
			text = take_word(line, text);
			if (!text) {
				error("unterminated quoted string");
				return RET_USAGE;
			}
		}
	} while (!line->words.n);
	return RET_OK;
}

/* Run the commands of a file. Returns RET_* of the first that failed. */
int batch(const char *name, int (*run)(struct args *a))
{
	struct line line;
	int ret, worst;

	worst = file_open(name, &line);
	if (worst)
		return worst;
	opt.stdin_taken = line.file == stdin;
	while ((ret = file_line(&line)) >= 0) {
		if (!ret)
			ret = run(&line.words);
		if (!ret)
			continue;
		fflush(stdout);
		fprintf(stderr, "Command failed %s:%u\n", name, line.number);
		worst = worst ?: ret;
		if (!opt.force || ferror(line.file))
			break;
	}
	file_close(&line);
	return worst;
}
