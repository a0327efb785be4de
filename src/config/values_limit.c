/* SPDX-License-Identifier: MIT
 * A limit by source: `limit = sessions=20 rate=10/s burst=30`.
 */
#include "config/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Reads `10/s`, `10/m` or `10/h`; a number alone is per second. */
static bool
parse_limit_rate(const struct value *v)
{
	struct limit_rate *rate = value_target(v);
	size_t len = strcspn(v->text, "/");
	const char *unit = v->text[len] ? v->text + len + 1 : "s";
	char digits[DRAFT_VALUE_MAX + 1];
	uint64_t n;

	snprintf(digits, sizeof(digits), "%.*s", (int)len, v->text);
	if (strlen(unit) != 1 || !strchr("smh", *unit) ||
	    !text_parse_number(digits, v->key->min, v->key->max, &n, NULL))
		return value_fail(v,
		    "'%s' is not a rate; write a number from %" PRIu64
		    " to %" PRIu64 " per second, minute or hour, as in 10/s, "
		    "10/m or 10/h",
		    v->text, v->key->min, v->key->max);
	*rate = (struct limit_rate){.count = (unsigned)n, .unit = *unit};
	return true;
}

static bool
print_limit_rate(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct limit_rate *rate = shown_source(s);

	return rate->count > 0 &&
	       value_write(out, "%u/%c", rate->count, rate->unit);
}

/* Reads `100MiB/m`: a bandwidth whose unit may be a minute or an hour, too. */
static bool
parse_limit_bytes(const struct value *v)
{
	struct limit_bytes *bytes = value_target(v);
	size_t len = strcspn(v->text, "/");
	const char *unit = v->text[len] ? v->text + len + 1 : "s";
	char amount[DRAFT_VALUE_MAX + 1];
	struct err err;

	snprintf(amount, sizeof(amount), "%.*s", (int)len, v->text);
	if (strlen(unit) != 1 || !strchr("smh", *unit))
		return value_fail(v,
		    "'%s' has an unknown time; write bytes per second, minute "
		    "or hour, as in 10MiB/s, 500MiB/m or 20GiB/h",
		    v->text);
	if (!text_parse_byte_rate(
	        amount, v->key->min, v->key->max, &bytes->count, &err))
		return value_fail(v, "%s", err.text);
	bytes->unit = *unit;
	return true;
}

static bool
print_limit_bytes(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct limit_bytes *bytes = shown_source(s);
	char text[TEXT_BYTE_RATE_SIZE];

	if (bytes->count == 0)
		return false;
	text_byte_rate(bytes->count, text);
	text[strlen(text) - 1] = bytes->unit;
	return value_write(out, "%s", text);
}

static bool
names_a_list(const char *text)
{
	return strncmp(text, VALUE_LIST_PREFIX, strlen(VALUE_LIST_PREFIX)) == 0;
}

bool
value_read_list(
    const struct value *value, const char *text, struct list_use *list)
{
	const char *name = text + strlen(VALUE_LIST_PREFIX);

	if (!names_a_list(text))
		return value_fail(
		    value, "'%s' is not a list; write list:NAME", text);
	return value_find_list(value, name, &list->list) &&
	       value_set_string(value, &list->name, name);
}

static bool
parse_limit_list(const struct value *v)
{
	return value_read_list(v, v->text, value_target(v));
}

static bool
print_limit_list(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct list_use *list = shown_source(s);

	return list->name &&
	       value_write(out, VALUE_LIST_PREFIX "%s", list->name);
}

static bool
parse_limit_per(const struct value *v)
{
	struct limit_spec *l = v->object;

	if (names_a_list(v->text)) {
		l->per = LIMIT_PER_LIST;
		return value_read_list(v, v->text, &l->together);
	}
	/* The former name is `source`. */
	if (strcmp(v->text, "client") == 0 || strcmp(v->text, "source") == 0)
		l->per = LIMIT_PER_SOURCE;
	else if (strcmp(v->text, "frontend") == 0)
		l->per = LIMIT_PER_FRONTEND;
	else
		return value_fail(v,
		    "'%s' is unknown; allowed are client, frontend and "
		    "list:NAME",
		    v->text);
	return true;
}

static bool
print_limit_per(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct limit_spec *l = s->object;

	if (l->per == LIMIT_PER_LIST)
		return value_write(
		    out, VALUE_LIST_PREFIX "%s", l->together.name);
	return value_write(
	    out, "%s", l->per == LIMIT_PER_FRONTEND ? "frontend" : "client");
}

static bool
parse_limit_action(const struct value *v)
{
	return value_read_reply(v, true, value_target(v));
}

static bool
print_limit_action(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	char text[GATE_REPLY_SIZE];

	return value_write(
	    out, "%s", gate_reply_text(shown_source(s), '=', text));
}

static bool
parse_limit_table(const struct value *v)
{
	struct err err;

	return name_check(v->text, NAME_MAX_LEN, &err)
	           ? value_keep_text(v)
	           : value_fail(v, "%s", err.text);
}

/* Returns what is wrong with the options together, or NULL. */
static const char *
find_contradiction(
    const struct limit_spec *l, const struct limit_spec *defaults)
{
	if (l->sessions == 0 && l->rate.count == 0 && l->bytes.count == 0)
		return "nothing is limited; write sessions=NUMBER, "
		       "rate=NUMBER/s, bytes=NUMBER/s or several of them";
	if (l->burst > 0 && l->rate.count == 0)
		return "burst goes with a rate; add rate=NUMBER/s or leave "
		       "burst out";
	if (l->count == LIMIT_COUNT_ALL && l->rate.count == 0)
		return "count=all goes with a rate; add rate=NUMBER/s or leave "
		       "count out";
	if (l->action.action == GATE_DELAY && l->rate.count == 0 &&
	    l->bytes.count == 0)
		return "action=delay goes with rate or bytes: a client waits "
		       "until its time has come; add rate=NUMBER/s or write "
		       "another action";
	if (l->per != LIMIT_PER_SOURCE &&
	    (l->prefix4 != defaults->prefix4 ||
	        l->prefix6 != defaults->prefix6 || l->size != defaults->size))
		return "prefix4, prefix6 and size go with per=client: "
		       "per=frontend and per=list count clients together; "
		       "leave them out";
	if ((l->together.name != NULL) + (l->only.name != NULL) +
	        (l->except.name != NULL) >
	    1)
		return "a limit has one list; keep one of per=list:NAME, "
		       "only=list:NAME and except=list:NAME, or write two "
		       "limits";
	return NULL;
}

/* Reports a word such as `10/s`, of which the option is missing.  Returns
 * whether there is one. */
static bool
report_bare(const struct value *v, const struct words *words)
{
	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->word[i];
		size_t len = strspn(word, "0123456789");
		const char *unit = strchrnul(word, '/');

		if (len == 0 || strchr(word, '='))
			continue;
		if (word[len] == '\0')
			return !value_fail(v,
			    "'%s' is a number without an option; write "
			    "sessions=%s or rate=%s/s",
			    word, word, word);
		/* nginx writes 10r/s. */
		if (word + len == unit || strncmp(word + len, "r/", 2) == 0)
			return !value_fail(v,
			    "'%s' is a rate without its option; write "
			    "rate=%.*s%s",
			    word, (int)len, word, unit);
		return !value_fail(v, "'%s' has no option; write bytes=%s%s",
		    word, word, *unit ? "" : "/s");
	}
	return false;
}

/* Reads the limit; its lists are the caller's to free, also after an error. */
static bool
read_limit(const struct value *v, struct limit_spec *ret_limit)
{
	static const struct words none;
	struct limit_spec defaults = {.sessions = 0};
	struct words words;
	const char *wrong;

	words_split(&words, v->text);
	if (report_bare(v, &words) ||
	    !options_read(v, &none, 0, &defaults, 0, "") ||
	    !options_read(v, &words, 0, ret_limit, 0, ""))
		return false;
	wrong = find_contradiction(ret_limit, &defaults);
	return !wrong || value_fail(v, "%s", wrong);
}

static bool
parse_limit(const struct value *v)
{
	struct frontend_spec *f = v->object;
	struct limit_spec l = {.sessions = 0};

	if (v->entry)
		l.place = v->entry->place;
	if (f->limits_n == LIMITS_MAX)
		return value_fail(
		    v, "a frontend has at most %d limits", LIMITS_MAX);
	if (read_limit(v, &l) &&
	    value_append(v, &f->limits, &f->limits_n, &l, sizeof(l)))
		return true;
	free(l.together.name);
	free(l.only.name);
	free(l.except.name);
	free(l.table);
	return false;
}

/* Prints the options, without the blank before the first one. */
static bool
print_limit(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;

	if (s->nth >= f->limits_n)
		return false;
	out[0] = '\0';
	options_print(s, &f->limits[s->nth], NULL, 0, out);
	memmove(out, out + 1, strlen(out));
	return true;
}

VALUE_TYPE(limit_rate, print_limit_rate, "1/s to 1000000/s, also /m and /h", 0);
VALUE_TYPE(
    limit_bytes, print_limit_bytes, "1KiB/s to 100GiB/s, also /m and /h", 0);
VALUE_TYPE(limit_per, print_limit_per, "client, frontend, list:NAME", 0);
VALUE_TYPE(limit_table, value_print_string, NAME_ALLOWED, 0);
VALUE_TYPE(limit_list, print_limit_list, "list:NAME", 0);
VALUE_TYPE(limit_action, print_limit_action,
    "reset, close, drop, tarpit=TIME, delay, delay=TIME", 0);
VALUE_TYPE(limit, print_limit, "options, as in sessions=20 rate=10/s", 0);
