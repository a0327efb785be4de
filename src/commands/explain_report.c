/* SPDX-License-Identifier: MIT
 * See explain.h: the facts in text and in JSON.
 */
#include "commands/explain.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "config/values.h"
#include "model/sni_map.h"
#include "net/tls_hello.h"
#include "proxy/accept_limits.h"

/* Returns why new clients are not accepted at present, NULL if they are. */
static const char *
accept_block_text(const struct frontend *f, const struct command_env *env)
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

	if (control_draining(env->control))
		return "it is refused: lfproxy is stopping";
	if (f->state->admin == FRONTEND_SHUT)
		return "it is refused: the frontend was shut down";
	if (f->state->admin == FRONTEND_PAUSED)
		return "it is refused, or waits if it is a unix socket's: the "
		       "frontend is disabled";
	return blocks[acceptor_block(&env->instance->proxy, f)];
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

	if (e->denied)
		return "a deny rule turns it away";
	if (e->limit.by)
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
	const struct frontend *f = e->frontend;

	for (size_t i = 0; i < f->spec->routes_n; i++)
		if (f->spec->routes[i].weight > 0 &&
		    backend_has_servers(f->backends[i]))
			return " (no usable server: the other backends get its "
			       "sessions)";
	return " (no usable server, and no other backend with a weight has "
	       "one: it keeps its sessions)";
}

/* The longest entry of a list that has an address, and its keys in JSON. */
struct entry {
	struct acl_listed listed;
	bool is_found;
	const char *range_key, *file_key, *line_key;
	const char *of; /* "", or which address it is, in text */
};

static struct entry
find_entry(const struct model *m, size_t list, const struct endpoint *address)
{
	struct entry e = {.range_key = "entry",
	    .file_key = "entry_file",
	    .line_key = "entry_line",
	    .of = ""};

	if (list != SIZE_MAX)
		e.is_found = acl_list_find(m->lists[list], address, &e.listed);
	return e;
}

/* Finds the entry of the first list in src or dst that has the address, unless
 * src or dst names the address. */
static struct entry
find_rule_entry(const struct model *m, const struct rule_ranges *ranges,
    const struct endpoint *address)
{
	struct entry e = find_entry(m, SIZE_MAX, NULL);

	for (size_t i = 0; i < ranges->n; i++)
		if (cidr_has(&ranges->all[i], address))
			return e;
	for (size_t i = 0; i < ranges->lists_n && !e.is_found; i++)
		e = find_entry(m, ranges->lists[i].list, address);
	return e;
}

static void
put_entry_json(struct report *r, const struct entry *e)
{
	char range[CIDR_TEXT_SIZE];

	report_json_string(r, e->range_key,
	    e->is_found ? cidr_text(&e->listed.range, range) : NULL);
	report_json_string(r, e->file_key, e->listed.source);
	report_json_known(r, e->line_key, e->listed.line > 0, e->listed.line);
}

/* Writes the entry that matches, if there is one. */
static void
put_entry_text(struct report *r, const struct entry *e)
{
	char range[CIDR_TEXT_SIZE];

	if (!e->is_found)
		return;
	report_text(r, "  entry    %s in %s",
	    cidr_text(&e->listed.range, range),
	    e->listed.source ? e->listed.source : "add acl");
	if (e->listed.line > 0)
		report_text(r, ":%u", e->listed.line);
	report_text(r, "%s\n", e->of);
}

static const char *
file_of(const struct spec_place *place)
{
	return place->file ? place->file : "";
}

/* Writes what the access rules decide; in text, nothing without rules. */
static void
put_access(struct report *r, const struct explanation *e,
    const struct endpoint *client)
{
	const struct frontend *f = e->frontend;
	const struct access_spec *by =
	    e->access == ACCESS_NO_RULE ? NULL : &f->spec->access[e->access];
	struct entry entry = find_entry(f->model,
	    by && by->kind == ACCESS_LIST ? by->list : SIZE_MAX, client);
	char action[GATE_REPLY_SIZE] = "", rule[ACCESS_TEXT_SIZE];

	if (e->denied)
		gate_reply_text(&f->spec->on_deny, ' ', action);
	report_object(r, "access");
	report_json_bool(r, "rules", f->access);
	report_json_bool(r, "admitted", !e->denied);
	report_json_string(r, "rule", by ? access_spec_text(by, rule) : NULL);
	report_json_string(r, "file", by ? file_of(&by->place) : NULL);
	report_json(r, "line", "%u", by ? by->place.line : 0);
	put_entry_json(r, &entry);
	report_json_string(r, "action", e->denied ? action : NULL);
	report_close(r);
	if (by)
		report_text(r, "  access   %s by '%s' in %s:%u%s%s\n",
		    e->denied ? "denied" : "allowed", rule, file_of(&by->place),
		    by->place.line, e->denied ? ": " : "", action);
	else if (f->access)
		report_text(r, "  access   allowed: no rule matches\n");
	put_entry_text(r, &entry);
}

/* Writes what the limits decide; in text, nothing without limits. */
static void
put_limit(struct report *r, const struct explanation *e)
{
	const struct limit *by = e->limit.by;
	const struct limit_spec *spec = by ? by->spec : NULL;
	const char *what = by ? limit_what(e->limit.what) : NULL;
	bool has_limits = e->frontend->limits && !e->denied;
	char action[GATE_REPLY_SIZE], text[LIMIT_TEXT_SIZE];
	struct gate_reply reply;

	if (by) {
		reply = limit_reply(spec);
		gate_reply_text(&reply, '=', action);
		limit_spec_text(spec, text);
	}
	report_object(r, "limit");
	report_json_bool(r, "limits", has_limits);
	report_json_bool(r, "admitted", !by);
	report_json_string(r, "limit", by ? text : NULL);
	report_json_string(r, "table", by ? by->name : NULL);
	report_json_string(r, "file", by ? file_of(&spec->place) : NULL);
	report_json(r, "line", "%u", by ? spec->place.line : 0);
	report_json_string(r, "beyond", what);
	report_json_string(r, "action", by ? action : NULL);
	report_json(r, "wait_ms", "%u", e->limit.wait_ms);
	report_close(r);
	if (by)
		report_text(r,
		    "  limit    refused for its %s by '%s' in %s:%u: %s\n",
		    what, text, file_of(&spec->place), spec->place.line,
		    action);
	else if (e->limit.wait_ms > 0)
		report_text(
		    r, "  limit    delayed for %u ms\n", e->limit.wait_ms);
	else if (has_limits)
		report_text(r, "  limit    none is reached\n");
}

/* Writes the rule that decides.  name: the name in the rule that has matched,
 * or NULL; in text, the client's name precedes it then, which is all that the
 * rule asks for. */
static void
put_rule(struct report *r, const struct explanation *e,
    const struct explained_client *client, const char *name)
{
	const struct frontend *f = e->frontend;
	const struct rule_spec *rule = &f->spec->rules[e->rule.rule];
	const char *file = file_of(&rule->place);
	const struct shown shown = {.key = key_find(SECTION_FRONTEND, "route"),
	    .object = f->spec,
	    .spec = f->model->spec,
	    .nth = e->rule.rule};
	struct entry src =
	    find_rule_entry(f->model, &rule->src, &client->client);
	struct entry dst =
	    find_rule_entry(f->model, &rule->dst, &client->local);
	char text[VALUE_TEXT_SIZE] = "";

	dst.range_key = "dst_entry";
	dst.file_key = "dst_entry_file";
	dst.line_key = "dst_entry_line";
	dst.of = " (dst)";
	(void)value_print(&shown, text);
	report_object(r, "rule");
	report_json_string(r, "name", name);
	report_json_string(r, "file", file);
	report_json(r, "line", "%u", rule->place.line);
	report_json_string(r, "text", text);
	put_entry_json(r, &src);
	put_entry_json(r, &dst);
	report_close(r);
	report_text(r,
	    name ? ": the rule %s in %s:%u\n" : "  rule     %s in %s:%u\n",
	    name ? name : text, file, rule->place.line);
	put_entry_text(r, &src);
	put_entry_text(r, &dst);
}

/* Writes the name and the rule for it; in text, nothing if the user gave no
 * name and the frontend does not inspect. */
static void
put_sni(struct report *r, const struct explanation *e,
    const struct explained_client *client, bool has_certs)
{
	const struct sni_entry *match =
	    e->answer == RULES_MATCH ? e->rule.name : NULL;
	const char *name = client->sni && *client->sni ? client->sni : NULL;
	bool inspects = e->frontend->inspects;
	char rule[TLS_NAME_MAX + 3];

	report_json_bool(r, "inspects", inspects);
	report_json_string(r, "sni", name);
	if (inspects || name)
		report_text(r, "  sni      %s", name ? name : "none");
	if (inspects && !match)
		report_text(r, ": no rule%s\n",
		    e->sni_hashed ? ", but the server's choice goes by it"
		                  : "");
	else if (!inspects && name)
		report_text(r,
		    has_certs ? ", which has a say in the certificate alone\n"
		              : ", which this frontend does not look at\n");
	if (match)
		snprintf(rule, sizeof(rule), "%s%.*s", match->wild ? "*." : "",
		    (int)match->len, match->name);
	if (e->answer == RULES_MATCH)
		put_rule(r, e, client, match ? rule : NULL);
	else
		report_json_null(r, "rule");
}

static void
put_split(struct report *r, const struct explanation *e, bool in_text)
{
	const struct frontend *f = e->frontend;

	if (in_text)
		report_text(
		    r, ", turn %zu of %zu of the split", e->turn, e->turns);
	report_list(r, "routes");
	for (size_t i = 0; i < f->spec->routes_n; i++) {
		const char *backend = f->backends[i]->spec->name;
		unsigned weight = f->spec->routes[i].weight;
		bool has_servers = backend_has_servers(f->backends[i]);

		report_object(r, NULL);
		report_json_string(r, "backend", backend);
		report_json(r, "weight", "%u", weight);
		report_json_bool(r, "has_servers", has_servers);
		report_close(r);
		if (in_text)
			report_text(r, "%s%s weight=%u%s", i > 0 ? ", " : " ",
			    backend, weight,
			    has_servers || weight == 0 ? "" : fate_of_turns(e));
	}
	report_close(r);
	report_json(r, "turn", "%zu", e->turn);
	report_json(r, "turns", "%zu", e->turns);
}

static void
put_route(struct report *r, const struct explanation *e)
{
	const char *backend = e->backend ? e->backend->spec->name : NULL;
	const char *fallback_of =
	    e->fallback_of ? e->fallback_of->spec->name : NULL;
	bool by_rule = e->answer == RULES_MATCH;
	bool is_split = backend && !by_rule && e->turns > 0;

	report_json_string(r, "backend", backend);
	report_text(r, "  backend  %s", backend ? backend : "none");
	put_split(r, e, is_split);
	if (by_rule)
		report_text(r, ", that of the rule");
	else if (backend && !is_split && e->frontend->rules)
		report_text(r, ", that of all others");
	else if (backend && !is_split)
		report_text(r, ", the only one");
	if (fallback_of)
		report_text(r,
		    ": the fallback of %s, which has no usable server",
		    fallback_of);
	report_json_string(r, "fallback_of", fallback_of);
	report_text(r, "\n");
}

static void
put_balance(struct report *r, const struct explanation *e)
{
	const struct backend *b = e->backend;
	bool has_key = b && b->spec->balance->key != BALANCE_KEY_NONE &&
	               e->unknown == UNKNOWN_NOTHING;
	const char *balance = b ? backend_lineup(b)->ops->name : "";
	unsigned waiting =
	    b ? atomic_load_relaxed(&b->state->queue.waiting.now) : 0;
	char key[17];

	snprintf(key, sizeof(key), "%016" PRIx64, e->key);
	report_json_string(r, "balance", balance);
	report_json_string(r, "key", has_key ? key : NULL);
	report_json_bool(r, "panic", b && b->state->panic);
	report_json(r, "waiting", "%u", waiting);
	report_json_bool(r, "random", e->random);
	report_json(r, "draws", "%u", e->draws);
	if (!b)
		return;
	report_text(r, "  balance  %s", balance);
	if (has_key)
		report_text(r, ", key %s", key);
	report_text(r, "\n");
	if (b->state->panic)
		report_text(r, "  panic    so few servers are usable that all "
		               "that operators want are tried\n");
	if (waiting > 0)
		report_text(r, "  queue    %u wait\n", waiting);
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

/* Sets the limits of a scope in the file to those that are for the client. */
static void
read_rates(const struct bandwidth *bandwidth, const struct bandwidth_spec *spec,
    enum band_scope scope, const struct endpoint *client,
    uint64_t ret_limits[BAND_DIRECTIONS])
{
	if (bandwidth_is_for(&bandwidth->clients[scope], client))
		memcpy(
		    ret_limits, spec->rate[scope], sizeof(spec->rate[scope]));
}

/* Writes the limits that are for the client, apart from those of servers: of a
 * session, of the sessions of a client, and of all sessions.  In text, only
 * where there are some. */
static void
put_bandwidth(struct report *r, const struct explanation *e,
    const struct endpoint *client)
{
	static const char *const names[] = {
	    "session", "source", "frontend", "backend", "backend_source"};
	uint64_t limits[sizeof(names) / sizeof(names[0])][BAND_DIRECTIONS] = {
	    0};
	const struct frontend *f = e->frontend;
	const struct backend *b = e->backend;
	const char *between = "  limit    ";

	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++)
		limits[0][d] = bandwidth_of_session(f, b, client, d);
	for (size_t i = 0; i < 2; i++) {
		enum band_scope scope = i == 0 ? BAND_SOURCE : BAND_PROXY;

		read_rates(&f->state->bandwidth, &f->spec->bandwidth, scope,
		    client, limits[1 + i]);
		if (b)
			read_rates(&b->state->bandwidth, &b->spec->bandwidth,
			    scope, client, limits[4 - i]);
	}
	report_object(r, "bandwidth");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		put_bandwidth_pair(r, names[i], limits[i], between);
		if (any_limit(limits[i]))
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
explained_put_head(struct report *report, const struct explained *x,
    const struct command_env *env)
{
	const struct explanation *e = x->e;
	const char *block = accept_block_text(e->frontend, env);

	report_row(report);
	report_json_string(report, "source", x->source);
	report_put(
	    report, "frontend", "frontend %s\n", e->frontend->spec->name);
	report_json_bool(report, "accepted", !block);
	report_json_string(report, "accept_block", block);
	report_text(report, "  accept   %s\n", block ? block : "yes");
	put_access(report, e, &x->client->client);
	put_limit(report, e);
	report_json_string(report, "certificates", x->certs);
	if (x->certs)
		report_text(report, "  tls      %s\n", x->certs);
	put_sni(report, e, x->client, x->certs);
	put_route(report, e);
	put_bandwidth(report, e, &x->client->client);
	put_balance(report, e);
	put_choice(report, e);
	report_list(report, "servers");
	if (e->backend)
		report_text(report, "  %-20s %-10s %8s %9s %9s %8s %12s %7s\n",
		    "server", "standing", "weight", "effective", "sessions",
		    "maxconn", "score", "chance");
}

void
explained_put_server(
    struct report *report, const struct explanation *e, size_t server)
{
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
explained_put_tail(struct report *report, const struct explanation *e)
{
	report_close(report);
	if (e->measure)
		report_text(report, "  score: %s\n", e->measure);
	if (e->random)
		report_text(report,
		    "  chance: the share of %u draws by the algorithm itself\n",
		    e->draws);
	report_close(report);
}
