/* SPDX-License-Identifier: MIT
 * A limit by source: `limit = sessions=20 rate=10/s burst=30`.
 */
#include "config/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* `10/s`, `10/m`, `10/h`; a number alone is per second. */
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

/* Returns what is wrong with the options together, or NULL. */
static const char *
find_contradiction(
    const struct limit_spec *l, const struct limit_spec *defaults)
{
	if (l->sessions == 0 && l->rate.count == 0)
		return "nothing is limited; write sessions=NUMBER, "
		       "rate=NUMBER/s or both";
	if (l->burst > 0 && l->rate.count == 0)
		return "burst goes with a rate; add rate=NUMBER/s or leave "
		       "burst out";
	if (l->action.action == GATE_DELAY && l->rate.count == 0)
		return "action=delay goes with a rate: a client waits until "
		       "its time has come; add rate=NUMBER/s or write another "
		       "action";
	if (l->per == LIMIT_PER_FRONTEND &&
	    (l->prefix4 != defaults->prefix4 ||
	        l->prefix6 != defaults->prefix6 || l->size != defaults->size))
		return "prefix4, prefix6 and size go with per=source: "
		       "per=frontend counts all clients together; leave them "
		       "out";
	return NULL;
}

static bool
parse_limit(const struct value *v)
{
	static const struct words none;
	struct frontend_spec *f = v->object;
	struct limit_spec l = {.sessions = 0}, defaults = {.sessions = 0};
	struct words words;
	const char *wrong;

	if (v->entry)
		l.place = v->entry->place;
	if (f->limits_n == LIMITS_MAX)
		return value_fail(
		    v, "a frontend has at most %d limits", LIMITS_MAX);
	words_split(&words, v->text);
	if (!options_read(v, &none, 0, &defaults, 0, "") ||
	    !options_read(v, &words, 0, &l, 0, ""))
		return false;
	wrong = find_contradiction(&l, &defaults);
	if (wrong)
		return value_fail(v, "%s", wrong);
	return value_append(v, &f->limits, &f->limits_n, &l, sizeof(l));
}

/* Options are printed with a blank before each. */
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
VALUE_TYPE(limit_action, print_limit_action,
    "reset, close, drop, tarpit=TIME, delay, delay=TIME", 0);
VALUE_TYPE(limit, print_limit, "options, as in sessions=20 rate=10/s", 0);
