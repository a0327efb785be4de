/* SPDX-License-Identifier: MIT
 * Rules of frontends: each condition, the order, answers while something is
 * unknown, and random rules against an evaluator that knows no map.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "model/rules.h"
#include "model/sni_map.h"
#include "net/tls_hello.h"
#include "unit.h"

#define RULES_MAX 12
#define ALL       (FACT_DESTINATION | FACT_PORT | FACT_HELLO)

/* Up to RULES_MAX rules, each with room for what it may name. */
struct set {
	struct frontend_spec spec;
	struct rule_spec rules[RULES_MAX];
	struct cidr ranges[RULES_MAX][2][2];
	struct port_range ports[RULES_MAX];
	char names[RULES_MAX][80];
	struct rules *made;
};

static struct rule_spec *
add(struct set *set)
{
	assert_true(set->spec.rules_n < RULES_MAX);
	set->spec.rules = set->rules;
	return &set->rules[set->spec.rules_n++];
}

static void
finish(struct set *set)
{
	uint16_t routes[RULES_MAX];

	for (size_t i = 0; i < RULES_MAX; i++)
		routes[i] = (uint16_t)(i + 100);
	set->made = rules_new(&set->spec, NULL, routes);
	assert_non_null(set->made);
}

static struct rule_ranges
range(struct cidr *room, const char *text)
{
	struct err err;

	assert_true(cidr_parse(text, room, &err));
	return (struct rule_ranges){.all = room, .n = 1};
}

static struct endpoint
ip(const char *text, uint16_t port)
{
	struct endpoint e;
	struct addr addr;

	assert_true(addr_parse_ip(text, &addr));
	endpoint_set(&e, &addr.sa, addr.len);
	e.port = port;
	return e;
}

/* Returns the rule, -1: none matches, -2: unknown. */
static int
find(const struct set *set, const struct rule_facts *facts, unsigned *missing)
{
	struct rule_found found;

	switch (rules_find(set->made, facts, &found)) {
	case RULES_NONE:
		return -1;
	case RULES_UNKNOWN:
		if (missing)
			*missing = found.missing;
		assert_true(found.missing != 0);
		return -2;
	case RULES_MATCH:
		break;
	}
	assert_int_equal(found.route, found.rule + 100);
	return (int)found.rule;
}

static void
each_condition_decides(void **state)
{
	static char names[] = "a.example *.b.example", alpn[] = "h2 spdy/3";
	struct endpoint from = ip("10.1.2.3", 4711), to = ip("192.0.2.1", 443);
	struct endpoint other = ip("10.2.2.3", 4711),
	                local = {.family = AF_UNIX, .port = 1};
	struct rule_facts facts = {
	    .known = ALL, .client = &from, .destination = &to};
	struct set set = {0};

	(void)state;
	add(&set)->names = names;
	add(&set)->alpn = alpn;
	add(&set)->tls = SWITCH_ON;
	add(&set)->src = range(&set.ranges[3][0][0], "10.1.0.0/16");
	add(&set)->dst = range(&set.ranges[4][0][0], "192.0.2.1");
	set.ports[5] = (struct port_range){8000, 8002};
	add(&set)->ports = (struct rule_ports){&set.ports[5], 1};
	add(&set)->src = range(&set.ranges[6][0][0], "unix");
	add(&set)->tls = SWITCH_OFF;
	finish(&set);
	assert_int_equal(rules_facts(set.made), ALL);

	assert_int_equal(find(&set, &facts, NULL), 3);
	facts.tls = true;
	assert_int_equal(find(&set, &facts, NULL), 2);
	facts.protocols =
	    rules_protocols(set.made, (const uint8_t *)"\1x\6spdy/3", 9);
	assert_int_equal(find(&set, &facts, NULL), 1);
	facts.name = "x.b.example";
	facts.name_len = strlen(facts.name);
	assert_int_equal(find(&set, &facts, NULL), 0);

	facts = (struct rule_facts){
	    .known = ALL, .client = &other, .destination = &to};
	assert_int_equal(find(&set, &facts, NULL), 4);
	to = ip("192.0.2.2", 8003);
	assert_int_equal(find(&set, &facts, NULL), 7);
	to.port = 8002;
	assert_int_equal(find(&set, &facts, NULL), 5);
	/* A unix socket has no port, whatever the endpoint's says. */
	local.port = 8002;
	facts.destination = &local;
	assert_int_equal(find(&set, &facts, NULL), 7);
	facts.client = &local;
	assert_int_equal(find(&set, &facts, NULL), 6);
	rules_free(set.made);
}

static void
protocols_are_read_up_to_what_is_broken(void **state)
{
	static char alpn[] = "h2", both[] = "h2 http/1.1";
	struct set set = {0};

	(void)state;
	add(&set)->alpn = alpn;
	add(&set)->alpn = both;
	finish(&set);
	assert_int_equal(rules_protocols(set.made, NULL, 0), 0);
	assert_int_equal(
	    rules_protocols(set.made, (const uint8_t *)"\2h2\x08http/1.1", 12),
	    3);
	assert_int_equal(
	    rules_protocols(set.made, (const uint8_t *)"\2h2\x08http/1.", 11),
	    1);
	assert_int_equal(
	    rules_protocols(set.made, (const uint8_t *)"\2H2\0\1h", 6), 0);
	rules_free(set.made);
}

/* The fourth rule alone needs no hello. */
static void
what_needs_no_hello_is_decided_without_one(void **state)
{
	static char name[] = "a.example";
	struct endpoint from = ip("10.1.2.3", 4711), to = {0};
	struct rule_facts facts = {.client = &from, .destination = &to};
	struct set set = {0};
	struct rule_spec *r;
	unsigned missing = 0;

	(void)state;
	r = add(&set);
	r->src = range(&set.ranges[0][0][0], "10.0.0.0/16");
	r->names = name;
	r = add(&set);
	r->src = range(&set.ranges[1][0][0], "10.1.2.3");
	r = add(&set);
	r->src = range(&set.ranges[2][0][0], "10.1.2.0/24");
	r->names = name;
	r->ports = (struct rule_ports){&set.ports[2], 1};
	finish(&set);
	assert_int_equal(find(&set, &facts, NULL), 1);
	from = ip("10.1.2.4", 1);
	assert_int_equal(find(&set, &facts, &missing), -2);
	assert_int_equal(missing, FACT_HELLO | FACT_PORT);
	/* Port 0 is that of the range, so the hello alone is missing. */
	facts.known = FACT_PORT;
	to = ip("10.0.0.1", 0);
	assert_int_equal(find(&set, &facts, &missing), -2);
	assert_int_equal(missing, FACT_HELLO);
	to.port = 1;
	assert_int_equal(find(&set, &facts, NULL), -1);
	from = ip("10.0.9.9", 1);
	assert_int_equal(find(&set, &facts, NULL), -2);
	from = ip("10.9.9.9", 1);
	assert_int_equal(find(&set, &facts, NULL), -1);
	rules_free(set.made);
}

static void
neighbours_with_names_alone_prefer_the_most_specific(void **state)
{
	static char wild[] = "*.example", exact[] = "a.example";
	struct endpoint from = ip("10.1.2.3", 4711);
	struct rule_facts facts = {.known = ALL,
	    .client = &from,
	    .tls = true,
	    .name = exact,
	    .name_len = strlen(exact)};
	struct set set = {0};

	(void)state;
	add(&set)->names = wild;
	add(&set)->names = exact;
	finish(&set);
	assert_int_equal(find(&set, &facts, NULL), 1);
	rules_free(set.made);
	/* With a rule between them, they are not neighbours. */
	set = (struct set){0};
	add(&set)->names = wild;
	add(&set)->src = range(&set.ranges[1][0][0], "192.0.2.1");
	add(&set)->names = exact;
	finish(&set);
	assert_int_equal(find(&set, &facts, NULL), 0);
	rules_free(set.made);
}

/* -- random rules -- */

static uint64_t seed = 1;

static unsigned
below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static const char *const name_pool[] = {
    "a.x", "b.x", "*.x", "c.a.x", "*.a.x", "x", "*.b.x"};
static const char *const ask_pool[] = {
    "", "a.x", "b.x", "z.x", "c.a.x", "d.a.x", "x", "q.b.x", "y"};
static const char *const range_pool[] = {
    "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "2001:db8::/32", "unix"};
static const char *const ip_pool[] = {
    "10.1.2.3", "10.1.9.9", "10.7.7.7", "192.0.2.1", "2001:db8::5"};
static char *const alpn_pool[] = {
    (char[]){"h2"}, (char[]){"http/1.1"}, (char[]){"h2 http/1.1"}};

#define PICK(pool) (pool)[below(sizeof(pool) / sizeof((pool)[0]))]

static void
random_rule(struct set *set)
{
	size_t i = set->spec.rules_n;
	struct rule_spec *r = add(set);

	if (below(2) > 0) {
		strcpy(set->names[i], PICK(name_pool));
		r->names = set->names[i];
	}
	/* Half of the rules have names alone, so that there are neighbours. */
	if (r->names && below(2) > 0)
		return;
	if (below(3) == 0)
		r->alpn = PICK(alpn_pool);
	if (below(3) == 0)
		r->tls = below(2) > 0 ? SWITCH_ON : SWITCH_OFF;
	if (below(3) == 0)
		r->src = range(set->ranges[i][0], PICK(range_pool));
	if (below(4) == 0)
		r->dst = range(set->ranges[i][1], PICK(range_pool));
	if (below(4) == 0) {
		set->ports[i].low = (uint16_t)below(4);
		set->ports[i].high = (uint16_t)(set->ports[i].low + below(3));
		r->ports = (struct rule_ports){&set->ports[i], 1};
	}
}

/* How specific the rule's name is for the one that is asked for: 0: not at all;
 * an exact name is more than any wildcard. */
static size_t
fits(const struct rule_spec *r, const char *asked)
{
	size_t len = strlen(r->names) - 1, n = strlen(asked);

	if (strcmp(r->names, asked) == 0)
		return SIZE_MAX;
	return r->names[0] == '*' && n > len &&
	               strcmp(asked + n - len, r->names + 1) == 0
	           ? len
	           : 0;
}

static bool
offers(const char *alpn, bool h2, bool http)
{
	return (h2 && strstr(alpn, "h2")) || (http && strstr(alpn, "http"));
}

/* Whether all conditions of the rule hold. */
static bool
holds(const struct rule_spec *r, const struct rule_facts *facts, bool h2,
    bool http)
{
	const struct endpoint *to = facts->destination;

	if (r->names && !fits(r, facts->name))
		return false;
	if (r->alpn && !offers(r->alpn, h2, http))
		return false;
	if (r->tls != SWITCH_DEFAULT && (r->tls == SWITCH_ON) != facts->tls)
		return false;
	if (r->src.n > 0 && !cidr_has(r->src.all, facts->client))
		return false;
	if (r->dst.n > 0 && !cidr_has(r->dst.all, to))
		return false;
	return r->ports.n == 0 ||
	       (to->family != AF_UNIX && to->port >= r->ports.all->low &&
	           to->port <= r->ports.all->high);
}

/* The first rule that matches; among neighbours with names alone the most
 * specific one, and of several with the same name the last. */
static int
evaluate(
    const struct set *set, const struct rule_facts *facts, bool h2, bool http)
{
	const struct rule_spec *rules = set->rules;
	size_t n = set->spec.rules_n;

	for (size_t i = 0; i < n; i++) {
		size_t best = i;

		if (!holds(&rules[i], facts, h2, http))
			continue;
		for (size_t j = i;
		     rule_spec_has_names_alone(&rules[i]) && j < n &&
		     rule_spec_has_names_alone(&rules[j]);
		     j++)
			if (fits(&rules[j], facts->name) >=
			    fits(&rules[best], facts->name))
				best = j;
		return (int)best;
	}
	return -1;
}

static struct endpoint
random_endpoint(void)
{
	if (below(6) == 0)
		return (struct endpoint){.family = AF_UNIX, .port = 1};
	return ip(PICK(ip_pool), (uint16_t)below(6));
}

/* The answer with all facts, and that with any of them missing is the same or
 * unknown. */
static void
check_client(const struct set *set)
{
	static const uint8_t list[] = "\2h2\x08http/1.1";
	struct endpoint from = random_endpoint(), to = random_endpoint();
	bool tls = below(3) > 0, h2 = tls && below(2), http = tls && below(2);
	const char *name = tls ? PICK(ask_pool) : "";
	struct rule_facts facts = {.known = ALL,
	    .client = &from,
	    .destination = &to,
	    .tls = tls,
	    .name = name,
	    .name_len = strlen(name),
	    .protocols = rules_protocols(set->made, list + (h2 ? 0 : 3),
	        (h2 ? 3u : 0) + (http ? 9u : 0))};
	int expected = evaluate(set, &facts, h2, http);

	assert_int_equal(find(set, &facts, NULL), expected);
	for (unsigned known = 0; known < ALL; known++) {
		struct rule_facts less = facts;
		struct endpoint nowhere = {0};
		unsigned missing = 0;
		int answer;

		less.known = known;
		if (!(known & FACT_HELLO))
			less.tls = !tls, less.name_len = 0, less.protocols = 0;
		if (!(known & (FACT_DESTINATION | FACT_PORT)))
			less.destination = &nowhere;
		answer = find(set, &less, &missing);
		assert_true(answer == -2 || answer == expected);
		if (answer == -2)
			assert_int_equal(missing & known, 0);
	}
}

static void
random_rules_are_as_the_evaluator_says(void **state)
{
	unsigned matched = 0;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		struct set set = {0};
		unsigned n = 1 + below(RULES_MAX);

		while (set.spec.rules_n < n)
			random_rule(&set);
		finish(&set);
		for (unsigned k = 0; k < 20; k++)
			check_client(&set);
		matched += set.spec.rules_n;
		rules_free(set.made);
	}
	assert_true(matched > 3000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_condition_decides),
	    cmocka_unit_test(protocols_are_read_up_to_what_is_broken),
	    cmocka_unit_test(what_needs_no_hello_is_decided_without_one),
	    cmocka_unit_test(
	        neighbours_with_names_alone_prefer_the_most_specific),
	    cmocka_unit_test(random_rules_are_as_the_evaluator_says),
	};

	unit_watchdog();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
