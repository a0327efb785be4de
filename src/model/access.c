/* SPDX-License-Identifier: MIT
 * See access.h.
 */
#include "model/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "acl/acl.h"
#include "base/text.h"
#include "model/model.h"
#include "model/spec.h"

const char *const gate_action_names[GATE_ACTIONS] = {[GATE_ADMIT] = "admit",
    [GATE_RESET] = "reset",
    [GATE_CLOSE] = "close",
    [GATE_DROP] = "drop",
    [GATE_TARPIT] = "tarpit",
    [GATE_DELAY] = "delay"};

const char *
gate_reply_text(
    const struct gate_reply *reply, char separator, char out[GATE_REPLY_SIZE])
{
	const char *name = gate_action_names[reply->action];
	char hold[TEXT_DURATION_SIZE];

	if (reply->hold_ms > 0)
		snprintf(out, GATE_REPLY_SIZE, "%s%c%s", name, separator,
		    text_duration(reply->hold_ms, hold));
	else
		snprintf(out, GATE_REPLY_SIZE, "%s", name);
	return out;
}

/* A rule.  A range is a mask and the value under it: two comparisons instead of
 * a loop over the bytes. */
struct access_rule {
	uint8_t kind;    /* enum access_kind */
	uint16_t family; /* ACCESS_RANGE */
	uint64_t mask[2], value[2];
	struct acl_list *list; /* ACCESS_LIST; borrowed from the model */
};

struct access {
	size_t n;
	struct access_rule rules[];
};

static void
set_range(struct access_rule *rule, const struct cidr *range)
{
	uint8_t mask[16] = {0};

	for (unsigned i = 0; i < range->bits; i++)
		mask[i / 8] |= (uint8_t)(0x80u >> i % 8);
	rule->family = range->family;
	memcpy(rule->mask, mask, sizeof(mask));
	memcpy(rule->value, range->ip, sizeof(range->ip));
}

struct access *
access_new(const struct frontend_spec *spec, const struct model *model)
{
	struct access *a =
	    calloc(1, sizeof(*a) + spec->access_n * sizeof(a->rules[0]));

	if (!a)
		return NULL;
	for (; a->n < spec->access_n; a->n++) {
		const struct access_spec *from = &spec->access[a->n];

		a->rules[a->n].kind = (uint8_t)from->kind;
		if (from->kind == ACCESS_RANGE)
			set_range(&a->rules[a->n], &from->range);
		if (from->kind == ACCESS_LIST)
			a->rules[a->n].list = model->lists[from->list];
	}
	return a;
}

/* Returns whether the rule's range has the address.  The mask of a range of
 * unix clients is empty, so the family decides. */
static bool
range_has(const struct access_rule *rule, uint16_t family, const uint64_t *ip)
{
	return rule->family == family &&
	       (ip[0] & rule->mask[0]) == rule->value[0] &&
	       (ip[1] & rule->mask[1]) == rule->value[1];
}

static bool
rule_has(const struct access_rule *rule, const struct endpoint *client,
    const uint64_t *ip)
{
	if (rule->kind == ACCESS_LIST)
		return acl_list_has(rule->list, client);
	return rule->kind == ACCESS_ALL || range_has(rule, client->family, ip);
}

size_t
access_find(const struct access *access, const struct endpoint *client)
{
	uint64_t ip[2] = {0};

	if (client->family != AF_UNIX)
		memcpy(ip, client->ip, sizeof(ip));
	for (size_t i = 0; i < access->n; i++)
		if (rule_has(&access->rules[i], client, ip))
			return i;
	return ACCESS_NO_RULE;
}

void
access_count(const struct access *access, size_t rule)
{
	if (rule != ACCESS_NO_RULE && access->rules[rule].list)
		acl_list_count(access->rules[rule].list);
}

bool
access_admits(const struct frontend_spec *spec, size_t rule)
{
	return rule == ACCESS_NO_RULE || spec->access[rule].allow;
}

const char *
access_spec_text(const struct access_spec *rule, char out[ACCESS_TEXT_SIZE])
{
	const char *verb = rule->allow ? "allow" : "deny";
	char range[CIDR_TEXT_SIZE];

	if (rule->kind == ACCESS_LIST)
		snprintf(
		    out, ACCESS_TEXT_SIZE, "%s list:%s", verb, rule->list_name);
	else
		snprintf(out, ACCESS_TEXT_SIZE, "%s %s", verb,
		    rule->kind == ACCESS_ALL ? "all"
		                             : cidr_text(&rule->range, range));
	return out;
}
