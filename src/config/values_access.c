/* SPDX-License-Identifier: MIT
 * Values that say who may come in: `allow`, `deny`, and what becomes of a
 * client that is denied.
 *
 * Both keys fill one array, in the order of the file.  `allow` prints all of
 * it, each rule as `allow VALUE` or `deny VALUE`, and `deny` prints nothing.
 */
#include "config/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* The longest delay if none is given. */
#define DELAY_DEFAULT_MS 10000u

/* Reads the time, which follows a blank, or `=` where the action is the value
 * of an option. */
static bool
read_hold(const struct value *v, const char *text, struct gate_reply *reply)
{
	uint64_t ms = DELAY_DEFAULT_MS;
	struct err err;

	if (!*text && reply->action == GATE_TARPIT)
		return value_fail(v,
		    "tarpit has no time; write how long a client is held, as "
		    "in tarpit%c10s",
		    v->within ? '=' : ' ');
	if (*text && !text_parse_duration(
	                 text, GATE_HOLD_MIN_MS, GATE_HOLD_MAX_MS, &ms, &err))
		return value_fail(
		    v, "%s: %s", gate_action_names[reply->action], err.text);
	reply->hold_ms = (uint32_t)ms;
	return true;
}

bool
value_read_reply(
    const struct value *v, bool may_delay, struct gate_reply *ret_reply)
{
	size_t len = strcspn(v->text, " \t=");
	const char *rest = v->text + len;
	struct gate_reply reply = {.action = GATE_RESET};

	rest += strspn(rest, " \t");
	rest += *rest == '=';
	rest += strspn(rest, " \t");
	while (reply.action < GATE_ACTIONS &&
	       (strlen(gate_action_names[reply.action]) != len ||
	           strncmp(gate_action_names[reply.action], v->text, len) != 0))
		reply.action++;
	if (reply.action == GATE_ACTIONS ||
	    (reply.action == GATE_DELAY && !may_delay))
		return value_fail(v,
		    "'%s' is unknown; allowed are reset, close, drop, %s",
		    v->text,
		    may_delay ? "tarpit=TIME, delay=TIME" : "tarpit TIME");
	if (reply.action == GATE_TARPIT || reply.action == GATE_DELAY) {
		if (!read_hold(v, rest, &reply))
			return false;
	} else if (*rest) {
		return value_fail(v, "'%s': only tarpit %s a time", v->text,
		    may_delay ? "and delay have" : "has");
	}
	*ret_reply = reply;
	return true;
}

static bool
parse_on_deny(const struct value *v)
{
	return value_read_reply(v, false, value_target(v));
}

static bool
print_on_deny(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	char text[GATE_REPLY_SIZE];

	return value_write(
	    out, "%s", gate_reply_text(shown_source(s), ' ', text));
}

bool
value_find_list(const struct value *value, const char *name, size_t *ret_index)
{
	const struct spec *s = value->spec;

	if (s->lists_n == 0)
		return value_fail(value,
		    "the configuration has no list; add [list %s], with entry "
		    "= or file =",
		    name);
	return value_choose(value, name, INDEXED_TABLE(s, lists), ret_index);
}

static bool
read_list(const struct value *v, const char *name, struct access_spec *rule)
{
	if (!value_find_list(v, name, &rule->list))
		return false;
	rule->kind = ACCESS_LIST;
	rule->list_name = strdup(name);
	return rule->list_name || value_fail(v, "out of memory");
}

static bool
read_rule(const struct value *v, const char *word, struct access_spec *rule)
{
	struct err err;

	if (strcmp(word, "all") == 0) {
		rule->kind = ACCESS_ALL;
		return true;
	}
	if (strncmp(word, VALUE_LIST_PREFIX, strlen(VALUE_LIST_PREFIX)) == 0)
		return read_list(v, word + strlen(VALUE_LIST_PREFIX), rule);
	rule->kind = ACCESS_RANGE;
	return cidr_parse(word, &rule->range, &err) ||
	       value_fail(v, "%s", err.text);
}

static bool
parse_rules(const struct value *v, bool allow)
{
	struct frontend_spec *f = v->object;
	struct words words;
	bool ok = true;

	words_split(&words, v->text);
	for (size_t i = 0; i < words.n; i++) {
		struct access_spec rule = {
		    .place = v->entry->place, .allow = allow};

		if (read_rule(v, words.word[i], &rule) &&
		    value_append(
		        v, &f->access, &f->access_n, &rule, sizeof(rule)))
			continue;
		free(rule.list_name);
		ok = false;
	}
	return ok;
}

static bool
parse_allow(const struct value *v)
{
	return parse_rules(v, true);
}

static bool
parse_deny(const struct value *v)
{
	return parse_rules(v, false);
}

static bool
print_allow(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct frontend_spec *f = s->object;
	char text[ACCESS_TEXT_SIZE];

	return s->nth < f->access_n &&
	       value_write(
	           out, "%s", access_spec_text(&f->access[s->nth], text));
}

static bool
print_deny(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	(void)s;
	out[0] = '\0';
	return false;
}

#define RULES_ALLOWED                                                          \
	"addresses, ranges as 10.0.0.0/8, list:NAME, unix, and all"
VALUE_TYPE(allow, print_allow, RULES_ALLOWED, 0);
VALUE_TYPE(deny, print_deny, RULES_ALLOWED, 0);
VALUE_TYPE(on_deny, print_on_deny, "reset, close, drop, tarpit TIME", 0);
