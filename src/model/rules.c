/* SPDX-License-Identifier: MIT
 * See rules.h.
 */
#include "model/rules.h"

#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "model/model.h"
#include "model/sni_map.h"

/* A rule, or neighbouring rules that have nothing but names. */
struct rule_step {
	struct sni_map *names; /* NULL: no condition */
	/* NULL: names alone decide, and each name has its rule and route. */
	const struct rule_spec *spec;
	uint64_t protocols; /* one of these; 0: no condition */
	size_t rule;
	uint16_t route;
};

/* A protocol of ALPN: its bit is its index. */
struct protocol {
	const char *name; /* in the spec; not ended by a NUL */
	size_t len;
};

struct rules {
	unsigned facts;                /* FACT_ bits that some rule asks for */
	struct acl_list *const *lists; /* the model's; NULL: none */
	unsigned protocols_n;
	struct protocol protocols[RULE_PROTOCOLS_MAX];
	size_t n;
	struct rule_step steps[];
};

/* -- conditions -- */

/* Whether a condition holds, as far as is known.  The values are ordered so
 * that several conditions together have the least of their values. */
enum holds { HOLDS_NOT, HOLDS_PERHAPS, HOLDS };

static enum holds
holds_if(bool is_true)
{
	return is_true ? HOLDS : HOLDS_NOT;
}

static enum holds
both(enum holds a, enum holds b)
{
	return a < b ? a : b;
}

static bool
ranges_have(const struct rules *rules, const struct rule_ranges *ranges,
    const struct endpoint *endpoint)
{
	for (size_t i = 0; i < ranges->n; i++)
		if (cidr_has(&ranges->all[i], endpoint))
			return true;
	for (size_t i = 0; i < ranges->lists_n; i++)
		if (acl_list_has(rules->lists[ranges->lists[i].list], endpoint))
			return true;
	return false;
}

static bool
ports_have(const struct rule_ports *ports, const struct endpoint *endpoint)
{
	bool has_port =
	    endpoint->family == AF_INET || endpoint->family == AF_INET6;

	for (size_t i = 0; has_port && i < ports->n; i++)
		if (endpoint->port >= ports->all[i].low &&
		    endpoint->port <= ports->all[i].high)
			return true;
	return false;
}

/* Returns whether the conditions on addresses and ports hold. */
static enum holds
addresses_hold(const struct rules *rules, const struct rule_spec *rule,
    const struct rule_facts *facts)
{
	enum holds holds = HOLDS;

	if (rule_ranges_any(&rule->src))
		holds = holds_if(ranges_have(rules, &rule->src, facts->client));
	if (rule_ranges_any(&rule->dst))
		holds = both(holds, facts->known & FACT_DESTINATION
		                        ? holds_if(ranges_have(rules,
		                              &rule->dst, facts->destination))
		                        : HOLDS_PERHAPS);
	if (rule->ports.n > 0)
		holds = both(holds,
		    facts->known & FACT_PORT
		        ? holds_if(ports_have(&rule->ports, facts->destination))
		        : HOLDS_PERHAPS);
	return holds;
}

static const struct sni_entry *
find_name(const struct rule_step *step, const struct rule_facts *facts)
{
	return facts->name_len > 0
	           ? sni_map_find(step->names, facts->name, facts->name_len)
	           : NULL;
}

/* Returns whether the conditions on the hello hold.  *name: the name that
 * matches. */
static enum holds
hello_holds(const struct rule_step *step, const struct rule_facts *facts,
    const struct sni_entry **name)
{
	enum sock_switch tls = step->spec ? step->spec->tls : SWITCH_DEFAULT;

	unsigned versions = step->spec ? step->spec->versions : 0;

	if (!step->names && step->protocols == 0 && tls == SWITCH_DEFAULT &&
	    versions == 0)
		return HOLDS;
	if (!(facts->known & FACT_HELLO))
		return HOLDS_PERHAPS;
	if ((tls != SWITCH_DEFAULT && (tls == SWITCH_ON) != facts->tls) ||
	    (step->protocols > 0 && !(step->protocols & facts->protocols)) ||
	    (versions > 0 && !(versions & facts->versions)))
		return HOLDS_NOT;
	if (!step->names)
		return HOLDS;
	*name = find_name(step, facts);
	return holds_if(*name);
}

static unsigned
facts_of_rule(const struct rule_spec *rule)
{
	return (rule_ranges_any(&rule->dst) ? FACT_DESTINATION : 0) |
	       (rule->ports.n > 0 ? FACT_PORT : 0) |
	       (rule->names || rule->alpn || rule->versions ||
	                   rule->tls != SWITCH_DEFAULT
	               ? FACT_HELLO
	               : 0);
}

static void
note_match(const struct rule_step *step, const struct sni_entry *name,
    struct rule_found *ret_found)
{
	*ret_found = (struct rule_found){
	    .rule = step->spec ? step->rule : name->rule,
	    .route = step->spec ? step->route : name->route,
	    .name = name,
	};
}

enum rules_answer
rules_find(const struct rules *rules, const struct rule_facts *facts,
    struct rule_found *ret_found)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule_step *step = &rules->steps[i];
		const struct sni_entry *name = NULL;
		enum holds holds = HOLDS;

		if (step->spec)
			holds = addresses_hold(rules, step->spec, facts);
		if (holds != HOLDS_NOT)
			holds = both(holds, hello_holds(step, facts, &name));
		if (holds == HOLDS) {
			note_match(step, name, ret_found);
			return RULES_MATCH;
		}
		if (holds == HOLDS_PERHAPS) {
			unsigned asked =
			    step->spec ? facts_of_rule(step->spec) : FACT_HELLO;

			*ret_found = (struct rule_found){
			    .missing = asked & ~facts->known};
			return RULES_UNKNOWN;
		}
	}
	return RULES_NONE;
}

unsigned
rules_facts(const struct rules *rules)
{
	return rules->facts;
}

/* -- protocols -- */

static bool
is_protocol(const struct protocol *p, const void *name, size_t len)
{
	return p->len == len && memcmp(p->name, name, len) == 0;
}

uint64_t
rules_protocols(const struct rules *rules, const uint8_t *list, size_t size)
{
	uint64_t bits = 0;

	for (size_t at = 0; at < size; at += 1u + list[at]) {
		if (list[at] > size - at - 1)
			break;
		for (unsigned i = 0; i < rules->protocols_n; i++)
			if (is_protocol(
			        &rules->protocols[i], list + at + 1, list[at]))
				bits |= UINT64_C(1) << i;
	}
	return bits;
}

/* Returns the bit of the protocol, and adds the protocol unless it is known.
 * The configuration has made sure that there is room. */
static uint64_t
bit_of_protocol(struct rules *rules, const char *name, size_t len)
{
	unsigned i = 0;

	while (i < rules->protocols_n &&
	       !is_protocol(&rules->protocols[i], name, len))
		i++;
	if (i == RULE_PROTOCOLS_MAX)
		return 0;
	if (i == rules->protocols_n)
		rules->protocols[rules->protocols_n++] =
		    (struct protocol){name, len};
	return UINT64_C(1) << i;
}

static uint64_t
bits_of_alpn(struct rules *rules, const char *alpn)
{
	uint64_t bits = 0;
	const char *name;
	size_t len;

	while (alpn && (name = sni_names_next(&alpn, &len)))
		bits |= bit_of_protocol(rules, name, len);
	return bits;
}

/* -- making them -- */

/* Returns the index behind the last of the neighbouring rules from `from` on
 * that are one step. */
static size_t
end_of_step(const struct frontend_spec *spec, size_t from)
{
	size_t to = from + 1;

	if (!rule_spec_has_names_alone(&spec->rules[from]))
		return to;
	while (
	    to < spec->rules_n && rule_spec_has_names_alone(&spec->rules[to]))
		to++;
	return to;
}

/* Adds the step of the rules from `from` up to `to`.  Returns false when memory
 * is short. */
static bool
add_step(struct rules *rules, const struct frontend_spec *spec, size_t from,
    size_t to, const uint16_t *routes)
{
	const struct rule_spec *rule = &spec->rules[from];
	struct rule_step *step = &rules->steps[rules->n++];

	rules->facts |= facts_of_rule(rule);
	if (!rule_spec_has_names_alone(rule)) {
		step->spec = rule;
		step->rule = from;
		step->route = routes[from];
		step->protocols = bits_of_alpn(rules, rule->alpn);
	}
	if (rule->names)
		step->names = sni_map_new(spec->rules, from, to, routes);
	return step->names || !rule->names;
}

struct rules *
rules_new(const struct frontend_spec *spec, const struct model *model,
    const uint16_t *routes)
{
	struct rules *rules;
	size_t to, steps = 0;

	for (size_t from = 0; from < spec->rules_n; steps++)
		from = end_of_step(spec, from);
	rules = calloc(1, sizeof(*rules) + steps * sizeof(rules->steps[0]));
	if (!rules)
		return NULL;
	rules->lists = model ? model->lists : NULL;
	for (size_t from = 0; from < spec->rules_n; from = to) {
		to = end_of_step(spec, from);
		if (!add_step(rules, spec, from, to, routes)) {
			rules_free(rules);
			return NULL;
		}
	}
	return rules;
}

void
rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n; i++)
		free(rules->steps[i].names);
	free(rules);
}
