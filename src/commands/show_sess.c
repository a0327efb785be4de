/* SPDX-License-Identifier: MIT
 * `show sess`.
 *
 * The text is HAProxy's.  Where it shows what is inside of HAProxy, there is
 * nothing of the kind here: such a field is 0 or empty.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/listing.h"
#include "commands/session_filter.h"
#include "commands/session_sort.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "proxy/session_facts.h"

struct sess_listing {
	struct listing listing;
	struct session_filter filter;
	uint64_t older_ms;
	bool detail;
	uint32_t next; /* index of a session */
	struct session_sort sort;
};

/* HAProxy's stream connector states: how far each side has got. */
enum { SC_INI = 0, SC_QUE = 2, SC_TAR = 3, SC_CON = 5, SC_EST = 8, SC_DIS = 9 };

static const struct {
	int number;
	const char *name;
} server_sides[] = {
    [SESSION_FREE] = {SC_INI, "INI"},
    [SESSION_ACCEPTED] = {SC_INI, "INI"},
    [SESSION_HELD] = {SC_INI, "INI"},
    [SESSION_INSPECTING] = {SC_INI, "INI"},
    [SESSION_HANDSHAKE] = {SC_INI, "INI"},
    [SESSION_LINGERING] = {SC_INI, "INI"},
    [SESSION_QUEUED] = {SC_QUE, "QUE"},
    [SESSION_CONNECTING] = {SC_CON, "CON"},
    [SESSION_PAUSING] = {SC_TAR, "TAR"},
    [SESSION_RELAYING] = {SC_EST, "EST"},
    [SESSION_CLIENT_EOF] = {SC_EST, "EST"},
    [SESSION_SERVER_EOF] = {SC_EST, "EST"},
    [SESSION_FLUSHING] = {SC_DIS, "DIS"},
};
_Static_assert(
    sizeof(server_sides) / sizeof(server_sides[0]) == SESSION_STATES, "sides");

static uint64_t
sess_age_ms(const struct session_facts *f)
{
	return clock_now_ms() - f->accepted_ms;
}

static uint64_t
sess_left_ms(const struct session_facts *f)
{
	uint64_t now_ms = clock_now_ms();

	return f->deadline_ms > now_ms ? f->deadline_ms - now_ms : 0;
}

static const char *
proto_of(const struct session_facts *f)
{
	return f->client.family == AF_INET    ? "tcpv4"
	       : f->client.family == AF_INET6 ? "tcpv6"
	                                      : "unix_stream";
}

/* The texts of a session in both forms; NULL: none. */
struct sess_texts {
	char id[20], source_space[ENDPOINT_TEXT_SIZE],
	    peer_space[ENDPOINT_TEXT_SIZE];
	char age[SPAN_TEXT_SIZE], left[SPAN_TEXT_SIZE];
	const char *source,
	    *peer; /* the proxy in front, if it named the client */
	const char *connect_left, *backend, *server, *sni;
	unsigned retries;
};

static void
sess_texts_make(const struct session_facts *f, struct sess_texts *ret)
{
	*ret = (struct sess_texts){
	    .backend = f->backend ? f->backend->spec->name : NULL,
	    .server = f->server ? f->server->spec->name : NULL,
	    .sni = *f->sni ? f->sni : NULL,
	    .retries = f->tries > 0 ? f->tries - 1 : 0,
	};
	snprintf(ret->id, sizeof(ret->id), "0x%" PRIx64, f->id);
	/* For a unix client, endpoint_text shows the listener's number. */
	ret->source = endpoint_text(&f->client, ret->source_space);
	ret->peer = endpoint_text(&f->peer, ret->peer_space);
	span_text(sess_age_ms(f) / 1000, ret->age);
	span_text(sess_left_ms(f) / 1000, ret->left);
	if (f->state == SESSION_CONNECTING || f->state == SESSION_PAUSING)
		ret->connect_left = ret->left;
}

static void
put_sess_names(
    struct report *r, const struct session_facts *f, const struct sess_texts *t)
{
	char time[TIME_TEXT_SIZE], host[INET6_ADDRSTRLEN];

	report_put(r, "id", "%s", t->id);
	report_json_string(
	    r, "time", time_text(TIME_RFC3339, f->accepted_wall_us, 3, time));
	report_put(r, "proto", ": proto=%s", proto_of(f));
	report_text(r, " src=%s", t->source);
	report_json_string(r, "client", endpoint_host(&f->client, host));
	report_json(r, "client_port", "%u", f->client.port);
	report_json_string(r, "peer", t->peer);
	report_put(r, "frontend", " fe=%s", f->frontend->spec->name);
	report_text(r, " be=%s", t->backend ? t->backend : "<NONE>");
	report_json_string(r, "backend", t->backend);
	report_put(r, "server", " srv=%s", t->server);
	report_json_string(r, "sni", t->sni);
}

/* Writes the facts of TLS.  The members have the names of the access log. */
static void
put_sess_tls(struct report *r, const struct session_facts *f)
{
	static const struct {
		const char *name;
		enum session_tls_text which;
	} cert[] = {{"client_serial", SESSION_TLS_SERIAL},
	    {"client_subject", SESSION_TLS_SUBJECT},
	    {"client_issuer", SESSION_TLS_ISSUER},
	    {"client_sans", SESSION_TLS_SANS}};
	const struct session_tls_shown *s = &f->tls;

	if (!s->tls.version)
		return;
	report_json_string(r, "tls_version", s->tls.version);
	report_json_string(r, "tls_cipher", s->tls.cipher);
	report_json_string(r, "tls_group", s->tls.group);
	report_json_bool(r, "tls_resumed", s->tls.resumed);
	report_json_string(
	    r, "tls_alpn", session_tls_shown_text(s, SESSION_TLS_ALPN));
	report_json_string(r, "client_verify", s->tls.verify);
	for (size_t i = 0; i < sizeof(cert) / sizeof(cert[0]); i++)
		report_json_string(
		    r, cert[i].name, session_tls_shown_text(s, cert[i].which));
}

/* Writes the session's own limits, 0 for none, and whether it waits for
 * bandwidth. */
static void
put_sess_bandwidth(struct report *r, const struct session_facts *f)
{
	static const char *const names[] = {
	    [BAND_IN] = "bandwidth_in", [BAND_OUT] = "bandwidth_out"};
	static const char *const waits[] = {
	    [BAND_IN] = "waits_in", [BAND_OUT] = "waits_out"};
	char rate[TEXT_BYTE_RATE_SIZE];

	for (enum band_direction d = 0; d < BAND_DIRECTIONS; d++) {
		uint64_t limit = bandwidth_of_session(
		    f->frontend, f->backend, &f->client, d);

		report_json(r, names[d], "%" PRIu64, limit);
		report_json_bool(r, waits[d], f->waits[d]);
		report_text(r, "  %s=%s waits=%s\n", names[d],
		    limit > 0 ? text_byte_rate(limit, rate) : "none",
		    f->waits[d] ? "yes" : "no");
	}
}

static void
put_sess_server_tls(struct report *r, const struct server_tls *tls)
{
	if (!tls->version)
		return;
	report_json_string(r, "server_tls_version", tls->version);
	report_json_string(r, "server_tls_cipher", tls->cipher);
	report_json_string(r, "server_tls_group", tls->group);
	report_json_bool(r, "server_tls_resumed", tls->resumed);
	report_json_string(
	    r, "server_tls_alpn", tls->alpn[0] ? tls->alpn : NULL);
	report_json_string(r, "server_verify", tls->verify);
}

static void
put_sess_line(struct report *r, const struct session_facts *f)
{
	struct sess_texts t;

	sess_texts_make(f, &t);
	report_row(r);
	put_sess_names(r, f, &t);
	report_json_string(r, "starttls", f->asked_tls ? "postgresql" : NULL);
	put_sess_tls(r, f);
	put_sess_server_tls(r, &f->server_tls);
	report_json_string(r, "state", session_state_name(f->state));
	report_text(r, " ts=00 epoch=0 age=%s", t.age);
	report_json(r, "age_ms", "%" PRIu64, sess_age_ms(f));
	report_text(r, " calls=0 rate=0 cpu=0 lat=0"
	               " rq[f=0h,i=0,an=00h,rx=,wx=,ax=]"
	               " rp[f=0h,i=0,an=00h,rx=,wx=,ax=]");
	report_text(r, " scf=[%d,0h,fd=", SC_EST);
	report_put(r, "client_fd", "%d]", f->fd[HANDLE_CLIENT]);
	report_text(r, " scb=[%d,1h,fd=", server_sides[f->state].number);
	report_put(r, "server_fd", "%d]", f->fd[HANDLE_SERVER]);
	report_text(r, " exp=%s", t.left);
	report_json(r, "expires_ms", "%" PRIu64, sess_left_ms(f));
	report_put(r, "retries", " rc=%u", t.retries);
	report_text(r, " c_exp=%s", t.connect_left ? t.connect_left : "");
	/* HAProxy's line ends here. */
	report_put(r, "bytes_in", " in=%" PRIu64, f->received[HANDLE_CLIENT]);
	report_put(r, "bytes_out", " out=%" PRIu64, f->received[HANDLE_SERVER]);
	if (r->json)
		put_sess_bandwidth(r, f);
	report_row_end(r);
}

static void
put_sess_targets(
    struct report *r, const struct session_facts *f, const struct sess_texts *t)
{
	char address[ADDR_TEXT_SIZE];

	report_text(r, "  frontend=%s (id=%u mode=tcp)\n",
	    f->frontend->spec->name, f->frontend->id);
	report_text(r, "  backend=%s (id=%d mode=tcp)\n",
	    t->backend ? t->backend : "<NONE>",
	    f->backend ? (int)f->backend->id : -1);
	report_text(r, "  server=%s (id=%d)", t->server ? t->server : "<NONE>",
	    f->server ? (int)f->server->id : -1);
	if (f->server)
		report_text(r, " addr=%s",
		    server_address_at(f->server, f->server_port, address));
}

static void
put_sess_tls_detail(struct report *r, const struct session_facts *f)
{
	const struct session_tls_shown *s = &f->tls;

	if (!s->tls.version)
		return;
	report_text(r, "  tls=%s cipher=%s group=%s resumed=%s alpn=%s\n",
	    s->tls.version, s->tls.cipher, s->tls.group,
	    s->tls.resumed ? "yes" : "no",
	    session_tls_shown_text(s, SESSION_TLS_ALPN));
	report_text(r, "  client_verify=%s client_subject=%s\n", s->tls.verify,
	    session_tls_shown_text(s, SESSION_TLS_SUBJECT));
	report_text(r, "  client_serial=%s client_issuer=%s client_sans=%s\n",
	    session_tls_shown_text(s, SESSION_TLS_SERIAL),
	    session_tls_shown_text(s, SESSION_TLS_ISSUER),
	    session_tls_shown_text(s, SESSION_TLS_SANS));
}

static void
put_sess_server_tls_detail(struct report *r, const struct server_tls *tls)
{
	if (tls->version)
		report_text(r,
		    "  server_tls=%s server_cipher=%s server_group=%s "
		    "server_resumed=%s server_alpn=%s server_verify=%s\n",
		    tls->version, tls->cipher, tls->group,
		    tls->resumed ? "yes" : "no",
		    tls->alpn[0] ? tls->alpn : NULL, tls->verify);
}

/* Writes a session in the form of `show sess all`; JSON has no other form. */
static void
put_sess_detail(struct report *r, const struct session_facts *f)
{
	char time[TIME_TEXT_SIZE];
	struct sess_texts t;

	sess_texts_make(f, &t);
	report_text(r, "%s: [%s] id=%u proto=%s source=%s\n", t.id,
	    time_text(TIME_HAPROXY, f->accepted_wall_us, 6, time),
	    (uint32_t)f->id - 1, proto_of(f), t.source);
	report_text(r,
	    "  flags=0x0, conn_retries=%u, conn_exp=%s conn_et=0x000 "
	    "waiting=%d epoch=0\n",
	    t.retries, t.connect_left ? t.connect_left : "<NEVER>",
	    f->state == SESSION_QUEUED);
	put_sess_targets(r, f, &t);
	report_text(r, "\n  task=%s (exp=%s age=%s)\n",
	    session_state_name(f->state), t.left, t.age);
	report_text(r, "  sni=%s\n  peer=%s\n", t.sni, t.peer);
	if (f->asked_tls)
		report_text(r, "  starttls=postgresql\n");
	put_sess_tls_detail(r, f);
	put_sess_server_tls_detail(r, &f->server_tls);
	put_sess_bandwidth(r, f);
	report_text(r, "  scf= state=EST fd=%d\n", f->fd[HANDLE_CLIENT]);
	report_text(r, "  scb= state=%s fd=%d\n", server_sides[f->state].name,
	    f->fd[HANDLE_SERVER]);
	report_text(
	    r, "  req= (total=%" PRIu64 ")\n", f->received[HANDLE_CLIENT]);
	report_text(
	    r, "  res= (total=%" PRIu64 ")\n", f->received[HANDLE_SERVER]);
}

static void
put_sess(struct report *r, const struct session_facts *f, bool detail)
{
	r->none = "<none>";
	if (detail && !r->json)
		put_sess_detail(r, f);
	else
		put_sess_line(r, f);
}

static bool
sess_is_wanted(const struct sess_listing *l, const struct session_facts *f)
{
	return sess_age_ms(f) >= l->older_ms &&
	       session_filter_has_traffic(&l->filter, &f->client,
	           f->received[HANDLE_CLIENT] + f->received[HANDLE_SERVER]) &&
	       session_filter_matches(&l->filter, f->frontend->spec->name,
	           f->backend ? f->backend->spec->name : "",
	           f->server ? f->server->spec->name : "");
}

static bool
collect_sess(struct sess_listing *l, const struct session_facts *f)
{
	const struct session_ranked row = {
	    .key = session_sort_key(&l->sort, f->received[HANDLE_CLIENT],
	        f->received[HANDLE_SERVER], sess_age_ms(f)),
	    .id = f->id};

	return session_sort_add(&l->sort, &row, SIZE_MAX);
}

/* Writes the next session of those that were collected, if it still lives. */
static bool
put_collected(struct sess_listing *l, const struct proxy *proxy)
{
	const struct session_ranked *row = session_sort_next(&l->sort);
	struct session_facts f;

	if (row && session_facts_find(proxy, row->id, &f))
		put_sess(&l->listing.report, &f, l->detail);
	return row;
}

static bool
sess_step(void *listing, const struct command_env *env)
{
	struct sess_listing *l = listing;
	const struct proxy *proxy = &env->instance->proxy;
	bool sorted = l->sort.key != SESSION_UNSORTED;
	struct session_facts f;

	if (l->next >= slab_made(&proxy->sessions))
		return sorted && put_collected(l, proxy);
	if (!session_facts_read(proxy, l->next++, &f) || !sess_is_wanted(l, &f))
		return true;
	if (sorted)
		return collect_sess(l, &f) || listing_oom(&l->listing);
	put_sess(&l->listing.report, &f, l->detail);
	return true;
}

static void
sess_fini(void *listing)
{
	session_sort_fini(&((struct sess_listing *)listing)->sort);
}

/* Takes a filter, whose value is the word that follows. */
static bool
take_sess_filter(struct call *call, struct sess_listing *l, const char *name,
    const char *value)
{
	bool taken;

	if (strcmp(name, "older") == 0)
		return session_filter_once(call, &l->filter, name) &&
		       call_age(call, name, value, &l->older_ms);
	if (!session_filter_take(call, &l->filter, name, value, &taken))
		return false;
	if (taken)
		return session_filter_check(call, &l->filter);
	if (!session_sort_take(call, &l->sort, name, value, &taken))
		return false;
	if (taken)
		return session_filter_once(call, &l->filter, name);
	return err_set(call->err,
	    "Unexpected argument '%s'; this command takes the pointer of a "
	    "session, or all, older <age>, client <range>, min-bytes <size>, "
	    "frontend <name>, backend <name>, server <backend>/<server>, sort "
	    "<key>, and json.",
	    name);
}

static bool
take_sess_filters(struct call *call, struct sess_listing *l)
{
	l->filter.has_traffic = true;
	for (unsigned i = 0; *call_arg(call, i); i++) {
		if (strcmp(call_arg(call, i), "all") == 0)
			l->detail = true;
		else if (!take_sess_filter(
		             call, l, call_arg(call, i), call_arg(call, i + 1)))
			return false;
		else
			i++;
	}
	return true;
}

static bool
show_one_sess(struct call *call, uint64_t id, bool json)
{
	struct session_facts f;
	struct report r;

	report_begin(&r, json, call->out);
	if (session_facts_find(&call->env->instance->proxy, id, &f)) {
		put_sess(&r, &f, true);
	} else {
		report_json_null(&r, NULL);
		if (!json)
			call_fail(call);
		report_text(&r, "Session not found.\n");
	}
	report_end(&r);
	return true;
}

bool
run_show_sess(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct sess_listing),
	    .head = "",
	    .step = sess_step,
	    .fini = sess_fini,
	};
	bool json = call_take_json(call);
	uint64_t id = strtoull(call_arg(call, 0), NULL, 0);
	struct sess_listing *l;

	if (id > 0)
		return show_one_sess(call, id, json);
	l = listing_new(call, &kind, json);
	return l &&
	       listing_answer(call, &l->listing, take_sess_filters(call, l));
}
