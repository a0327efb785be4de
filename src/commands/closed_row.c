/* SPDX-License-Identifier: MIT
 * See closed_row.h.
 */
#include "commands/closed_row.h"

#include <inttypes.h>

#include "base/time_text.h"

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

void
closed_row_put(struct report *report, const struct closed_session *closed)
{
	const struct closed_session *c = closed;
	struct report *r = report;
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
