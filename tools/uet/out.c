// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Output, as text or as JSON. An answer is a list of items; in text an item
 * is a line, continued on indented lines, and in JSON it is an object of one
 * array. Each item is printed when it is complete, so a long list needs no
 * memory.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "uet.h"

static json_t *item;	/* the one being filled */
static json_t *outer;	/* the item around it, while it is an entry of a list */
static json_t *list;	/* the list, or NULL */
static bool any;	/* there was an item before it */
static bool broken;	/* something could not be printed */

/* Before the first item of an answer. */
void out_begin(void)
{
	any = false;
}

/* After the last one; an answer that failed before the first item is silent. */
void out_end(bool failed)
{
	if (!opt.json || (failed && !any))
		return;
	puts(any ? "]" : "[]");
}

void out_item(void)
{
	if (!opt.json)
		return;
	item = json_object();
	putchar(any ? ',' : '[');
	any = true;
}

void out_item_end(void)
{
	size_t flags = opt.pretty ? JSON_INDENT(4) : JSON_COMPACT;

	if (!opt.json) {
		putchar('\n');
		return;
	}
	if (!item || json_dumpf(item, stdout, flags))
		broken = true;
	json_decref(item);
	item = NULL;
}

/* Into an item: a list of items of its own. */
void out_list(const char *key)
{
	if (!opt.json)
		return;
	list = json_array();
	if (json_object_set_new(item, key, list))
		broken = true;
}

/* An entry of the list, in text on a line of its own. */
void out_entry(const char *label)
{
	if (!opt.json) {
		printf("\n    %s", label);
		return;
	}
	outer = item;
	item = json_object();
}

void out_entry_end(void)
{
	if (!opt.json)
		return;
	if (json_array_append_new(list, item))
		broken = true;
	item = outer;
}

/* The item goes on in a new line. */
void out_more(void)
{
	if (!opt.json)
		fputs("\n   ", stdout);
}

static void out_json(const char *key, json_t *value)
{
	if (json_object_set_new(item, key, value))
		broken = true;
}

/* A number; without a label only in JSON. */
void out_uint(const char *key, const char *label, uint64_t value)
{
	if (opt.json)
		out_json(key, json_integer((json_int_t)value));
	else if (label)
		printf(" %s %llu", label, (unsigned long long)value);
}

/* A switch: "on" or "off", in JSON true or false; without a label only there. */
void out_on_off(const char *key, const char *label, bool value)
{
	if (opt.json)
		out_json(key, json_boolean(value));
	else if (label)
		printf(" %s %s", label, value ? "on" : "off");
}

/* A string; without a label only in JSON, where null stands for bad UTF-8. */
void out_str(const char *key, const char *label, const char *value)
{
	if (opt.json)
		out_json(key, json_string(value) ?: json_null());
	else if (label)
		printf(" %s %s", label, value);
}

/* Something that is so; not printed if it is not. */
void out_flag(const char *key, const char *label, bool value)
{
	if (!value)
		return;
	if (opt.json)
		out_json(key, json_true());
	else
		printf(" %s", label);
}

/* For one who waits for it; false if it cannot be written. */
bool out_flush(void)
{
	if (fflush(stdout))
		broken = true;
	return !broken;
}

/* At the end of the program: did all of it arrive? */
int out_close(void)
{
	if (fflush(stdout) || ferror(stdout))
		broken = true;
	if (!broken)
		return RET_OK;
	error("the output could not be written");
	return RET_USAGE;
}
