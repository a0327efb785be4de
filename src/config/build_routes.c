/* SPDX-License-Identifier: MIT
 * Circles of fallbacks, and rules of frontends that never match: see build.h.
 */
#include "config/build.h"

#include <string.h>
#include <sys/socket.h>

#include "model/sni_map.h"

/* Each rule is compared with all before it.  In a frontend with more rules,
 * only the first ones are checked. */
#define RULES_COMPARED 1000

/* Returns whether one of the ranges includes the range. */
static bool
range_is_covered(const struct rule_ranges *by, const struct cidr *range)
{
	for (size_t i = 0; i < by->n; i++)
		if (cidr_covers(&by->all[i], range))
			return true;
	return false;
}

static bool
list_is_covered(const struct rule_ranges *by, const struct list_use *use)
{
	for (size_t i = 0; i < by->lists_n; i++)
		if (by->lists[i].list == use->list)
			return true;
	return false;
}

/* Returns whether condition a holds wherever b does, as far as that is known
 * without the contents of lists.  A condition without addresses always
 * holds. */
static bool
ranges_cover(const struct rule_ranges *a, const struct rule_ranges *b)
{
	if (!rule_ranges_any(a) || !rule_ranges_any(b))
		return !rule_ranges_any(a);
	for (size_t i = 0; i < b->n; i++)
		if (!range_is_covered(a, &b->all[i]))
			return false;
	for (size_t i = 0; i < b->lists_n; i++)
		if (!list_is_covered(a, &b->lists[i]))
			return false;
	return true;
}

static bool
ports_cover(const struct rule_ports *a, const struct rule_ports *b)
{
	size_t found = 0;

	for (size_t i = 0; i < b->n && found == i; i++)
		for (size_t j = 0; j < a->n && found == i; j++)
			found += a->all[j].low <= b->all[i].low &&
			         a->all[j].high >= b->all[i].high;
	return a->n == 0 || (b->n > 0 && found == b->n);
}

/* A word of a text whose words are separated by blanks. */
struct word {
	const char *at;
	size_t len;
};

static bool
word_covers(struct word a, struct word b)
{
	/* `*.x` covers all names that end in `.x`. */
	if (a.len > 2 && a.at[0] == '*' && b.len > a.len - 1 &&
	    memcmp(a.at + 1, b.at + b.len - (a.len - 1), a.len - 1) == 0)
		return true;
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* Returns whether the words of a cover all those of b: names, or protocols,
 * none of which begins with `*.`. */
static bool
words_cover(const char *a, const char *b)
{
	struct word one, other;
	bool found = true;

	if (!a || !b)
		return !a;
	while (found && (other.at = sni_names_next(&b, &other.len))) {
		const char *rest = a;

		found = false;
		while (!found && (one.at = sni_names_next(&rest, &one.len)))
			found = word_covers(one, other);
	}
	return found;
}

static bool
tls_covers(const struct rule_spec *a, const struct rule_spec *b)
{
	return a->tls == SWITCH_DEFAULT || a->tls == b->tls ||
	       (a->tls == SWITCH_ON && (b->names || b->alpn || b->versions));
}

static bool
versions_cover(const struct rule_spec *a, const struct rule_spec *b)
{
	return a->versions == 0 ||
	       (b->versions > 0 && !(b->versions & ~a->versions));
}

/* A condition that several rules can fulfil together. */
enum condition { NO_CONDITION, SRC, DST, PORTS };

/* Returns whether a matches wherever b does, the condition `except` apart. */
static bool
route_rule_covers(
    const struct rule_spec *a, const struct rule_spec *b, enum condition except)
{
	return tls_covers(a, b) && versions_cover(a, b) &&
	       words_cover(a->names, b->names) &&
	       words_cover(a->alpn, b->alpn) &&
	       (except == SRC || ranges_cover(&a->src, &b->src)) &&
	       (except == DST || ranges_cover(&a->dst, &b->dst)) &&
	       (except == PORTS || ports_cover(&a->ports, &b->ports));
}

/* -- several rules together -- */

/* The rules before a rule, some of which may cover it together. */
struct earlier {
	const struct frontend_spec *f;
	size_t n; /* the rule's index */
	enum condition condition;
	unsigned first_line, last_line; /* of those that cover it */
};

static const struct rule_ranges *
ranges_of(const struct rule_spec *rule, enum condition condition)
{
	return condition == SRC ? &rule->src : &rule->dst;
}

static bool
note_earlier(struct earlier *e, const struct rule_spec *by)
{
	unsigned line = by->place.line;

	if (!route_rule_covers(by, &e->f->rules[e->n], e->condition))
		return false;
	if (e->last_line == 0 || line < e->first_line)
		e->first_line = line;
	if (line > e->last_line)
		e->last_line = line;
	return true;
}

/* Returns a range of an earlier rule that has the address, or NULL. */
static const struct cidr *
find_earlier_range(struct earlier *e, const struct endpoint *at)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct rule_spec *by = &e->f->rules[i];
		const struct rule_ranges *r = ranges_of(by, e->condition);

		for (size_t j = 0; j < r->n; j++)
			if (cidr_has(&r->all[j], at) && note_earlier(e, by))
				return &r->all[j];
	}
	return NULL;
}

static bool
earlier_cover_range(struct earlier *e, const struct cidr *range)
{
	struct endpoint at = {.family = range->family};
	const struct cidr *by;

	memcpy(at.ip, range->ip, sizeof(at.ip));
	do {
		by = find_earlier_range(e, &at);
		if (!by)
			return false;
	} while (build_step_behind(by, &at) && cidr_has(range, &at));
	return true;
}

static bool
earlier_cover_list(struct earlier *e, const struct list_use *use)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct rule_spec *by = &e->f->rules[i];

		if (list_is_covered(ranges_of(by, e->condition), use) &&
		    note_earlier(e, by))
			return true;
	}
	return false;
}

/* Returns whether the earlier rules cover the addresses of the rule.  A rule
 * without addresses is for all of three families. */
static bool
earlier_cover_ranges(struct earlier *e)
{
	static const struct cidr all[] = {
	    {.family = AF_INET}, {.family = AF_INET6}, {.family = AF_UNIX}};
	const struct rule_ranges *r =
	    ranges_of(&e->f->rules[e->n], e->condition);
	bool covered = true;

	if (!rule_ranges_any(r)) {
		for (size_t i = 0; covered && i < 3; i++)
			covered = earlier_cover_range(e, &all[i]);
		return covered;
	}
	for (size_t i = 0; covered && i < r->n; i++)
		covered = earlier_cover_range(e, &r->all[i]);
	for (size_t i = 0; covered && i < r->lists_n; i++)
		covered = earlier_cover_list(e, &r->lists[i]);
	return covered;
}

/* Returns the last port of an earlier rule's range that has this port, or 0. */
static unsigned
find_earlier_ports(struct earlier *e, unsigned port)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct rule_spec *by = &e->f->rules[i];

		for (size_t j = 0; j < by->ports.n; j++)
			if (by->ports.all[j].low <= port &&
			    port <= by->ports.all[j].high &&
			    note_earlier(e, by))
				return by->ports.all[j].high;
	}
	return 0;
}

/* Returns whether the earlier rules cover the ports of the rule.  A rule
 * without ports is also for clients whose port is not known. */
static bool
earlier_cover_ports(struct earlier *e)
{
	const struct rule_ports *r = &e->f->rules[e->n].ports;

	for (size_t i = 0; i < r->n; i++)
		for (unsigned port = r->all[i].low; port <= r->all[i].high;
		     port++) {
			port = find_earlier_ports(e, port);
			if (port == 0)
				return false;
		}
	return r->n > 0;
}

static bool
earlier_cover(struct earlier *e)
{
	return e->condition == PORTS ? earlier_cover_ports(e)
	                             : earlier_cover_ranges(e);
}

static void
warn_if_covered_together(
    const struct frontend_spec *f, size_t index, struct err_list *warnings)
{
	static const enum condition conditions[] = {SRC, DST, PORTS};
	const struct rule_spec *rule = &f->rules[index];

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]);
	     i++) {
		struct earlier e = {
		    .f = f, .n = index, .condition = conditions[i]};

		if (!earlier_cover(&e))
			continue;
		ERROR_AT(rule, warnings,
		    "warning: %s: the rule never matches in [frontend %s]: "
		    "the rules on lines %u to %u together match before it",
		    rule->is_short ? "sni" : "route", f->name, e.first_line,
		    e.last_line);
		return;
	}
}

static void
warn_if_covered(
    const struct frontend_spec *f, size_t index, struct err_list *warnings)
{
	const struct rule_spec *rule = &f->rules[index];
	bool run = rule_spec_has_names_alone(rule);
	char first[DRAFT_FIRST_SIZE];
	size_t i = index;

	/* Neighbours with nothing but names are tried together. */
	while (run && i > 0 && rule_spec_has_names_alone(&f->rules[i - 1]))
		i--;
	for (size_t j = 0; j < i; j++) {
		if (!route_rule_covers(&f->rules[j], rule, NO_CONDITION))
			continue;
		ERROR_AT(rule, warnings,
		    "warning: %s: the rule never matches in [frontend %s]: "
		    "another one matches before it%s",
		    rule->is_short ? "sni" : "route", f->name,
		    draft_first(f->rules[j].place, rule->place, first));
		return;
	}
	warn_if_covered_together(f, index, warnings);
}

/* Returns whether clients may have connected to one of the ports. */
static bool
is_reachable(const struct frontend_spec *f, const struct rule_ports *ports)
{
	for (size_t i = 0; i < f->listens_n; i++) {
		const struct listen_spec *l = &f->listens[i];
		unsigned port = addr_port(&l->addr);

		if (l->accept_proxy || addr_has_any_port(&l->addr) ||
		    addr_is_descriptor(&l->addr))
			return true;
		for (size_t j = 0; j < ports->n; j++)
			if (port >= ports->all[j].low &&
			    port <= ports->all[j].high)
				return true;
	}
	return false;
}

static void
warn_of_ports(const struct frontend_spec *f, const struct rule_spec *rule,
    struct err_list *warnings)
{
	if (rule->ports.n > 0 && !is_reachable(f, &rule->ports))
		ERROR_AT(rule, warnings,
		    "warning: route: the rule never matches: [frontend %s] "
		    "does not listen on port %u%s",
		    f->name, rule->ports.all[0].low,
		    rule->ports.n > 1 ||
		            rule->ports.all[0].high > rule->ports.all[0].low
		        ? " or the others"
		        : "");
}

/* Returns the backend line for that backend, or NULL. */
static const struct route_spec *
find_backend_route(const struct frontend_spec *f, size_t backend)
{
	for (size_t i = 0; i < f->routes_n; i++)
		if (f->routes[i].backend == backend)
			return &f->routes[i];
	return NULL;
}

/* Returns whether the fallbacks from there on lead back to the same line. */
static bool
is_in_circle(const struct frontend_spec *f, const struct route_spec *from)
{
	const struct route_spec *at = from;

	for (size_t i = 0; i < f->routes_n; i++) {
		if (!at->fallback.is_set)
			return false;
		at = find_backend_route(f, at->fallback.value);
		if (!at || at == from)
			return at;
	}
	return false;
}

void
build_check_fallbacks(const struct spec *spec,
    const struct frontend_spec *frontend, struct err_list *errors)
{
	for (size_t i = 0; i < frontend->routes_n; i++) {
		const struct route_spec *r = &frontend->routes[i];

		if (is_in_circle(frontend, r))
			ERROR_AT(r, errors,
			    "backend: the fallbacks of '%s' in [frontend %s] "
			    "lead back to itself",
			    spec->backends[r->backend].name, frontend->name);
	}
}

void
build_route_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->rules_n; j++) {
			warn_of_ports(f, &f->rules[j], warnings);
			if (j < RULES_COMPARED)
				warn_if_covered(f, j, warnings);
		}
	}
}
