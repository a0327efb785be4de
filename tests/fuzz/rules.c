/* SPDX-License-Identifier: MIT
 * The rules and limits of a frontend, as the lines of a configuration file: for
 * made-up clients the rules decide as plain evaluators do, also while facts are
 * unknown; limits answer as they have announced, and forget the sessions that
 * have ended.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grace.h"
#include "config/config.h"
#include "fuzz/fuzz.h"
#include "model/limit.h"
#include "model/model.h"
#include "model/rules.h"
#include "model/source_facts.h"

#define CLIENTS   24
#define START_NS  UINT64_C(1000000000000)
#define ALL_FACTS (FACT_DESTINATION | FACT_PORT | FACT_HELLO)

static const char before[] = "[list l]\nentry = 10.0.0.0/8 2001:db8::/32 unix\n"
                             "[list m]\nentry = 10.1.0.0/16 192.0.2.7\n"
                             "[backend a]\nserver = s 10.0.0.1:1\n"
                             "[backend b]\nserver = s 10.0.0.1:2\n"
                             "[frontend f]\nlisten = 127.0.0.1:0\n";

/* Keys that name no file. */
static const char *const keys[] = {"allow", "deny", "on_deny", "limit", "route",
    "sni", "bandwidth", "backend", "maxconn", "rate"};

/* -- the configuration -- */

static bool
is_taken(const char *line)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t n = strlen(keys[i]);

		if (strncmp(line, keys[i], n) == 0 && strchr(" \t=", line[n]) &&
		    line[n])
			return true;
	}
	return false;
}

/* Returns the configuration, whose lines that are not of such a key are left
 * out. */
static struct spec *
load_rules(char *text)
{
	int fd = memfd_create("rules", MFD_CLOEXEC);
	FILE *out = fdopen(fd, "w");
	struct spec *spec = NULL;
	struct err_list errors;
	char path[64], *line;

	ENSURE(out);
	fputs(before, out);
	while ((line = strsep(&text, "\n")))
		if (is_taken(line))
			fprintf(out, "%s\n", line);
	ENSURE(fflush(out) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err_list_init(&errors);
	ENSURE(config_load_all((const char *[]){path}, 1, NULL, &spec,
	           &errors) == (errors.n == 0));
	if (spec)
		ENSURE(config_read_lists(spec, &errors));
	err_list_fini(&errors);
	fclose(out);
	return spec;
}

/* -- clients -- */

static uint64_t seed;

static unsigned
below(size_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)((seed >> 33) % n);
}

/* Returns an address at the border of the range, or beside it. */
static struct endpoint
at_border(const struct cidr *range)
{
	struct endpoint e = {.family = range->family, .port = 1234};
	unsigned bytes = range->family == AF_INET ? 4 : 16;

	memcpy(e.ip, range->ip, sizeof(e.ip));
	if (range->family == AF_UNIX || below(3) == 0)
		return e;
	for (unsigned i = range->bits; i < 8 * bytes; i++)
		e.ip[i / 8] |= (uint8_t)(0x80u >> i % 8);
	if (below(2) == 0)
		for (unsigned i = bytes; i-- > 0 && ++e.ip[i] == 0;)
			;
	return e;
}

/* Returns an address of the rules or of the lists, or another one. */
static struct endpoint
some_address(const struct spec *spec)
{
	const struct frontend_spec *f = &spec->frontends[0];
	const struct list_spec *l = &spec->lists[below(spec->lists_n)];
	struct endpoint e = {.family = AF_INET, .ip = {10, 1, 2, 3}};

	switch (below(4)) {
	case 0:
		if (f->access_n > 0) {
			const struct access_spec *a =
			    &f->access[below(f->access_n)];

			if (a->kind == ACCESS_RANGE)
				return at_border(&a->range);
		}
		break;
	case 1:
		if (f->rules_n > 0) {
			const struct rule_spec *r =
			    &f->rules[below(f->rules_n)];
			const struct rule_ranges *ranges =
			    below(2) ? &r->src : &r->dst;

			if (ranges->n > 0)
				return at_border(
				    &ranges->all[below(ranges->n)]);
		}
		break;
	case 2:
		return at_border(&l->entries[below(l->entries_n)].range);
	}
	e.ip[3] = (uint8_t)below(3);
	e.port = (uint16_t)(below(3) * 4000);
	return e;
}

/* -- plain evaluators -- */

/* Bit by bit. */
static bool
has(const struct cidr *range, const struct endpoint *e)
{
	if (range->family != e->family)
		return false;
	for (unsigned i = 0; range->family != AF_UNIX && i < range->bits; i++)
		if ((range->ip[i / 8] ^ e->ip[i / 8]) & 0x80u >> i % 8)
			return false;
	return true;
}

static bool
list_has(const struct spec *spec, size_t list, const struct endpoint *e)
{
	const struct list_spec *l = &spec->lists[list];

	for (size_t i = 0; i < l->entries_n; i++)
		if (has(&l->entries[i].range, e))
			return true;
	return false;
}

static size_t
plain_access(const struct spec *spec, const struct endpoint *client)
{
	const struct frontend_spec *f = &spec->frontends[0];

	for (size_t i = 0; i < f->access_n; i++) {
		const struct access_spec *a = &f->access[i];

		if (a->kind == ACCESS_ALL ||
		    (a->kind == ACCESS_RANGE && has(&a->range, client)) ||
		    (a->kind == ACCESS_LIST && list_has(spec, a->list, client)))
			return i;
	}
	return ACCESS_NO_RULE;
}

static bool
plain_ranges(const struct spec *spec, const struct rule_ranges *ranges,
    const struct endpoint *e)
{
	bool any = !rule_ranges_any(ranges);

	for (size_t i = 0; i < ranges->n; i++)
		any |= has(&ranges->all[i], e);
	for (size_t i = 0; i < ranges->lists_n; i++)
		any |= list_has(spec, ranges->lists[i].list, e);
	return any;
}

static bool
plain_ports(const struct rule_ports *ports, const struct endpoint *e)
{
	bool any = ports->n == 0;

	for (size_t i = 0; i < ports->n && e->family != AF_UNIX; i++)
		any |= e->port >= ports->all[i].low &&
		       e->port <= ports->all[i].high;
	return any;
}

/* Returns how specific the name of a rule is for that of a client: 0: it is for
 * others. */
static size_t
name_fits(const char *name, size_t len, const char *asked)
{
	size_t n = strlen(asked);

	if (n == len && memcmp(name, asked, n) == 0)
		return SIZE_MAX;
	return *name == '*' && n > len - 1 &&
	               memcmp(asked + n - (len - 1), name + 1, len - 1) == 0
	           ? len
	           : 0;
}

/* Returns the same of the best of the names, which are separated by blanks. */
static size_t
best_name(const char *names, const char *asked)
{
	size_t best = 0;

	while (*asked && *(names += strspn(names, " "))) {
		size_t len = strcspn(names, " ");
		size_t fits = name_fits(names, len, asked);

		best = fits > best ? fits : best;
		names += len;
	}
	return best;
}

/* What a client says in its hello. */
struct said {
	bool tls;
	const char *name;
	const char *protocol; /* "": none */
};

static bool
has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; n > 0 && (at = strstr(at, word)); at++)
		if ((at == words || at[-1] == ' ') &&
		    (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

static bool
plain_hello(const struct rule_spec *r, const struct said *said)
{
	if (r->tls != SWITCH_DEFAULT && (r->tls == SWITCH_ON) != said->tls)
		return false;
	if (r->alpn && !has_word(r->alpn, said->protocol))
		return false;
	return !r->names || best_name(r->names, said->name) > 0;
}

/* Returns the rule that matches, or SIZE_MAX.  Neighbours with names alone are
 * one step, in which the most specific name decides. */
static size_t
plain_rule(const struct spec *spec, const struct rule_facts *facts,
    const struct said *said)
{
	const struct frontend_spec *f = &spec->frontends[0];

	for (size_t i = 0; i < f->rules_n; i++) {
		const struct rule_spec *r = &f->rules[i];
		size_t found = SIZE_MAX, best = 0;

		if (!rule_spec_has_names_alone(r)) {
			if (plain_ranges(spec, &r->src, facts->client) &&
			    plain_ranges(spec, &r->dst, facts->destination) &&
			    plain_ports(&r->ports, facts->destination) &&
			    plain_hello(r, said))
				return i;
			continue;
		}
		for (;
		     i < f->rules_n && rule_spec_has_names_alone(&f->rules[i]);
		     i++) {
			size_t fits = best_name(f->rules[i].names, said->name);

			if (fits > best) {
				best = fits;
				found = i;
			}
		}
		if (found != SIZE_MAX)
			return found;
		i--;
	}
	return SIZE_MAX;
}

/* -- what is compared -- */

static void
check_access(const struct model *model, const struct endpoint *client)
{
	const struct frontend *f = model->frontends[0];

	if (f->access)
		ENSURE(access_find(f->access, client) ==
		       plain_access(model->spec, client));
	else
		ENSURE(f->spec->access_n == 0);
}

/* Makes up what a client says, of what the rules ask for. */
static struct said
some_hello(const struct frontend_spec *f, char name[64])
{
	static const char *const protocols[] = {"", "h2", "http/1.1"};
	const struct rule_spec *r = &f->rules[below(f->rules_n)];
	struct said said = {.tls = below(4) > 0, .name = name};

	name[0] = '\0';
	said.protocol = said.tls ? protocols[below(3)] : "";
	if (said.tls && r->names && below(4) > 0) {
		bool wild = r->names[0] == '*';

		snprintf(name, 64, "%s%.*s", wild ? "w" : "",
		    (int)strcspn(r->names + wild, " "), r->names + wild);
	}
	return said;
}

static void
check_rules(const struct model *model, const struct endpoint *client)
{
	const struct frontend *f = model->frontends[0];
	struct endpoint destination = some_address(model->spec);
	uint8_t alpn[32];
	char name[64];
	struct said said;
	struct rule_facts facts;
	struct rule_found found;
	size_t expected;

	if (!f->rules)
		return;
	said = some_hello(f->spec, name);
	alpn[0] = (uint8_t)strlen(said.protocol);
	memcpy(alpn + 1, said.protocol, alpn[0]);
	facts = (struct rule_facts){.known = ALL_FACTS,
	    .client = client,
	    .destination = &destination,
	    .tls = said.tls,
	    .name = name,
	    .name_len = strlen(name),
	    .protocols = rules_protocols(
	        f->rules, alpn, alpn[0] > 0 ? 1u + alpn[0] : 0)};
	expected = plain_rule(model->spec, &facts, &said);
	ENSURE(rules_find(f->rules, &facts, &found) ==
	       (expected == SIZE_MAX ? RULES_NONE : RULES_MATCH));
	ENSURE(expected == SIZE_MAX || found.rule == expected);
	/* Less that is known makes the answer open, and never another one. */
	facts.known = below(ALL_FACTS + 1);
	switch (rules_find(f->rules, &facts, &found)) {
	case RULES_NONE:
		ENSURE(expected == SIZE_MAX);
		break;
	case RULES_MATCH:
		ENSURE(found.rule == expected);
		break;
	case RULES_UNKNOWN:
		ENSURE(
		    found.missing != 0 && (found.missing & facts.known) == 0);
		break;
	}
}

static void
check_answer(const struct limit_answer *a, const struct limit_answer *b)
{
	ENSURE(a->by == b->by && a->wait_ms == b->wait_ms);
	ENSURE(!a->by || a->what == b->what);
}

static void
check_limits(const struct limits *limits, const struct endpoint *clients)
{
	uint64_t now_ns = START_NS, bytes[BAND_DIRECTIONS] = {1000, 70000};
	struct limit_answer answers[CLIENTS], peeked;
	struct source_facts facts;

	for (unsigned i = 0; i < CLIENTS; i++) {
		peeked = limits_peek(limits, &clients[i], now_ns);
		answers[i] = limits_enter(limits, &clients[i], now_ns);
		check_answer(&peeked, &answers[i]);
		ENSURE(!answers[i].by || answers[i].counted == 0);
		limits_charge(
		    limits, answers[i].counted, &clients[i], bytes, now_ns);
		now_ns += below(1000000000);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		(void)limits_buckets(limits, answers[i].counted, &clients[i]);
		if (below(2) == 0)
			limits_leave(limits, answers[i].counted, &clients[i]);
		else
			limits_cancel(limits, answers[i].counted, &clients[i]);
	}
	for (unsigned i = 0; i < CLIENTS * limits->n; i++) {
		const struct limit *l = &limits->all[i % limits->n];
		struct source_key key = limit_key(l, &clients[i / limits->n]);

		if (source_table_find(l->table, &key, &facts))
			ENSURE(facts.sessions == 0);
	}
}

static void
check_model(const struct model *model)
{
	const struct frontend *f = model->frontends[0];
	struct endpoint clients[CLIENTS];

	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i] = some_address(model->spec);
		check_access(model, &clients[i]);
		check_rules(model, &clients[i]);
	}
	if (f->limits)
		check_limits(f->limits, clients);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	struct spec *spec = load_rules(text);
	struct grace *grace;
	struct model *model;

	free(text);
	seed = size;
	for (size_t i = 0; i < size; i++)
		seed = seed * 31 + data[i];
	if (!spec)
		return 0;
	grace = grace_new();
	ENSURE(grace);
	model = model_new(spec, grace, NULL);
	ENSURE(model);
	check_model(model);
	model_free(model);
	grace_free(grace);
	return 0;
}
