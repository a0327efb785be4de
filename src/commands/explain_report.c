/* SPDX-License-Identifier: MIT
 * See explain.h: the facts in text and in JSON.
 */
#include "commands/explain.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"

/* Returns why new clients are not accepted at present, NULL if they are. */
static const char *
accept_block_text(const struct explained *x)
{
	static const char *const blocks[] = {
	    [ACCEPT_BLOCK_NONE] = NULL,
	    [ACCEPT_BLOCK_RATE] = "it waits in the backlog: the rate limit of "
	                          "connections is reached",
	    [ACCEPT_BLOCK_FRONTEND_RATE] = "it waits in the backlog: the rate "
	                                   "limit of the frontend is reached",
	    [ACCEPT_BLOCK_FRONTEND] =
	        "it waits in the backlog: the frontend is "
	        "at its maxconn",
	    [ACCEPT_BLOCK_HANDSHAKES] =
	        "with TLS it waits in the backlog: the "
	        "frontend is at its number of handshakes",
	    [ACCEPT_BLOCK_SESSIONS] = "it waits in the backlog: all sessions "
	                              "that may be are in use (maxconn)",
	};
	_Static_assert(
	    sizeof(blocks) / sizeof(blocks[0]) == ACCEPT_BLOCK_SESSIONS + 1,
	    "blocks");

	if (x->draining)
		return "it is refused: lfproxy is stopping";
	if (x->admin == FRONTEND_SHUT)
		return "it is refused: the frontend was shut down";
	if (x->admin == FRONTEND_PAUSED)
		return "it is refused, or waits if it is a unix socket's: the "
		       "frontend is disabled";
	return blocks[x->accept_block];
}

/* Returns what becomes of a client that gets no server, or about which too
 * little is known; NULL if it gets a server. */
static const char *
otherwise_text(const struct explanation *e)
{
	static const char *const answers[] = {
	    [WAIT_QUEUED] = "no server has room or is usable, so it waits in "
	                    "the queue",
	    [WAIT_FULL] = "no server has room and no more may wait, so it is "
	                  "closed",
	    [WAIT_NO_SERVER] =
	        "no server is usable and no session may wait, so it is closed",
	};
	_Static_assert(
	    sizeof(answers) / sizeof(answers[0]) == WAIT_NO_SERVER + 1,
	    "answers");

	if (e->access.denied)
		return "a deny rule turns it away";
	if (e->limit.limit)
		return "it is beyond a limit";
	if (e->unknown == UNKNOWN_RULE)
		return "it depends on where the client connects to (dst or "
		       "port of a rule): add to <address>";
	if (!e->backend)
		return "no rule is for it and the frontend has no other "
		       "backend, so it is closed";
	if (e->unknown == UNKNOWN_PORT)
		return "it depends on the client's port (hash_key = "
		       "source-port): give the source with its port";
	if (e->unknown == UNKNOWN_DESTINATION)
		return "it depends on where the client connects to (hash_key "
		       "= destination): add to <address>";
	if (e->random || e->chosen != SERVER_NONE)
		return NULL;
	return answers[e->otherwise];
}

/* Returns what becomes of the turns of a backend without a server:
 * frontend_route gives them to backends of the split that have one, if any. */
static const char *
fate_of_turns(const struct explanation *e)
{
	for (size_t i = 0; i < e->routes_n; i++)
		if (e->routes[i].weight > 0 && e->routes[i].has_servers)
			return " (no usable server: the other backends get its "
			       "sessions)";
	return " (no usable server, and no other backend with a weight has "
	       "one: it keeps its sessions)";
}

static void
put_entry_json(struct report *r, const struct explained_entry *e)
{
	report_json_string(r, "entry", e->range);
	report_json_string(r, "entry_file", e->file);
	report_json_known(r, "entry_line", e->line > 0, e->line);
}

static void
put_dst_entry_json(struct report *r, const struct explained_entry *e)
{
	report_json_string(r, "dst_entry", e->range);
	report_json_string(r, "dst_entry_file", e->file);
	report_json_known(r, "dst_entry_line", e->line > 0, e->line);
}

/* Writes the entry that matches, if there is one.  of: "" if it matches the
 * client's address, ` (dst)` if the local one. */
static void
put_entry_text(
    struct report *r, const struct explained_entry *e, const char *of)
{
	if (e->range && e->line > 0)
		report_text(r, "  entry    %s in %s:%u%s\n", e->range, e->file,
		    e->line, of);
	else if (e->range)
		report_text(r, "  entry    %s in %s%s\n", e->range,
		    e->file ? e->file : "add acl", of);
}

/* Writes what the access rules decide; in text, nothing without rules. */
static void
put_access(struct report *r, const struct explained_access *a)
{
	char action[GATE_REPLY_SIZE];

	report_object(r, "access");
	report_json_bool(r, "rules", a->rules);
	report_json_bool(r, "admitted", !a->denied);
	report_json_string(r, "rule", a->rule);
	report_json_string(r, "file", a->file);
	report_json(r, "line", "%u", a->line);
	put_entry_json(r, &a->entry);
	report_json_string(r, "action",
	    a->denied ? gate_reply_text(&a->reply, ' ', action) : NULL);
	report_close(r);
	if (a->rule)
		report_text(r, "  access   %s by '%s' in %s:%u%s%s\n",
		    a->denied ? "denied" : "allowed", a->rule, a->file, a->line,
		    a->denied ? ": " : "", a->denied ? action : "");
	else if (a->rules)
		report_text(r, "  access   allowed: no rule matches\n");
	put_entry_text(r, &a->entry, "");
}

/* Writes what the limits decide; in text, nothing without limits. */
static void
put_limit(struct report *r, const struct explained_limit *x)
{
	char action[GATE_REPLY_SIZE];

	report_object(r, "limit");
	report_json_bool(r, "limits", x->limits);
	report_json_bool(r, "admitted", !x->limit);
	report_json_string(r, "limit", x->limit);
	report_json_string(r, "table", x->table);
	report_json_string(r, "file", x->file);
	report_json(r, "line", "%u", x->line);
	report_json_string(r, "beyond", x->limit ? x->what : NULL);
	report_json_string(r, "action",
	    x->limit ? gate_reply_text(&x->reply, '=', action) : NULL);
	report_json(r, "wait_ms", "%u", x->wait_ms);
	report_close(r);
	if (x->limit)
		report_text(r,
		    "  limit    refused for its %s by '%s' in %s:%u: %s\n",
		    x->what, x->limit, x->file, x->line, action);
	else if (x->wait_ms > 0)
		report_text(r, "  limit    delayed for %u ms\n", x->wait_ms);
	else if (x->limits)
		report_text(r, "  limit    none is reached\n");
}

/* Writes the rule that decides.  is_shown: in text, the client's name precedes
 * it, which is all that the rule asks for. */
static void
put_rule(struct report *r, const struct explained_sni *sni, const char *text,
    bool is_shown)
{
	if (!sni->matches) {
		report_json_null(r, "rule");
		return;
	}
	report_object(r, "rule");
	report_json_string(r, "name", sni->rule);
	report_json_string(r, "file", sni->file);
	report_json(r, "line", "%u", sni->line);
	report_json_string(r, "text", text);
	put_entry_json(r, &sni->entry);
	put_dst_entry_json(r, &sni->dst_entry);
	report_close(r);
	if (is_shown)
		report_text(r, ": the rule %s in %s:%u\n", sni->rule, sni->file,
		    sni->line);
	else
		report_text(
		    r, "  rule     %s in %s:%u\n", text, sni->file, sni->line);
	put_entry_text(r, &sni->entry, "");
	put_entry_text(r, &sni->dst_entry, " (dst)");
}

/* Writes the name and the rule for it; in text, nothing if the user gave no
 * name and the frontend does not inspect. */
static void
put_sni(struct report *r, const struct explained *x)
{
	const struct explained_sni *sni = &x->e->sni;
	const char *name = *sni->name ? sni->name : NULL;
	bool is_named = sni->matches && sni->rule;

	report_json_bool(r, "inspects", sni->inspects);
	report_json_string(r, "sni", name);
	if (sni->inspects || name)
		report_text(r, "  sni      %s", name ? name : "none");
	if (sni->inspects && !is_named)
		report_text(r, ": no rule%s\n",
		    sni->hashed ? ", but the server's choice goes by it" : "");
	else if (!sni->inspects && name)
		report_text(
		    r, x->certs ? ", which has a say in the certificate alone\n"
		                : ", which this frontend does not look at\n");
	put_rule(r, sni, x->rule, is_named);
}

static void
put_split(struct report *r, const struct explanation *e, bool in_text)
{
	if (in_text)
		report_text(
		    r, ", turn %zu of %zu of the split", e->turn, e->turns);
	report_list(r, "routes");
	for (size_t i = 0; i < e->routes_n; i++) {
		const struct explained_route *route = &e->routes[i];

		report_object(r, NULL);
		report_json_string(r, "backend", route->backend);
		report_json(r, "weight", "%u", route->weight);
		report_json_bool(r, "has_servers", route->has_servers);
		report_close(r);
		if (in_text)
			report_text(r, "%s%s weight=%u%s", i > 0 ? ", " : " ",
			    route->backend, route->weight,
			    route->has_servers || route->weight == 0
			        ? ""
			        : fate_of_turns(e));
	}
	report_close(r);
	report_json(r, "turn", "%zu", e->turn);
	report_json(r, "turns", "%zu", e->turns);
}

static void
put_route(struct report *r, const struct explanation *e)
{
	bool is_split = e->backend && !e->sni.matches && e->turns > 0;

	report_json_string(r, "backend", e->backend);
	report_text(r, "  backend  %s", e->backend ? e->backend : "none");
	put_split(r, e, is_split);
	if (e->sni.matches)
		report_text(r, ", that of the rule");
	else if (e->backend && !is_split && e->sni.rules)
		report_text(r, ", that of all others");
	else if (e->backend && !is_split)
		report_text(r, ", the only one");
	if (e->fallback_of)
		report_text(r,
		    ": the fallback of %s, which has no usable "
		    "server",
		    e->fallback_of);
	report_json_string(r, "fallback_of", e->fallback_of);
	report_text(r, "\n");
}

static void
put_balance(struct report *r, const struct explanation *e)
{
	bool has_key = e->keyed && e->unknown == UNKNOWN_NOTHING;
	char key[17];

	snprintf(key, sizeof(key), "%016" PRIx64, e->key);
	report_json_string(r, "balance", e->balance);
	report_json_string(r, "key", has_key ? key : NULL);
	report_json_bool(r, "panic", e->panic);
	report_json(r, "waiting", "%u", e->waiting);
	report_json_bool(r, "random", e->random);
	report_json(r, "draws", "%u", e->draws);
	if (!e->backend)
		return;
	report_text(r, "  balance  %s", e->balance);
	if (has_key)
		report_text(r, ", key %s", key);
	report_text(r, "\n");
	if (e->panic)
		report_text(r, "  panic    so few servers are usable that all "
		               "that operators want are tried\n");
	if (e->waiting > 0)
		report_text(r, "  queue    %u wait\n", e->waiting);
}

/* Writes a pair of limits: in JSON as an object, in text if there is one. */
static void
put_bandwidth_pair(struct report *r, const char *name,
    const uint64_t limits[BAND_DIRECTIONS], const char *between)
{
	static const char *const names[] = {
	    [BAND_IN] = "in", [BAND_OUT] = "out"};
	char rate[TEXT_BYTE_RATE_SIZE];

	report_object(r, name);
	if (limits[BAND_IN] > 0 || limits[BAND_OUT] > 0)
		report_text(r, "%s%s", between, name);
	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		report_json(r, names[d], "%" PRIu64, limits[d]);
		if (limits[d] > 0)
			report_text(r, " %s=%s", names[d],
			    text_byte_rate(limits[d], rate));
	}
	report_close(r);
}

static bool
any_limit(const uint64_t limits[BAND_DIRECTIONS])
{
	return limits[BAND_IN] > 0 || limits[BAND_OUT] > 0;
}

/* Writes the limits, apart from those of servers; in text, only where there are
 * some. */
static void
put_bandwidth(struct report *r, const struct explained_bandwidth *b)
{
	const struct {
		const char *name;
		const uint64_t *limits;
	} scopes[] = {{"session", b->session}, {"source", b->source},
	    {"frontend", b->frontend}, {"backend", b->backend},
	    {"backend_source", b->backend_source}};
	const char *between = "  limit    ";

	report_object(r, "bandwidth");
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		put_bandwidth_pair(
		    r, scopes[i].name, scopes[i].limits, between);
		if (any_limit(scopes[i].limits))
			between = ", ";
	}
	report_close(r);
	if (between[0] == ',')
		report_text(r, "\n");
}

static void
put_choice(struct report *r, const struct explanation *e)
{
	const char *otherwise = otherwise_text(e);
	const char *why = otherwise ? otherwise : e->why;
	const char *choice =
	    e->chosen == SERVER_NONE ? NULL : e->servers[e->chosen].name;

	report_json_string(r, "choice", choice);
	report_json_string(r, "why", *why ? why : NULL);
	report_json_string(r, "measure", e->measure);
	if (otherwise)
		choice = "none";
	else if (e->random)
		choice = "by chance, see below";
	report_text(r, "  server   %s: %s\n", choice, why);
}

void
explained_put_head(
    struct report *report, const struct explained *x, const char *source)
{
	const char *block = accept_block_text(x);

	report_row(report);
	report_json_string(report, "source", source);
	report_put(report, "frontend", "frontend %s\n", x->frontend);
	report_json_bool(report, "accepted", !block);
	report_json_string(report, "accept_block", block);
	report_text(report, "  accept   %s\n", block ? block : "yes");
	put_access(report, &x->e->access);
	put_limit(report, &x->e->limit);
	report_json_string(report, "certificates", x->certs);
	if (x->certs)
		report_text(report, "  tls      %s\n", x->certs);
	put_sni(report, x);
	put_route(report, x->e);
	put_bandwidth(report, &x->e->bandwidth);
	put_balance(report, x->e);
	put_choice(report, x->e);
	report_list(report, "servers");
	if (x->e->backend)
		report_text(report, "  %-20s %-10s %8s %9s %9s %8s %12s %7s\n",
		    "server", "standing", "weight", "effective", "sessions",
		    "maxconn", "score", "chance");
}

void
explained_put_server(
    struct report *report, const struct explained *x, size_t server)
{
	const struct explanation *e = x->e;
	const struct explained_server *s = &e->servers[server];
	bool is_chosen = server == e->chosen;
	bool is_scored = e->measure && s->place != PLACE_NONE;

	report_row(report);
	report_json_bool(report, "chosen", is_chosen);
	report_text(report, is_chosen ? "> " : "  ");
	report_put(report, "server", "%-20s", s->name);
	report_put(report, "standing", " %-10s", standing_names[s->standing]);
	report_json_bool(report, "up", s->up);
	report_put(report, "weight", " %8u", s->weight);
	report_put(report, "effective_weight", " %9u", s->effective_weight);
	report_put(report, "sessions", " %9u", s->sessions);
	report_json(report, "maxconn", "%u", s->maxconn);
	if (s->maxconn > 0)
		report_text(report, " %8u", s->maxconn);
	else
		report_text(report, " %8s", "-");
	report_put(report, "score", " %12.6g", is_scored ? s->score : NAN);
	report_json(report, "probability", "%f", s->probability);
	report_text(report, " %5.1f %%", 100 * s->probability);
	report_put(report, "address", "  %s", s->address);
	report_json_string(report, "set", s->set);
	if (s->set)
		report_text(report, " of set %s", s->set);
	report_json_bool(report, "tls", s->tls);
	report_json_string(
	    report, "starttls", s->starttls ? "postgresql" : NULL);
	report_text(report, s->tls ? " TLS" : "");
	report_text(report, s->starttls ? " starttls=postgresql" : "");
	report_json_bool(report, "backup", s->backup);
	report_text(report, s->backup ? " backup" : "");
	put_bandwidth_pair(report, "bandwidth", s->bandwidth, " ");
	report_row_end(report);
}

void
explained_put_tail(struct report *report, const struct explained *x)
{
	report_close(report);
	if (x->e->measure)
		report_text(report, "  score: %s\n", x->e->measure);
	if (x->e->random)
		report_text(report,
		    "  chance: the share of %u draws by the algorithm itself\n",
		    x->e->draws);
	report_close(report);
}
