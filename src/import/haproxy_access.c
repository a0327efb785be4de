/* SPDX-License-Identifier: MIT
 * HAProxy's rules about connections, as allow, deny and limit.
 */
#include <string.h>

#include "import/haproxy_rules.h"

#define LINE_VALUES 60

/* The rules of one frontend, as they are written. */
struct access_state {
	struct hap_proxy *proxy;
	struct words exempt;       /* sources that were accepted before */
	const char *list, *listed; /* the last [list], and what it has */
	bool accepts, ended, rejects, drops;
	size_t n_limits;
};

static void
put_comments(struct hap_proxy *proxy, struct hap_rule *rule)
{
	if (rule->comments)
		arena_text_add(&proxy->file->doc->arena,
		    &proxy->file->doc->pending, rule->comments,
		    strlen(rule->comments));
	rule->comments = NULL;
}

/* Writes `key = values`, in several lines if there are many. */
static void
put_values(struct hap_proxy *proxy, const char *key, const struct words *values)
{
	struct document *doc = proxy->file->doc;

	for (size_t i = 0; i < values->n; i += LINE_VALUES) {
		size_t n = values->n - i;
		struct words part = {.word = values->word + i,
		    .n = n > LINE_VALUES ? LINE_VALUES : n};

		doc_key(doc, proxy->fe, key, "%s",
		    words_join(&doc->arena, &part, 0, " "));
	}
}

static void
haproxy_put_all(struct hap_proxy *proxy, const char *key)
{
	doc_key(proxy->file->doc, proxy->fe, key, "all");
}

static const struct hap_test *
test_of(const struct hap_term *term, enum test_kind kind, bool negated)
{
	for (size_t i = 0; i < term->n; i++)
		if (term->tests[i].kind == kind &&
		    term->tests[i].negated == negated)
			return &term->tests[i];
	return NULL;
}

/* Returns the period of a rate, from the stick-table that stores it: `store
 * conn_rate(10s)`. */
static uint64_t
period_of(struct hap_proxy *proxy)
{
	static const char *const names[] = {
	    "conn_rate(", "sess_rate(", "http_req_rate("};
	const struct hap_file *file = proxy->file;

	for (size_t i = 0; i < file->n; i++)
		for (size_t j = 0; j < file->sections[i].lines.n; j++) {
			const struct hap_line *line =
			    &file->sections[i].lines.all[j];
			const char *open = NULL;
			uint64_t ms;

			if (strcmp(hap_word(line, 0), "stick-table") != 0)
				continue;
			for (size_t k = 0; k < 3 && !open; k++) {
				open = strstr(line->text, names[k]);
				open = open ? strchr(open, '(') + 1 : NULL;
			}
			if (open &&
			    value_haproxy_time(arena_copy(&file->doc->arena,
			                           open, strcspn(open, ")")),
			        &ms))
				return ms;
		}
	return 10000;
}

static const char *
path_of_list(const struct hap_file *file, const char *name)
{
	for (size_t i = 0; i + 1 < file->lists.n; i += 2)
		if (strcmp(file->lists.word[i + 1], name) == 0)
			return file->lists.word[i];
	return "";
}

/* Makes a [list] of the values.  Returns its name. */
static const char *
make_list(struct access_state *access, const struct words *values)
{
	struct hap_proxy *proxy = access->proxy;
	struct document *doc = proxy->file->doc;
	const char *text = words_join(&doc->arena, values, 0, " "), *name;
	struct ini_section *list;

	if (values->n == 1 && hap_is_list(values->word[0]))
		return values->word[0] + 5;
	if (access->list && strcmp(access->listed, text) == 0)
		return access->list;
	name = doc_name(
	    doc, "list", arena_printf(&doc->arena, "%.30s-list", proxy->name));
	list =
	    doc_find_section(doc, arena_printf(&doc->arena, "list %s", name));
	access->list = name;
	access->listed = text;
	for (size_t i = 0; i < values->n; i++)
		arena_text_printf(&doc->arena, &list->lines, "%s = %s\n",
		    hap_is_list(values->word[i]) ? "file" : "entry",
		    hap_is_list(values->word[i])
		        ? path_of_list(proxy->file, values->word[i] + 5)
		        : values->word[i]);
	return name;
}

/* Writes the limit for a rule that rejects above a number or a rate of
 * sessions.  Returns false if the term is not such a condition. */
static bool
write_limit(struct access_state *access, const struct hap_rule *rule,
    const struct hap_term *term)
{
	struct hap_proxy *proxy = access->proxy;
	struct document *doc = proxy->file->doc;
	const struct hap_test *sessions = test_of(term, TEST_SESSIONS, false);
	const struct hap_test *rate = test_of(term, TEST_RATE, false);
	const struct hap_test *except = test_of(term, TEST_SRC, true);
	const struct hap_test *only = test_of(term, TEST_SRC, false);
	const char *list = "", *value;
	const struct hap_test *limit = sessions ? sessions : rate;
	size_t others = (except ? 1 : 0) + (only ? 1 : 0);

	if (!limit || term->n != 1 + others || others > 1 ||
	    (access->exempt.n > 0 && others > 0) || access->n_limits == 8)
		return false;
	if (only)
		list = arena_printf(&doc->arena, " only=list:%s",
		    make_list(access, &only->values));
	else if (except || access->exempt.n > 0)
		list = arena_printf(&doc->arena, " except=list:%s",
		    make_list(
		        access, except ? &except->values : &access->exempt));
	value =
	    sessions
	        ? arena_printf(
	              &doc->arena, "sessions=%u", (unsigned)limit->number)
	        : arena_printf(&doc->arena, "rate=%s burst=%u count=all",
	              value_rate(&doc->arena, limit->number, period_of(proxy)),
	              limit->number > 1000000 ? 1000000
	                                      : (unsigned)limit->number);
	doc_key(doc, proxy->fe, "limit", "%s prefix6=128%s%s", value,
	    rule->drops ? " action=drop" : "", list);
	access->n_limits++;
	return true;
}

/* Returns whether all rules from this one on do nothing but refuse sources. */
static bool
rest_is_plain(const struct hap_rule *rule)
{
	for (; rule; rule = rule->next) {
		if (rule->kind == RULE_CONNECTION_ACCEPT)
			return false;
		if (rule->kind != RULE_CONNECTION_REJECT)
			continue;
		for (size_t i = 0; i < rule->condition.n; i++) {
			const struct hap_term *term = &rule->condition.terms[i];

			if (term->n != 1 || (term->tests[0].kind == TEST_SRC &&
			                        term->tests[0].negated))
				return false;
		}
	}
	return true;
}

static bool write_reject(struct access_state *access, struct hap_rule *rule,
    const struct hap_term *term);

/* Converts `reject if !A`: writes what the other rules refuse first, then
 * `allow A` and `deny all`. */
static bool
write_only(struct access_state *access, struct hap_rule *rule,
    const struct hap_term *term)
{
	struct hap_proxy *proxy = access->proxy;
	struct words all = {.n = 0};

	for (size_t i = 0; i < term->n; i++) {
		if (term->tests[i].kind != TEST_SRC || !term->tests[i].negated)
			return false;
		for (size_t j = 0; j < term->tests[i].values.n; j++)
			words_add(&proxy->file->doc->arena, &all,
			    term->tests[i].values.word[j]);
	}
	if (!rest_is_plain(rule->next) || rule->condition.n != 1)
		return false;
	for (struct hap_rule *r = rule->next; r; r = r->next) {
		if (r->kind != RULE_CONNECTION_REJECT)
			continue;
		put_comments(proxy, r);
		for (size_t i = 0; i < r->condition.n; i++)
			if (!write_reject(access, r, &r->condition.terms[i]))
				hap_lost(proxy->file, proxy->fe, r->line,
				    LOSS_CLIENTS, "write deny = ADDRESSES");
	}
	put_comments(proxy, rule);
	put_values(proxy, "allow", &all);
	haproxy_put_all(proxy, "deny");
	access->ended = true;
	return true;
}

static bool
write_reject(struct access_state *access, struct hap_rule *rule,
    const struct hap_term *term)
{
	struct hap_proxy *proxy = access->proxy;

	if (term->n == 0) {
		haproxy_put_all(proxy, "deny");
		access->ended = true;
	} else if (term->n == 1 && term->tests[0].kind == TEST_SRC &&
	           !term->tests[0].negated) {
		put_values(proxy, "deny", &term->tests[0].values);
	} else {
		return write_limit(access, rule, term) ||
		       write_only(access, rule, term);
	}
	if (access->rejects && access->drops != rule->drops)
		hap_lost_words(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS,
		    rule->line->text,
		    "on_deny is the same for all clients of a frontend");
	access->drops =
	    access->rejects ? access->drops && rule->drops : rule->drops;
	access->rejects = true;
	return true;
}

static bool
write_accept(struct access_state *access, const struct hap_term *term)
{
	struct hap_proxy *proxy = access->proxy;
	struct arena *arena = &proxy->file->doc->arena;

	if (term->n == 0) {
		access->ended = true;
		return true;
	}
	if (term->n != 1 || term->tests[0].kind != TEST_SRC ||
	    term->tests[0].negated)
		return false;
	for (size_t i = 0; i < term->tests[0].values.n; i++)
		words_add(
		    arena, &access->exempt, term->tests[0].values.word[i]);
	put_values(proxy, "allow", &term->tests[0].values);
	access->accepts = true;
	return true;
}

static const char *
access_reason(const struct hap_rule *rule)
{
	for (size_t i = 0; i < rule->condition.n; i++) {
		const struct hap_term *term = &rule->condition.terms[i];

		for (size_t j = 0; j < term->n; j++)
			if (term->tests[j].kind == TEST_OTHER)
				return term->tests[j].why;
	}
	return "allow and deny know the client's address; limit its sessions "
	       "and its rate";
}

/* Returns whether the rule is written as allow, deny or limit: it is about
 * connections, or refuses contents only by the source, its sessions and its
 * rate.  Others become routes. */
static bool
is_access(const struct hap_rule *rule)
{
	if (rule->kind == RULE_CONNECTION_ACCEPT ||
	    rule->kind == RULE_CONNECTION_REJECT)
		return true;
	if (rule->kind != RULE_CONTENT_REJECT)
		return false;
	for (size_t i = 0; i < rule->condition.n; i++) {
		const struct hap_term *term = &rule->condition.terms[i];

		if (term->n == 0)
			return false;
		for (size_t j = 0; j < term->n; j++)
			if (term->tests[j].kind == TEST_SRC
			        ? term->tests[j].negated && term->n == 1
			        : term->tests[j].kind != TEST_SESSIONS &&
			              term->tests[j].kind != TEST_RATE)
				return false;
	}
	return true;
}

/* Returns whether an accept among the rules about contents comes first, so that
 * the rule applies to some clients only. */
static bool
has_content_accept_before(
    const struct hap_proxy *proxy, const struct hap_rule *rule)
{
	for (const struct hap_rule *r = proxy->rules; r && r != rule;
	     r = r->next)
		if (r->kind == RULE_CONTENT_ACCEPT)
			return true;
	return false;
}

/* Returns whether the rule judges the peer of a connection that begins with a
 * PROXY header: here addresses are those of the header. */
static bool
judges_peer(const struct hap_proxy *proxy, const struct hap_rule *rule)
{
	const struct hap_line *line = rule->line;
	bool proxied = words_has(&proxy->keepalive, "accept_proxy");

	for (size_t i = 0; i < proxy->lines.n && !proxied; i++) {
		const struct words *words = &proxy->lines.all[i].words;

		proxied = words->n > 0 && strcmp(words->word[0], "bind") == 0 &&
		          words_has(words, "accept-proxy");
	}
	return proxied && hap_begins(line, 0, "tcp-request connection") &&
	       line->words.n > 3;
}

static void
write_access_rule(struct access_state *access, struct hap_rule *rule)
{
	struct hap_proxy *proxy = access->proxy;
	bool accept = rule->kind == RULE_CONNECTION_ACCEPT;

	put_comments(proxy, rule);
	if (judges_peer(proxy, rule)) {
		hap_lost(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS,
		    "left out: it would judge the address in the PROXY header; "
		    "name the peers in proxy_from");
		return;
	}
	for (size_t i = 0; i < rule->condition.n && !access->ended; i++) {
		const struct hap_term *term = &rule->condition.terms[i];

		if (accept ? write_accept(access, term)
		           : write_reject(access, rule, term))
			continue;
		hap_lost(proxy->file, proxy->fe, rule->line, LOSS_CLIENTS, "%s",
		    access_reason(rule));
		break;
	}
}

void
hap_write_access(struct hap_proxy *proxy)
{
	struct access_state access = {.proxy = proxy};

	for (struct hap_rule *rule = proxy->rules; rule; rule = rule->next) {
		bool content = rule->kind == RULE_CONTENT_REJECT;

		if (!is_access(rule))
			continue;
		if (content &&
		    (access.accepts || has_content_accept_before(proxy, rule)))
			continue;
		if (access.ended)
			break;
		rule->written = true;
		write_access_rule(&access, rule);
	}
	if (access.rejects && access.drops)
		doc_key(proxy->file->doc, proxy->fe, "on_deny", "drop");
}
