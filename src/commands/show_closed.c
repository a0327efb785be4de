/* SPDX-License-Identifier: MIT
 * `show closed`: the sessions that have ended, the latest first.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/listing.h"
#include "commands/session_filter.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "proxy/proxy.h"

struct closed_listing {
	struct listing listing;
	struct session_filter names;
	char cause[3];     /* "": any */
	uint64_t id;       /* 0: any */
	uint64_t since_ns; /* clock_now_ns */
	uint64_t last;     /* show at most this many */
	struct closed_walk *walk;
};

static void
put_closed_tcp(
    struct report *r, const struct closed_session *c, enum handle_side which)
{
	const struct tcp_facts *t = &c->tcp[which];
	const struct {
		const char *name, *text;
		uint64_t value, unknown; /* the value for not measured */
	} facts[] = {
	    {"rtt_us", "rtt=", t->rtt_us, TCP_FACT_UNKNOWN},
	    {"rttvar_us", ",var=", t->rttvar_us, TCP_FACT_UNKNOWN},
	    {"min_rtt_us", ",min=", t->min_rtt_us, TCP_FACT_UNKNOWN},
	    {"retransmits", ",retr=", t->retransmits, UINT64_MAX},
	    {"cwnd", ",cwnd=", t->cwnd, UINT64_MAX},
	    {"mss", ",mss=", t->mss, UINT64_MAX},
	    {"delivery_rate", ",rate=", t->delivery_rate, 0},
	};
	const char *side = which == HANDLE_CLIENT ? "client" : "server";

	report_text(r, " %s[", side);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		bool known =
		    c->tcp_known[which] && facts[i].value != facts[i].unknown;
		char name[32];

		snprintf(name, sizeof(name), "%s_%s", side, facts[i].name);
		report_json_known(r, name, known, facts[i].value);
		if (!c->tcp_known[which])
			continue;
		report_text(r, "%s", facts[i].text);
		if (known)
			report_text(r, "%" PRIu64, facts[i].value);
		else
			report_text(r, "-");
	}
	report_text(r, "]");
}

/* Returns NULL instead of "". */
static const char *
closed_name_or_null(const struct closed_session *c, enum closed_name which)
{
	const char *name = closed_name(c, which);

	return *name ? name : NULL;
}

static void
put_closed_names(struct report *r, const struct closed_session *c)
{
	const struct endpoint *client = &c->session.client;
	char host[INET6_ADDRSTRLEN], address[ENDPOINT_TEXT_SIZE];

	report_text(r, " src=%s", endpoint_text(client, address));
	report_put(
	    r, "peer", " peer=%s", endpoint_text(&c->session.peer, address));
	report_json_string(r, "client", endpoint_host(client, host));
	report_json(r, "client_port", "%u", client->port);
	report_put(r, "frontend", " fe=%s", closed_name(c, CLOSED_FRONTEND));
	report_put(r, "backend", " be=%s", closed_name(c, CLOSED_BACKEND));
	report_put(
	    r, "server", " srv=%s", closed_name_or_null(c, CLOSED_SERVER));
	report_put(r, "sni", " sni=%s", closed_name_or_null(c, CLOSED_SNI));
}

/* Writes the columns for sessions of a listen with TLS. */
static void
put_closed_tls(struct report *r, const struct closed_session *c)
{
	const struct session_tls *tls = &c->session.tls;

	if (tls->listen == 0)
		return;
	report_put(r, "tls_version", " tls=%s", tls->version);
	report_put(r, "tls_cipher", " cipher=%s", tls->cipher);
	report_put(r, "tls_group", " group=%s", tls->group);
	report_text(r, " resumed=%s", tls->resumed ? "yes" : "no");
	report_json_bool(r, "tls_resumed", tls->resumed);
	report_put(
	    r, "tls_alpn", " alpn=%s", closed_name_or_null(c, CLOSED_ALPN));
	report_json_string(r, "tls_failure", tls->failure);
	report_json_string(r, "client_verify", tls->verify);
	report_json_string(
	    r, "client_serial", closed_name_or_null(c, CLOSED_SERIAL));
	report_json_string(
	    r, "client_subject", closed_name_or_null(c, CLOSED_SUBJECT));
	report_json_string(
	    r, "client_issuer", closed_name_or_null(c, CLOSED_ISSUER));
	report_json_string(
	    r, "client_sans", closed_name_or_null(c, CLOSED_SANS));
}

/* Writes the columns for sessions of a server with TLS. */
static void
put_closed_server_tls(struct report *r, const struct server_tls *tls)
{
	if (!tls->version)
		return;
	report_put(r, "server_tls_version", " server_tls=%s", tls->version);
	report_put(r, "server_tls_cipher", " server_cipher=%s", tls->cipher);
	report_put(r, "server_tls_group", " server_group=%s", tls->group);
	report_text(r, " server_resumed=%s", tls->resumed ? "yes" : "no");
	report_json_bool(r, "server_tls_resumed", tls->resumed);
	report_put(r, "server_tls_alpn", " server_alpn=%s",
	    tls->alpn[0] ? tls->alpn : NULL);
	report_put(r, "server_verify", " server_verify=%s", tls->verify);
}

static void
put_closed_end(struct report *r, const struct closed_session *c)
{
	const struct session_record *s = &c->session;

	report_put(r, "bytes_in", " in=%" PRIu64, s->bytes_in);
	report_put(r, "bytes_out", " out=%" PRIu64, s->bytes_out);
	report_put(r, "wait_ms", " wait=%" PRId64, s->wait_ms);
	report_put(r, "connect_ms", " connect=%" PRId64, s->connect_ms);
	report_put(r, "total_ms", " total=%" PRId64, s->total_ms);
	report_put(r, "code", " code=%s", close_reason_code(s->reason));
	report_json_string(r, "reason", close_reason_text(s->reason));
	report_put(r, "first", " first=%s", closer_name(c->first));
	report_text(r, " retries=%s", s->redispatched ? "+" : "");
	report_put(r, "retries", "%u", s->retries);
	report_json_bool(r, "redispatched", s->redispatched);
	report_put(r, "queue_position", " queue=%u", s->queue_position);
}

/* Writes a session.  Members that the access log has as well have its names. */
static void
put_closed(struct report *r, const struct closed_session *c)
{
	uint64_t began_us = c->session.accepted_wall_us;
	char id[40], time[TIME_TEXT_SIZE];

	report_row(r);
	snprintf(id, sizeof(id), "0x%" PRIx64, c->id);
	report_put(r, "id", "%s", id);
	snprintf(id, sizeof(id), "%014" PRIx64 "-%06x", began_us,
	    (unsigned)c->id - 1);
	report_json_string(r, "log_id", id);
	report_json_string(
	    r, "time", time_text(TIME_RFC3339, began_us, 3, time));
	report_put(r, "ended", ": ended=%s",
	    time_text(TIME_RFC3339,
	        began_us + (uint64_t)c->session.total_ms * 1000, 3, time));
	put_closed_names(r, c);
	put_closed_tls(r, c);
	put_closed_server_tls(r, &c->session.server_tls);
	put_closed_end(r, c);
	put_closed_tcp(r, c, HANDLE_CLIENT);
	put_closed_tcp(r, c, HANDLE_SERVER);
	report_row_end(r);
}

static bool
closed_has_names(
    const struct session_filter *names, const struct closed_session *c)
{
	return session_filter_matches(names, closed_name(c, CLOSED_FRONTEND),
	    closed_name(c, CLOSED_BACKEND), closed_name(c, CLOSED_SERVER));
}

static bool
closed_is_wanted(const struct closed_listing *l, const struct closed_session *c)
{
	return (l->id == 0 || l->id == c->id) &&
	       (!l->cause[0] ||
	           strcmp(l->cause, close_reason_code(c->session.reason)) ==
	               0) &&
	       closed_has_names(&l->names, c);
}

static bool
closed_step(void *listing, const struct command_env *env)
{
	struct closed_listing *l = listing;
	const struct closed_session *c =
	    l->last > 0 ? closed_walk_next(l->walk) : NULL;

	(void)env;
	if (!c || c->ended_ns < l->since_ns)
		return false;
	if (closed_is_wanted(l, c)) {
		put_closed(&l->listing.report, c);
		l->last--;
	}
	return true;
}

static void
closed_fini(void *listing)
{
	closed_walk_free(((struct closed_listing *)listing)->walk);
}

static bool
take_closed_cause(struct call *call, struct closed_listing *l, const char *code)
{
	char all[4 * CLOSE_REASONS + 1] = "";

	for (enum close_reason i = 0; i < CLOSE_REASONS; i++) {
		const char *known = close_reason_code(i);

		if (strcmp(code, known) == 0) {
			snprintf(l->cause, sizeof(l->cause), "%s", code);
			return true;
		}
		if (!strstr(all, known))
			snprintf(all + strlen(all), sizeof(all) - strlen(all),
			    " %s", known);
	}
	return err_set(
	    call->err, "No session ends with '%s'; these are:%s.", code, all);
}

static bool
take_closed_age(struct call *call, struct closed_listing *l, const char *age)
{
	uint64_t now_ns = clock_now_ns(), ms;

	if (!call_age(call, age, &ms))
		return false;
	if (ms < now_ns / 1000000)
		l->since_ns = now_ns - ms * 1000000;
	return true;
}

/* Takes the number of sessions to show, or the id of one. */
static bool
take_closed_number(
    struct call *call, struct closed_listing *l, const char *word)
{
	if (strncmp(word, "0x", 2) == 0 &&
	    strspn(word + 2, "0123456789abcdefABCDEF") == strlen(word + 2)) {
		l->id = strtoull(word, NULL, 16);
		return l->id > 0 || err_set(call->err, "Session not found.");
	}
	if (text_parse_number(word, 1, CLOSED_SESSIONS_MAX, &l->last, NULL))
		return true;
	return err_set(call->err,
	    "Unexpected argument '%s'; this command takes how many, 1 to %d, "
	    "or the pointer of a session, cause <code>, last <age>, frontend "
	    "<name>, backend <name>, server <backend>/<server>, and json.",
	    word, CLOSED_SESSIONS_MAX);
}

/* Takes a word.  *ret_taken: the value belongs to the word. */
static bool
take_closed_word(struct call *call, struct closed_listing *l, const char *word,
    const char *value, bool *ret_taken)
{
	*ret_taken = true;
	if (strcmp(word, "cause") == 0)
		return take_closed_cause(call, l, value);
	if (strcmp(word, "last") == 0)
		return take_closed_age(call, l, value);
	if (!session_filter_take(call, &l->names, word, value, ret_taken))
		return false;
	return *ret_taken || take_closed_number(call, l, word);
}

static bool
take_closed_words(struct call *call, struct closed_listing *l)
{
	bool taken;

	l->last = CLOSED_SESSIONS_MAX;
	for (unsigned i = 0; *call_arg(call, i); i += 1 + taken)
		if (!take_closed_word(call, l, call_arg(call, i),
		        call_arg(call, i + 1), &taken))
			return false;
	return true;
}

/* Returns whether a kept session had these names, which may have been removed
 * from the configuration since then. */
static bool
are_closed_names(
    const struct closed_rings *rings, const struct session_filter *names)
{
	struct closed_walk *walk = closed_walk_new(rings);
	const struct closed_session *c;
	bool found = false;

	while (walk && !found && (c = closed_walk_next(walk)))
		found = closed_has_names(names, c);
	closed_walk_free(walk);
	return found;
}

static bool
closed_begin(struct call *call, struct closed_listing *l)
{
	const struct closed_rings *rings =
	    &control_proxy(call->env->control)->closed;

	l->walk = closed_walk_new(rings);
	if (!l->walk)
		return err_oom(call->err);
	if (!take_closed_words(call, l) ||
	    (!session_filter_check(call, &l->names) &&
	        !are_closed_names(rings, &l->names)))
		return false;
	return rings->keep > 0 ||
	       err_set(call->err,
	           "No sessions are remembered: closed_sessions is 0.");
}

bool
run_show_closed(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct closed_listing),
	    .head = "",
	    .step = closed_step,
	    .fini = closed_fini,
	};
	struct closed_listing *l =
	    listing_new(call, &kind, call_take_json(call));

	if (!l)
		return false;
	l->listing.report.none = "<none>";
	return listing_answer(call, &l->listing, closed_begin(call, l));
}
