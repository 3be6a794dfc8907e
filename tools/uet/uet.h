/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The uet command: what its files share. One file per object (dev.c, pdc.c, ...),
 * and those that serve them: arg.c reads words, field.c words with values,
 * key.c key material, batch.c files of commands; nl.c talks to the kernel,
 * out.c prints.
 */
#ifndef UET_TOOL_H
#define UET_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <libmnl/libmnl.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* What the command returns to its caller, as the other tools of iproute2 do. */
enum {
	RET_OK		= 0,
	RET_USAGE	= 1,	/* bad words, or trouble before the kernel was asked */
	RET_KERNEL	= 2,	/* the kernel refused */
};

/**
 * struct options - what the options before the object asked for
 * @json: -j, JSON instead of text
 * @pretty: -p, JSON with line breaks
 * @details: -d
 * @stats: -s
 * @force: -f, a batch goes on after errors
 * @stdin_taken: the batch is read from standard input
 */
struct options {
	bool json;
	bool pretty;
	bool details;
	bool stats;
	bool force;
	bool stdin_taken;
};

extern struct options opt;

/* ---- arg.c: words of the command line ---- */

/**
 * struct args - the words not read yet
 * @n: how many
 * @v: the next one, if @n is not 0
 */
struct args {
	int n;
	char **v;
};

/**
 * struct cmd - a word and what it does
 * @word: in full; any prefix that is clear will do
 * @run: gets the words after it, returns RET_*
 */
struct cmd {
	const char *word;
	int (*run)(struct args *a);
};

const char *arg_next(struct args *a);
bool arg_is(const struct args *a, const char *word);
bool arg_is_help(const struct args *a);
int arg_value(struct args *a, const char *word, const char **value);
int arg_device(struct args *a, const char **dev);
int arg_number(const char *word, const char *text, uint64_t max, uint32_t *value);
int arg_on_off(const char *word, const char *text, uint32_t *value);
int arg_end(const struct args *a);

int word_find(const char *what, const char *object, const char *text,
	      const void *first, size_t stride, size_t count);
int cmd_run(const char *object, const struct cmd *cmds, size_t count,
	    struct args *a);

/* ---- field.c: words with values, and what they become in a request ---- */

#define KEY_BYTES	32
#define VALUE_BYTES	32

enum field_kind {
	F_DEV,		/* name of a device, always first */
	F_TEXT,
	F_NUMBER,	/* u32 */
	F_SMALL,	/* u8 */
	F_NAME,		/* one of a few, u32 */
	F_USER,		/* name or number */
	F_GROUP,
	F_ADDRESS,	/* IPv4 or IPv6 */
	F_KEY,		/* file with key material */
	F_FLAG,		/* a word without value */
};

/**
 * struct names - what the values of an enumeration are called
 * @first: value of the first one
 * @count: how many
 * @words: their names
 */
struct names {
	uint32_t first;
	size_t count;
	const char *const *words;
};

/**
 * struct field - a word of a command, with a value
 * @word: what it is called
 * @kind: what value it takes
 * @attr: attribute that this becomes
 * @need: it must be there
 * @names: F_NAME: the values
 */
struct field {
	const char *word;
	enum field_kind kind;
	uint16_t attr;
	bool need;
	const struct names *names;
};

/**
 * struct value - a value that was read
 * @given: there was one
 * @number: of all kinds of numbers
 * @text: F_DEV, F_TEXT
 * @size: bytes in @bytes
 * @bytes: F_ADDRESS, F_KEY
 */
struct value {
	bool given;
	uint32_t number;
	const char *text;
	size_t size;
	uint8_t bytes[VALUE_BYTES];
};

int fields_read(const char *object, struct args *a, const struct field *fields,
		size_t count, struct value *values);
void fields_put(struct nlmsghdr *nlh, const struct field *fields, size_t count,
		const struct value *values);
const char *name_of(const struct names *names, uint64_t value);

/* ---- key.c ---- */

int key_read(const char *file, uint8_t *key);

/* ---- batch.c ---- */

struct line {
	FILE *file;
	char *text;
	size_t size;
	unsigned int number;
	struct args words;
	char **room;
	size_t max;
};

int file_open(const char *name, struct line *line);
int file_line(struct line *line);
void file_close(struct line *line);
int batch(const char *name, int (*run)(struct args *a));

/* One line on stderr, as iproute2 prints it. */
#define error(...)	(fprintf(stderr, "Error: " __VA_ARGS__), (void)fputc('\n', stderr))

/* ---- nl.c: the kernel ---- */

/* Called for each message of an answer. */
typedef void (*nl_answer_fn)(const struct nlmsghdr *nlh);

/* How an error message shows the value of an attribute. */
enum nl_kind {
	NL_HIDDEN,	/* not at all */
	NL_NUMBER,
	NL_STRING,
	NL_NEST,	/* the first number in it */
};

/**
 * struct nl_word - how an attribute of a request is called on the command line
 * @word: NULL if it is never sent
 * @kind: what its value is
 */
struct nl_word {
	const char *word;
	enum nl_kind kind;
};

/**
 * struct nl_words - those of an attribute set, for error messages
 * @words: by attribute type
 * @count: entries of @words
 */
struct nl_words {
	const struct nl_word *words;
	size_t count;
};

int nl_begin(uint8_t cmd, uint16_t flags, struct nlmsghdr **nlh);
int nl_talk(const struct nlmsghdr *req, const struct nl_words *words,
	    nl_answer_fn answer);
int nl_begin_rdma(uint16_t cmd, struct nlmsghdr **nlh);
int nl_listen(nl_answer_fn event);
size_t nl_room(const struct nlmsghdr *nlh);
void nl_wipe(void);
void nl_end(void);

void nl_parse(const struct nlmsghdr *nlh, const struct nlattr **tb,
	      size_t count);
uint64_t nl_uint(const struct nlattr *attr);
const char *nl_str(const struct nlattr *attr);
const char *nl_addr(const struct nlattr *attr);

/* ---- out.c: the terminal ---- */

void out_begin(void);
void out_end(bool failed);
void out_item(void);
void out_item_end(void);
void out_list(const char *key);
void out_entry(const char *label);
void out_entry_end(void);
void out_more(void);
void out_uint(const char *key, const char *label, uint64_t value);
void out_on_off(const char *key, const char *label, bool value);
void out_str(const char *key, const char *label, const char *value);
void out_flag(const char *key, const char *label, bool value);
bool out_flush(void);
int out_close(void);

/* Only in text. */
#define out_text(...)	((void)(opt.json || printf(__VA_ARGS__)))

/* ---- objects ---- */

int dev_cmd(struct args *a);
int pdc_cmd(struct args *a);
int job_cmd(struct args *a);
int peers_cmd(struct args *a);
int skey_cmd(struct args *a);
int stat_cmd(struct args *a);
int monitor_cmd(struct args *a);

/* What an item of the object has, for those who put something before it. */
void dev_print(const struct nlmsghdr *nlh);
void job_print(const struct nlmsghdr *nlh);
void skey_print(const struct nlmsghdr *nlh);

#endif /* UET_TOOL_H */
