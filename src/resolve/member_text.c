/* SPDX-License-Identifier: MIT
 * See member_text.h.
 */
#include "resolve/member_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

static const char member_blanks[] = " \t\r\n";

/* Appends to out.  Returns false when the text does not fit; then out is
 * unchanged. */
static bool __attribute__((format(printf, 2, 3)))
member_append(char out[MEMBER_TEXT_MAX + 1], const char *fmt, ...)
{
	size_t len = strlen(out);
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(out + len, MEMBER_TEXT_MAX + 1 - len, fmt, args);
	va_end(args);
	if (n >= 0 && (size_t)n <= MEMBER_TEXT_MAX - len)
		return true;
	out[len] = '\0';
	return false;
}

/* Returns the value as a word: a string without blanks, or a number, written to
 * number; NULL for any other value. */
static const char *
word_of(const json_t *value, char number[32])
{
	const char *text = json_string_value(value);

	if (json_is_integer(value)) {
		snprintf(number, 32, "%" JSON_INTEGER_FORMAT,
		    json_integer_value(value));
		return number;
	}
	if (!text || !*text || strpbrk(text, member_blanks))
		return NULL;
	return text;
}

static bool
member_take_option(struct member_text *m, const char *name, const json_t *value)
{
	const char *space = m->options[0] ? " " : "";
	char number[32];
	const char *word = json_is_boolean(value)
	                       ? json_is_true(value) ? "on" : "off"
	                       : word_of(value, number);

	if (json_is_null(value))
		return true;
	if (!word || !*name || strpbrk(name, member_blanks) ||
	    strchr(name, '='))
		return false;
	return member_append(m->options, "%s%s=%s", space, name, word);
}

/* Takes all members of the object but the address and the port. */
static bool
member_take_rest(struct member_text *m, json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value)
	{
		if (strcmp(name, "address") == 0 || strcmp(name, "Addr") == 0 ||
		    strcmp(name, "port") == 0 || strcmp(name, "Op") == 0)
			continue;
		if (strcmp(name, "note") == 0 ||
		    strcmp(name, "Metadata") == 0) {
			const char *text = json_string_value(value);

			if (text && !member_append(m->note, "%s", text))
				return false;
		} else if (!member_take_option(m, name, value)) {
			return false;
		}
	}
	return true;
}

static bool
member_take_address(struct member_text *m, const json_t *object)
{
	const json_t *address = json_object_get(object, "address");
	const json_t *port = json_object_get(object, "port");
	char number[32], port_number[32];
	const char *host, *port_text = port ? word_of(port, port_number) : "";

	host = word_of(
	    address ? address : json_object_get(object, "Addr"), number);
	if (!host || host == number || !port_text)
		return false;
	if (!port)
		return member_append(m->address, "%s", host);
	/* An IPv6 address without brackets gets them. */
	if (host[0] != '[' && strchr(host, ':') != strrchr(host, ':'))
		return member_append(m->address, "[%s]:%s", host, port_text);
	return member_append(m->address, "%s:%s", host, port_text);
}

static bool
member_read_json(struct member_text *m, const char *value, size_t n)
{
	json_error_t error;
	json_t *object = json_loadb(value, n, 0, &error);
	bool ok = json_is_object(object) && member_take_address(m, object) &&
	          member_take_rest(m, object);

	json_decref(object);
	return ok;
}

/* Splits the text into the address and the options. */
static void
member_read_words(struct member_text *m, const char *text)
{
	size_t len = strcspn(text, member_blanks);

	(void)member_append(m->address, "%.*s", (int)len, text);
	text += len;
	text += strspn(text, member_blanks);
	(void)member_append(m->options, "%s", text);
}

void
member_text_read(const char *value, size_t n, struct member_text *ret_member)
{
	struct member_text *m = ret_member;
	char text[MEMBER_TEXT_MAX + 1];
	size_t len = n < MEMBER_TEXT_MAX ? n : MEMBER_TEXT_MAX, start;

	memcpy(text, value, len);
	text[len] = '\0';
	while (len > 0 && strchr(member_blanks, text[len - 1]))
		text[--len] = '\0';
	start = strspn(text, member_blanks);
	m->address[0] = m->options[0] = m->note[0] = '\0';
	if (text[start] != '{') {
		member_read_words(m, text + start);
	} else if (n > MEMBER_TEXT_MAX || !member_read_json(m, value, n)) {
		m->options[0] = m->note[0] = '\0';
		snprintf(m->address, sizeof(m->address), "%s", text + start);
	}
	printable_clean(m->address, '?');
	printable_clean(m->options, '?');
	printable_clean(m->note, ' ');
	m->member = (struct discovered){.key = "",
	    .address = m->address,
	    .options = m->options,
	    .note = m->note};
}
