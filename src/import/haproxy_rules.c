/* SPDX-License-Identifier: MIT
 * HAProxy's lines acl, tcp-request, use_backend and default_backend.
 */
#include <string.h>

#include "import/haproxy_rules.h"

/* Appends a rule with the condition at words[first]. */
static void
add_rule(struct hap_proxy *proxy, const struct hap_line *line,
    enum rule_kind kind, size_t first, const char *target)
{
	struct hap_rule *rule =
	    arena_alloc(&proxy->file->doc->arena, sizeof(*rule));

	if (proxy->file->doc->remark) {
		doc_comment(proxy->file->doc, proxy->file->doc->remark);
		proxy->file->doc->remark = NULL;
	}
	rule->kind = kind;
	rule->line = line;
	rule->target = target;
	rule->comments = doc_take_pending(proxy->file->doc);
	rule->drops = strcmp(hap_word(line, 2), "silent-drop") == 0;
	if (!hap_read_condition(proxy, line, first, &rule->condition)) {
		hap_lost(proxy->file, proxy->fe, line, LOSS_CLIENTS,
		    "the condition is not understood; routes know sni, alpn, "
		    "tls, src, dst and port");
		return;
	}
	*proxy->last_rule = rule;
	proxy->last_rule = &rule->next;
}

static bool
is_quiet_action(const char *action)
{
	return strncmp(action, "set-var", 7) == 0 ||
	       strncmp(action, "unset-var", 9) == 0 ||
	       strncmp(action, "sc-inc-", 7) == 0 ||
	       strncmp(action, "sc-set-", 7) == 0 ||
	       strncmp(action, "sc-add-", 7) == 0 ||
	       strcmp(action, "capture") == 0 ||
	       strcmp(action, "send-spoe-group") == 0 ||
	       strcmp(action, "set-log-level") == 0 ||
	       strcmp(action, "set-nice") == 0;
}

static void
other_action(struct hap_proxy *proxy, const struct hap_line *line)
{
	const char *action = hap_word(line, 2);
	enum loss loss =
	    is_quiet_action(action) ? LOSS_OPERATORS : LOSS_CLIENTS;

	if (strncmp(action, "track-sc", 8) == 0) {
		if (strcmp(hap_word(line, 3), "src") == 0)
			return; /* as limits do */
		hap_lost(proxy->file, proxy->fe, line, LOSS_OPERATORS,
		    "limits count for each source, a list, or the frontend");
		return;
	}
	if (strcmp(action, "expect-proxy") == 0)
		return; /* hap_scan_keys has seen it */
	hap_lost(proxy->file, proxy->fe, line, loss,
	    "nothing does this here; rules are allow, deny, limit and route");
}

static void
tcp_request(struct hap_proxy *proxy, const struct hap_line *line)
{
	const char *phase = hap_word(line, 1), *action = hap_word(line, 2);
	bool content = strcmp(phase, "content") == 0;
	uint64_t ms;

	if (strcmp(phase, "inspect-delay") == 0) {
		if (value_haproxy_time(action, &ms))
			proxy->hello = value_duration(
			    &proxy->file->doc->arena, ms, 10, VALUE_FOREVER_MS);
	} else if (strcmp(action, "accept") == 0) {
		add_rule(proxy, line,
		    content ? RULE_CONTENT_ACCEPT : RULE_CONNECTION_ACCEPT, 3,
		    NULL);
	} else if (strcmp(action, "reject") == 0 ||
	           strcmp(action, "silent-drop") == 0) {
		add_rule(proxy, line,
		    content ? RULE_CONTENT_REJECT : RULE_CONNECTION_REJECT, 3,
		    NULL);
	} else {
		other_action(proxy, line);
	}
}

/* Reports a rule of a backend, which sees only sessions that have been
 * routed. */
static void
lose_backend_rule(struct hap_proxy *proxy, const struct hap_line *line)
{
	const char *word = hap_word(line, 0);
	bool harmless = strcmp(word, "acl") == 0 ||
	                strcmp(hap_word(line, 1), "inspect-delay") == 0 ||
	                strcmp(hap_word(line, 2), "accept") == 0;

	hap_lost(proxy->file, proxy->be, line,
	    harmless ? LOSS_OPERATORS : LOSS_CLIENTS,
	    "backends have no rules; write them in the frontend");
}

bool
hap_rule(struct hap_proxy *proxy, const struct hap_line *line)
{
	const char *word = hap_word(line, 0);
	bool is_rule =
	    strcmp(word, "acl") == 0 || strcmp(word, "tcp-request") == 0;

	if (is_rule && !proxy->fe) {
		lose_backend_rule(proxy, line);
	} else if (strcmp(word, "acl") == 0) {
		hap_acl(proxy, line);
	} else if (strcmp(word, "tcp-request") == 0) {
		tcp_request(proxy, line);
	} else if (strcmp(word, "use_backend") == 0 && proxy->fe) {
		add_rule(proxy, line, RULE_BACKEND, 2, hap_word(line, 1));
	} else if (strcmp(word, "default_backend") == 0) {
		if (proxy->fe) {
			proxy->default_backend = hap_word(line, 1);
			proxy->default_line = line;
		}
	} else {
		return false;
	}
	return true;
}

/* Returns whether the text names something of what a client has sent. */
static bool
names_contents(const char *text)
{
	return strstr(text, "req.") || strstr(text, "req_") ||
	       strstr(text, "payload") || strstr(text, "WAIT_END") ||
	       strstr(text, "REQ_CONTENT");
}

const struct hap_line *
hap_waits(const struct hap_proxy *proxy)
{
	if (!proxy->hello)
		return NULL;
	for (size_t i = 0; i < proxy->lines.n; i++) {
		const struct hap_line *line = &proxy->lines.all[i];

		if (line->reason || !hap_begins(line, 0, "tcp-request content"))
			continue;
		if (names_contents(line->text))
			return line;
		for (struct hap_acl *acl = proxy->acls; acl; acl = acl->next)
			if (words_has(&line->words, acl->name) &&
			    names_contents(acl->line->text))
				return line;
	}
	return NULL;
}

/* Reports ACLs that have no counterpart and that no rule uses. */
static void
report_acls(struct hap_proxy *proxy)
{
	for (struct hap_acl *acl = proxy->acls; acl; acl = acl->next)
		if (acl->test.kind == TEST_OTHER && acl->used)
			ledger_differs(acl->line->row, LOSS_CLIENTS,
			    acl->line->text, acl->test.why);
		else if (acl->test.kind == TEST_OTHER)
			hap_lost(proxy->file, proxy->fe, acl->line,
			    LOSS_OPERATORS,
			    "no rule that was converted has it; %s",
			    acl->test.why);
}

/* Returns the backend of clients that no rule matches, as HAProxy calls it, or
 * NULL. */
static const char *
default_of(struct hap_proxy *proxy)
{
	const char *name = proxy->default_backend;

	if (!name)
		return proxy->be ? proxy->name : NULL;
	if (hap_find_backend(proxy->file, name))
		return name;
	hap_lost(proxy->file, proxy->fe, proxy->default_line, LOSS_CLIENTS,
	    "no backend has that name");
	return NULL;
}

void
hap_write_rules(struct hap_proxy *proxy)
{
	proxy->default_backend = default_of(proxy);
	if (proxy->proxy_from.n > 0)
		doc_key(proxy->file->doc, proxy->fe, "proxy_from", "%s",
		    words_join(
		        &proxy->file->doc->arena, &proxy->proxy_from, 0, " "));
	hap_write_access(proxy);
	if (proxy->hello)
		doc_key(proxy->file->doc, proxy->fe, "timeout_hello", "%s",
		    proxy->hello);
	hap_write_routes(proxy);
	report_acls(proxy);
}
