// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Words with values, as "id 77 uid 1000", and the attributes they become. */
#include <arpa/inet.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "uet.h"

static int bad_value(const char *word, const char *text, const char *what)
{
	error("argument \"%s\" is wrong: %s takes %s", text, word, what);
	return RET_USAGE;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int read_user(const char *text, struct value *v)
{
	const struct passwd *user;

	if (is_digit(*text))
		return arg_number("uid", text, UINT32_MAX, &v->number);
	user = getpwnam(text);
	if (!user)
		return bad_value("uid", text, "a user");
	v->number = user->pw_uid;
	return RET_OK;
}

static int read_group(const char *text, struct value *v)
{
	const struct group *group;

	if (is_digit(*text))
		return arg_number("gid", text, UINT32_MAX, &v->number);
	group = getgrnam(text);
	if (!group)
		return bad_value("gid", text, "a group");
	v->number = group->gr_gid;
	return RET_OK;
}

static int read_address(const char *word, const char *text, struct value *v)
{
	if (inet_pton(AF_INET, text, v->bytes) == 1)
		v->size = sizeof(struct in_addr);
	else if (inet_pton(AF_INET6, text, v->bytes) == 1)
		v->size = sizeof(struct in6_addr);
	else
		return bad_value(word, text, "an IPv4 or IPv6 address");
	return RET_OK;
}

static int read_key(const char *file, struct value *v)
{
	v->size = KEY_BYTES;
	return key_read(file, v->bytes);
}

static int read_name(const struct field *f, const char *text, struct value *v)
{
	int i = word_find(f->word, "", text, f->names->words,
			  sizeof(f->names->words[0]), f->names->count);

	if (i < 0)
		return RET_USAGE;
	v->number = f->names->first + i;
	return RET_OK;
}

static int read_value(const struct field *f, const char *text, struct value *v)
{
	switch (f->kind) {
	case F_DEV:
	case F_TEXT:
		v->text = text;
		return RET_OK;
	case F_NUMBER:
		return arg_number(f->word, text, UINT32_MAX, &v->number);
	case F_SMALL:
		return arg_number(f->word, text, UINT8_MAX, &v->number);
	case F_NAME:
		return read_name(f, text, v);
	case F_USER:
		return read_user(text, v);
	case F_GROUP:
		return read_group(text, v);
	case F_ADDRESS:
		return read_address(f->word, text, v);
	case F_KEY:
		return read_key(text, v);
	case F_FLAG:
		break;
	}
	return RET_OK;
}

/* One "WORD VALUE". */
static int read_field(const char *object, struct args *a,
		      const struct field *fields, size_t count,
		      struct value *values)
{
	const char *text = arg_next(a);
	const struct field *f;
	struct value *v;
	int i;

	i = word_find("argument", object, text, fields, sizeof(fields[0]), count);
	if (i < 0)
		return RET_USAGE;
	f = &fields[i];
	v = &values[i];
	if (v->given) {
		error("duplicate \"%s\"", f->word);
		return RET_USAGE;
	}
	v->given = true;
	if (f->kind == F_FLAG)
		return RET_OK;
	if (arg_value(a, f->word, &text))
		return RET_USAGE;
	return read_value(f, text, v);
}

/* Before the name of a device the word "dev" may be left out. */
static void read_dev(struct args *a, const struct field *fields, size_t count,
		     struct value *values)
{
	size_t i;

	if (!a->n || fields[0].kind != F_DEV)
		return;
	for (i = 0; i < count; i++)
		if (arg_is(a, fields[i].word))
			return;
	values[0].given = true;
	values[0].text = arg_next(a);
}

/*
 * Read all words that are left into @values, one for each of @fields. @object
 * as in word_find().
 */
int fields_read(const char *object, struct args *a, const struct field *fields,
		size_t count, struct value *values)
{
	size_t i;

	memset(values, 0, count * sizeof(*values));
	read_dev(a, fields, count, values);
	while (a->n)
		if (read_field(object, a, fields, count, values))
			return RET_USAGE;
	for (i = 0; i < count; i++) {
		if (!fields[i].need || values[i].given)
			continue;
		error("\"%s\" is missing, try \"uet %shelp\"", fields[i].word, object);
		return RET_USAGE;
	}
	return RET_OK;
}

static void put_value(struct nlmsghdr *nlh, const struct field *f,
		      const struct value *v)
{
	switch (f->kind) {
	case F_DEV:
	case F_TEXT:
		mnl_attr_put_strz(nlh, f->attr, v->text);
		break;
	case F_SMALL:
		mnl_attr_put_u8(nlh, f->attr, v->number);
		break;
	case F_NUMBER:
	case F_NAME:
	case F_USER:
	case F_GROUP:
		mnl_attr_put_u32(nlh, f->attr, v->number);
		break;
	case F_ADDRESS:
	case F_KEY:
		mnl_attr_put(nlh, f->attr, v->size, v->bytes);
		break;
	case F_FLAG:
		mnl_attr_put(nlh, f->attr, 0, NULL);
		break;
	}
}

/* What was given, into a request. */
void fields_put(struct nlmsghdr *nlh, const struct field *fields, size_t count,
		const struct value *values)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (values[i].given)
			put_value(nlh, &fields[i], &values[i]);
}

/* What a value of an enumeration is called. */
const char *name_of(const struct names *names, uint64_t value)
{
	return value >= names->first && value - names->first < names->count ?
	       names->words[value - names->first] : "?";
}
