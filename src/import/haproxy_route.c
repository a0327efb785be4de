/* SPDX-License-Identifier: MIT
 * HAProxy's use_backend and tcp-request content rules, as routes.
 *
 * HAProxy tries its rules in order, with negations; lfproxy's routes have no
 * negation.  A rule `if P !N` becomes: first all that holds for clients with P
 * and N, by the rules after this one; then P alone.
 */
#include <string.h>

#include "import/haproxy_rules.h"

#define DEPTH_MAX   4
#define LINE_VALUES 40
/* The most conditions with a part of an earlier rule that a frontend gets:
 * their number may double with each rule. */
#define COMBINED_MAX 2000

struct route_state {
	struct hap_proxy *proxy;
	struct words names; /* that neighbouring sni lines have */
	size_t n_routes, n_combined;
	struct hap_rule *outer; /* the rule of the list that is written */
	bool closed;            /* other clients are turned away */
	bool in_full; /* a rule without a condition has ended the list */
	const char *fallback;
};

static void
put_rule_comments(struct hap_proxy *proxy, struct hap_rule *rule)
{
	if (rule && rule->comments) {
		arena_text_add(&proxy->file->doc->arena,
		    &proxy->file->doc->pending, rule->comments,
		    strlen(rule->comments));
		rule->comments = NULL;
	}
}

static void
lose_rule(struct hap_proxy *proxy, struct hap_rule *rule, const char *reason)
{
	put_rule_comments(proxy, rule);
	if (!rule->lost)
		hap_lost(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS, "%s",
		    reason);
	rule->lost = true;
}

/* Returns the names that no earlier neighbour has. */
static struct words
new_names(struct route_state *state, const struct words *names)
{
	struct arena *arena = &state->proxy->file->doc->arena;
	struct words fresh = {.n = 0};

	for (size_t i = 0; i < names->n; i++) {
		bool covered = false;

		for (size_t j = 0; j < state->names.n && !covered; j++)
			covered = hap_name_covers(
			    state->names.word[j], names->word[i]);
		for (size_t j = 0; j < fresh.n && !covered; j++)
			covered =
			    hap_name_covers(fresh.word[j], names->word[i]);
		if (!covered)
			words_add(arena, &fresh, names->word[i]);
	}
	for (size_t i = 0; i < fresh.n; i++)
		words_add(arena, &state->names, fresh.word[i]);
	return fresh;
}

static const char *
key_of(enum test_kind kind)
{
	static const char *const names[] = {[TEST_SRC] = "src",
	    [TEST_DST] = "dst",
	    [TEST_PORT] = "port",
	    [TEST_SNI] = "sni",
	    [TEST_ALPN] = "alpn",
	    [TEST_TLS] = "tls"};

	return names[kind];
}

/* Returns the index of the test with the most values; these are divided among
 * lines if there are too many for one. */
static size_t
longest_of(const struct hap_term *term)
{
	size_t longest = 0;

	for (size_t i = 0; i < term->n; i++)
		if (term->tests[i].values.n > term->tests[longest].values.n)
			longest = i;
	return longest;
}

static void
haproxy_put_route(
    struct route_state *state, const struct hap_term *term, const char *backend)
{
	struct document *doc = state->proxy->file->doc;
	size_t longest = longest_of(term);
	size_t total = term->tests[longest].values.n;

	for (size_t from = 0; from < total; from += LINE_VALUES) {
		struct arena_text text = {NULL, 0, 0};

		for (size_t i = 0; i < term->n; i++) {
			struct words values = term->tests[i].values;

			if (i == longest) {
				values.word += from;
				values.n -= from;
				if (values.n > LINE_VALUES)
					values.n = LINE_VALUES;
			}
			arena_text_printf(&doc->arena, &text, "%s=%s ",
			    key_of(term->tests[i].kind),
			    words_join(&doc->arena, &values, 0, ","));
		}
		doc_key(doc, state->proxy->fe, "route", "%sbackend=%s",
		    text.data, backend);
		state->n_routes++;
	}
}

static void
haproxy_put_names(
    struct route_state *state, const struct words *names, const char *backend)
{
	struct document *doc = state->proxy->file->doc;

	for (size_t from = 0; from < names->n; from += LINE_VALUES) {
		size_t n = names->n - from;
		struct words part = {.word = names->word + from,
		    .n = n > LINE_VALUES ? LINE_VALUES : n};

		doc_key(doc, state->proxy->fe, "sni", "%s backend=%s",
		    words_join(&doc->arena, &part, 0, " "), backend);
		state->n_routes++;
	}
}

/* Writes that clients for which the term holds get the backend. */
static void
put_term(struct route_state *state, struct hap_rule *rule,
    const struct hap_term *term, const char *target)
{
	struct hap_proxy *proxy = state->proxy;
	const char *reason = hap_term_reason(term), *backend;
	struct words names;

	if (reason) {
		lose_rule(proxy, rule ? rule : state->outer, reason);
		return;
	}
	backend = target ? hap_backend_name(proxy->file, target)
	                 : doc_reject_backend(proxy->file->doc);
	put_rule_comments(proxy, rule);
	if (term->n == 1 && term->tests[0].kind == TEST_SNI) {
		names = new_names(state, &term->tests[0].values);
		haproxy_put_names(state, &names, backend);
		if (names.n == 0 && rule)
			doc_note(proxy->file->doc, proxy->fe,
			    "%s:%u: %s: an earlier rule matches first",
			    proxy->file->name, rule->line->line,
			    rule->line->text);
	} else {
		state->names = (struct words){.n = 0};
		haproxy_put_route(state, term, backend);
	}
}

/* Makes the guard with the tests of the term that are not negated.  Returns
 * false if these cannot hold together. */
static bool
positive_part(struct arena *arena, const struct hap_term *guard,
    const struct hap_term *term, struct hap_term *ret_part)
{
	*ret_part = hap_term_copy(arena, guard);
	for (size_t i = 0; i < term->n; i++)
		if (!term->tests[i].negated &&
		    !hap_term_add(arena, ret_part, &term->tests[i]))
			return false;
	return true;
}

static void put_rules(struct route_state *state, const struct hap_term *guard,
    struct hap_rule *rule, size_t first_term, unsigned depth);

/* Writes, for each negated test, the rules behind this term for clients that
 * have the part and fulfil that test. */
static void
put_exceptions(struct route_state *state, const struct hap_term *part,
    struct hap_rule *rule, size_t nth, unsigned depth)
{
	struct arena *arena = &state->proxy->file->doc->arena;
	const struct hap_term *term = &rule->condition.terms[nth];

	for (size_t i = 0; i < term->n; i++) {
		struct hap_term guard = hap_term_copy(arena, part);
		struct hap_test test = term->tests[i];

		if (!test.negated)
			continue;
		test.negated = false;
		if (!hap_term_add(arena, &guard, &test))
			continue;
		if (depth == DEPTH_MAX || hap_term_reason(&guard))
			lose_rule(state->proxy, rule,
			    hap_term_reason(&guard)
			        ? hap_term_reason(&guard)
			        : "routes have no negation; write what else "
			          "the client has");
		else
			put_rules(state, &guard, rule, nth + 1, depth + 1);
	}
}

static struct hap_rule *
first_use_backend(struct hap_rule *rule)
{
	while (rule && rule->kind != RULE_BACKEND)
		rule = rule->next;
	return rule;
}

/* Returns whether another condition may be combined with a part of the outer
 * rule.  Otherwise that rule is lost. */
static bool
may_combine(struct route_state *state)
{
	if (state->n_combined++ < COMBINED_MAX)
		return true;
	lose_rule(state->proxy, state->outer,
	    "with the rules behind it, it would become more than 2000 routes; "
	    "write fewer negations");
	return false;
}

/* Writes where clients go that no rule matches. */
static void
put_default(struct route_state *state, const struct hap_term *guard)
{
	if (guard->n > 0 && may_combine(state))
		put_term(state, NULL, guard, state->proxy->default_backend);
}

/* Returns whether a later rule would refuse some clients that this one
 * accepts. */
static bool
matters(const struct hap_rule *accept)
{
	for (const struct hap_rule *r = accept->next; r; r = r->next)
		if (r->kind == RULE_CONTENT_REJECT && !r->written)
			return true;
	return false;
}

/* Writes one term of a rule.  Returns true if the term holds for all clients
 * that are left, so that nothing follows. */
static bool
put_rule_term(struct route_state *state, const struct hap_term *guard,
    struct hap_rule *rule, size_t nth, unsigned depth)
{
	struct arena *arena = &state->proxy->file->doc->arena;
	const struct hap_term *term = &rule->condition.terms[nth];
	struct hap_term part;
	bool all = term->n == 0;

	if (depth == 0)
		state->outer = rule;
	if (!positive_part(arena, guard, term, &part))
		return false;
	if (!rule->lost)
		put_exceptions(state, &part, rule, nth, depth);
	if (rule->lost)
		return false;
	if (rule->kind == RULE_CONTENT_ACCEPT) {
		put_rules(state, &part, first_use_backend(rule), 0, depth + 1);
		return all;
	}
	if (depth > 0 && !may_combine(state))
		return true;
	if (part.n > 0) {
		put_term(state, rule, &part, rule->target);
		return all;
	}
	/* The rule holds for all clients. */
	put_rule_comments(state->proxy, rule);
	if (rule->kind == RULE_CONTENT_REJECT) {
		state->closed = true;
	} else {
		state->in_full = true;
		state->proxy->default_backend = rule->target;
	}
	return true;
}

/* Writes the rules from this one on for clients that fulfil the guard, and
 * where those go that no rule matches. */
static void
put_rules(struct route_state *state, const struct hap_term *guard,
    struct hap_rule *rule, size_t first_term, unsigned depth)
{
	for (; rule; rule = rule->next, first_term = 0) {
		bool content = rule->kind == RULE_CONTENT_ACCEPT ||
		               rule->kind == RULE_CONTENT_REJECT;

		if (rule->kind != RULE_BACKEND && (!content || rule->written))
			continue;
		if (rule->kind == RULE_CONTENT_ACCEPT && !matters(rule)) {
			put_rule_comments(state->proxy, rule);
			continue;
		}
		if (depth > DEPTH_MAX) {
			lose_rule(state->proxy, rule, "too many conditions");
			return;
		}
		for (size_t i = first_term; i < rule->condition.n; i++)
			if (put_rule_term(state, guard, rule, i, depth))
				return;
	}
	put_default(state, guard);
}

/* Takes `use_backend OTHER if { nbsrv(DEFAULT) lt 1 }` as the fallback.
 * Returns false for other rules. */
static bool
take_fallback(struct route_state *state, struct hap_rule *rule)
{
	const struct hap_condition *condition = &rule->condition;
	const struct hap_test *test;

	if (condition->n != 1 || condition->terms[0].n != 1)
		return false;
	test = condition->terms[0].tests;
	if (test->kind != TEST_NBSRV || test->negated || state->fallback ||
	    !state->proxy->default_backend ||
	    strcmp(test->values.word[0], state->proxy->default_backend) != 0)
		return false;
	state->fallback = rule->target;
	if (first_use_backend(rule->next))
		lose_rule(state->proxy, rule,
		    "it is the fallback of the default backend; clients of the "
		    "rules behind it go where these say");
	return true;
}

/* Removes rules whose backend does not exist, and those that are a fallback. */
static void
sort_out(struct route_state *state)
{
	struct hap_proxy *proxy = state->proxy;

	for (struct hap_rule **at = &proxy->rules; *at;) {
		struct hap_rule *rule = *at;
		bool gone = false;

		if (rule->kind == RULE_BACKEND) {
			gone = !strchr(rule->target, '%') &&
			       !hap_find_backend(proxy->file, rule->target);
			if (gone)
				lose_rule(
				    proxy, rule, "no backend has that name");
			else
				gone = hap_dynamic_backend(proxy, rule) ||
				       take_fallback(state, rule);
		}
		if (gone)
			*at = rule->next;
		else
			at = &rule->next;
	}
}

/* Returns whether the condition has a test of the hello, or the backend is
 * chosen by one. */
static bool
needs_hello(const struct hap_rule *rule)
{
	for (size_t i = 0; i < rule->condition.n; i++)
		for (size_t j = 0; j < rule->condition.terms[i].n; j++)
			if (rule->condition.terms[i].tests[j].of_hello)
				return true;
	return rule->target && strstr(rule->target, "%[req");
}

/* Reports rules about a hello that HAProxy does not wait for, and a wait for
 * the sake of no rule. */
static void
report_waits(struct hap_proxy *proxy)
{
	const struct hap_line *waits = hap_waits(proxy);
	bool needs = false, tls = false;

	for (size_t i = 0; i < proxy->lines.n; i++)
		tls |= hap_begins(&proxy->lines.all[i], 0, "bind") &&
		       words_has(&proxy->lines.all[i].words, "ssl");

	for (struct hap_rule *r = proxy->rules; r; r = r->next) {
		bool content = r->kind == RULE_CONTENT_REJECT;

		if ((r->kind != RULE_BACKEND && !content &&
		        (r->kind != RULE_CONTENT_ACCEPT || !matters(r))) ||
		    !needs_hello(r))
			continue;
		needs = true;
		if (tls)
			hap_lost(proxy->file, proxy->fe, r->line, LOSS_CLIENTS,
			    "the hello of a client is asked; HAProxy looks "
			    "into what it has decrypted");
		else if (!waits && r->kind == RULE_BACKEND)
			hap_lost(proxy->file, proxy->fe, r->line, LOSS_CLIENTS,
			    "the hello is waited for; HAProxy decides at once, "
			    "without a rule about contents and inspect-delay");
	}
	if (waits && !needs)
		hap_lost(proxy->file, proxy->fe, waits, LOSS_SERVERS,
		    "no route depends on it, so silent clients reach their "
		    "server at once");
}

void
hap_write_routes(struct hap_proxy *proxy)
{
	struct route_state state = {.proxy = proxy};
	const struct hap_term everyone = {NULL, 0};
	struct document *doc = proxy->file->doc;
	const char *name = NULL;

	report_waits(proxy);
	sort_out(&state);
	put_rules(&state, &everyone, proxy->rules, 0, 0);
	if (!state.closed && proxy->default_backend)
		name = hap_backend_name(proxy->file, proxy->default_backend);
	if (name && state.fallback)
		doc_key(doc, proxy->fe, "backend", "%s fallback=%s", name,
		    hap_backend_name(proxy->file, state.fallback));
	else if (name)
		doc_key(doc, proxy->fe, "backend", "%s", name);
	proxy->has_target = name || state.n_routes > 0;
}
