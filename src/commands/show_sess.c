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

#include "commands/rows.h"
#include "commands/session_filter.h"
#include "base/clock.h"
#include "base/time_text.h"
#include "proxy/session_facts.h"

/* The number of places examined for one part of the answer, which may be empty:
 * some 100 us. */
#define LOOKS_MAX 1000

struct listing {
	struct answer_rest rest;
	struct session_filter filter;
	uint64_t older_ms;
	bool detail, json, begun;
	struct rows rows;
	uint32_t next; /* index of a session */
};

/* HAProxy's stream connector states: how far each side has got. */
enum { SC_INI = 0, SC_QUE = 2, SC_TAR = 3, SC_CON = 5, SC_EST = 8, SC_DIS = 9 };

static const struct {
	int number;
	const char *name;
} server_sides[] = {
    [SESSION_FREE] = {SC_INI, "INI"},
    [SESSION_ACCEPTED] = {SC_INI, "INI"},
    [SESSION_INSPECTING] = {SC_INI, "INI"},
    [SESSION_QUEUED] = {SC_QUE, "QUE"},
    [SESSION_CONNECTING] = {SC_CON, "CON"},
    [SESSION_PAUSING] = {SC_TAR, "TAR"},
    [SESSION_RELAYING] = {SC_EST, "EST"},
    [SESSION_CLIENT_EOF] = {SC_EST, "EST"},
    [SESSION_SERVER_EOF] = {SC_EST, "EST"},
    [SESSION_FLUSHING] = {SC_DIS, "DIS"},
};

/* The session is f, the value v. */
#define READ(reader, what) ROW_READ(reader, struct session_facts, f, what)

/* The two largest units: `1m32s`, `2d3h`. */
static void
put_age(struct row_value *v, uint64_t s)
{
	if (s >= 86400)
		row_format(
		    v, "%" PRIu64 "d%" PRIu64 "h", s / 86400, s / 3600 % 24);
	else if (s >= 3600)
		row_format(
		    v, "%" PRIu64 "h%" PRIu64 "m", s / 3600, s / 60 % 60);
	else if (s >= 60)
		row_format(v, "%" PRIu64 "m%" PRIu64 "s", s / 60, s % 60);
	else
		row_format(v, "%" PRIu64 "s", s);
}

static uint64_t
age_ms(const struct session_facts *f)
{
	return clock_now_ms() - f->accepted_ms;
}

static uint64_t
left_ms(const struct session_facts *f)
{
	uint64_t now_ms = clock_now_ms();

	return f->deadline_ms > now_ms ? f->deadline_ms - now_ms : 0;
}

static const char *
proto_of(const struct session_facts *f)
{
	switch (f->client.family) {
	case AF_INET:
		return "tcpv4";
	case AF_INET6:
		return "tcpv6";
	default:
		return "unix_stream";
	}
}

/* A unix client has no address; its listener's number is there. */
static void
read_source(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	row_endpoint(v, &f->client);
}

static void
read_client(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	row_host(v, &f->client);
}

/* The proxy in front, if the client's address came in a PROXY header. */
static void
read_peer(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	if (f->peer.family != 0)
		row_endpoint(v, &f->peer);
}

static bool
is_connecting(const struct session_facts *f)
{
	return f->state == SESSION_CONNECTING || f->state == SESSION_PAUSING;
}

static void
read_connect_left(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	if (is_connecting(f))
		put_age(v, left_ms(f) / 1000);
}

static void
read_backend(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	if (f->backend)
		row_text(v, f->backend->spec->name);
}

static void
read_backend_id(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	if (f->backend)
		row_number(v, f->backend->id);
}

static void
read_sni(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	if (*f->sni)
		row_text(v, f->sni);
}

static void
read_server(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	if (f->server)
		row_text(v, f->server->spec->name);
}

static void
read_server_id(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;

	if (f->server)
		row_number(v, f->server->id);
}

static void
read_server_address(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;
	char at[ADDR_TEXT_SIZE];

	if (f->server)
		row_format(
		    v, " addr=%s", addr_text(server_addr(f->server), at));
}

static void
read_local_time(const void *row, struct row_value *v)
{
	const struct session_facts *f = row;
	char text[TIME_TEXT_SIZE];

	row_format(
	    v, "[%s]", time_text(TIME_HAPROXY, f->accepted_wall_us, 6, text));
}

READ(read_id, row_format(v, "0x%" PRIx64, f->id))
READ(read_slot, row_number(v, (uint32_t)f->id - 1))
READ(read_proto, row_text(v, proto_of(f)))
READ(read_port, row_number(v, f->client.port))
READ(read_time, row_time(v, f->accepted_wall_us))
READ(read_frontend, row_text(v, f->frontend->spec->name))
READ(read_frontend_id, row_number(v, f->frontend->id))
READ(read_age, put_age(v, age_ms(f) / 1000))
READ(read_age_ms, row_number(v, (int64_t)age_ms(f)))
READ(read_left, put_age(v, left_ms(f) / 1000))
READ(read_left_ms, row_number(v, (int64_t)left_ms(f)))
READ(read_state, row_text(v, session_state_name(f->state)))
READ(read_queued, row_number(v, f->state == SESSION_QUEUED))
READ(read_client_fd, row_number(v, f->fd[HANDLE_CLIENT]))
READ(read_server_fd, row_number(v, f->fd[HANDLE_SERVER]))
READ(read_client_state, ((void)f, row_number(v, SC_EST)))
READ(read_server_state, row_number(v, server_sides[f->state].number))
READ(read_server_state_name, row_text(v, server_sides[f->state].name))
READ(read_retries, row_number(v, f->tries > 0 ? f->tries - 1 : 0))
READ(read_bytes_in, row_number(v, (int64_t)f->received[HANDLE_CLIENT]))
READ(read_bytes_out, row_number(v, (int64_t)f->received[HANDLE_SERVER]))

/* clang-format off: a column each. */
static const struct row_column line_columns[] = {
    {"", "id", read_id, NULL},
    {NULL, "time", read_time, NULL},
    {": proto=", "proto", read_proto, NULL},
    {" src=", NULL, read_source, NULL},
    {NULL, "client", read_client, NULL},
    {NULL, "client_port", read_port, NULL},
    {NULL, "peer", read_peer, NULL},
    {" fe=", "frontend", read_frontend, NULL},
    {" be=", "backend", read_backend, "<NONE>"},
    {" srv=", "server", read_server, "<none>"},
    {NULL, "sni", read_sni, NULL},
    {NULL, "state", read_state, NULL},
    {" ts=00 epoch=0 age=", NULL, read_age, NULL},
    {NULL, "age_ms", read_age_ms, NULL},
    {" calls=0 rate=0 cpu=0 lat=0"
     " rq[f=0h,i=0,an=00h,rx=,wx=,ax=]"
     " rp[f=0h,i=0,an=00h,rx=,wx=,ax=] scf=[",
        NULL, read_client_state, NULL},
    {",0h,fd=", "client_fd", read_client_fd, NULL},
    {"] scb=[", NULL, read_server_state, NULL},
    {",1h,fd=", "server_fd", read_server_fd, NULL},
    {"] exp=", NULL, read_left, NULL},
    {NULL, "expires_ms", read_left_ms, NULL},
    {" rc=", "retries", read_retries, NULL},
    {" c_exp=", NULL, read_connect_left, NULL},
    {NULL, "bytes_in", read_bytes_in, NULL},
    {NULL, "bytes_out", read_bytes_out, NULL},
};

static const struct row_column detail_columns[] = {
    {"", NULL, read_id, NULL},
    {": ", NULL, read_local_time, NULL},
    {" id=", NULL, read_slot, NULL},
    {" proto=", NULL, read_proto, NULL},
    {" source=", NULL, read_source, NULL},
    {"\n  flags=0x0, conn_retries=", NULL, read_retries, NULL},
    {", conn_exp=", NULL, read_connect_left, "<NEVER>"},
    {" conn_et=0x000 waiting=", NULL, read_queued, NULL},
    {" epoch=0\n  frontend=", NULL, read_frontend, NULL},
    {" (id=", NULL, read_frontend_id, NULL},
    {" mode=tcp)\n  backend=", NULL, read_backend, "<NONE>"},
    {" (id=", NULL, read_backend_id, "-1"},
    {" mode=tcp)\n  server=", NULL, read_server, "<NONE>"},
    {" (id=", NULL, read_server_id, "-1"},
    {")", NULL, read_server_address, NULL},
    {"\n  task=", NULL, read_state, NULL},
    {" (exp=", NULL, read_left, NULL},
    {" age=", NULL, read_age, NULL},
    {")\n  sni=", NULL, read_sni, "<none>"},
    {"\n  peer=", NULL, read_peer, "<none>"},
    {"\n  scf= state=EST fd=", NULL, read_client_fd, NULL},
    {"\n  scb= state=", NULL, read_server_state_name, NULL},
    {" fd=", NULL, read_server_fd, NULL},
    {"\n  req= (total=", NULL, read_bytes_in, NULL},
    {")\n  res= (total=", NULL, read_bytes_out, NULL},
    {")", NULL, NULL, NULL},
};
/* clang-format on */

/* In JSON there is one form. */
static const struct row_table lines = ROW_TABLE(NULL, line_columns);
static const struct row_table details = ROW_TABLE(NULL, detail_columns);

static const struct row_table *
table_for(bool detail, bool json)
{
	return detail && !json ? &details : &lines;
}

static bool
matches(const struct listing *l, const struct session_facts *f)
{
	return age_ms(f) >= l->older_ms &&
	       session_filter_matches(&l->filter, f->frontend->spec->name,
	           f->backend ? f->backend->spec->name : "",
	           f->server ? f->server->spec->name : "");
}

static bool
more(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct listing *l = (struct listing *)rest;
	const struct proxy *proxy = control_proxy(env->control);
	uint32_t made = slab_made(&proxy->sessions);

	if (!l->begun)
		rows_begin(
		    &l->rows, table_for(l->detail, l->json), l->json, out);
	l->begun = true;
	for (uint32_t looks = 0; l->next < made; looks++) {
		struct session_facts f;

		if (ftell(out) >= ANSWER_PART_SIZE || looks == LOOKS_MAX)
			return true;
		if (session_facts_read(proxy, l->next++, &f) && matches(l, &f))
			rows_put(&l->rows, &f, out);
	}
	rows_end(&l->rows, out);
	return false;
}

static void
free_listing(struct answer_rest *rest)
{
	struct listing *l = (struct listing *)rest;

	session_filter_fini(&l->filter);
	free(l);
}

/* A filter takes the word behind it. */
static bool
take_filter(
    struct call *call, struct listing *l, const char *name, const char *value)
{
	bool taken;

	if (strcmp(name, "older") == 0)
		return call_age(call, value, &l->older_ms);
	if (!session_filter_take(call, &l->filter, name, value, &taken))
		return false;
	if (taken)
		return session_filter_check(call, &l->filter);
	return err_set(call->err,
	    "Unexpected argument '%s'; this command takes the pointer of a "
	    "session, or all, older <age>, frontend <name>, backend <name>, "
	    "server <backend>/<server>, and json.",
	    name);
}

static bool
take_filters(struct call *call, struct listing *l)
{
	for (unsigned i = 0; *call_arg(call, i); i++) {
		if (strcmp(call_arg(call, i), "all") == 0)
			l->detail = true;
		else if (!take_filter(
		             call, l, call_arg(call, i), call_arg(call, i + 1)))
			return false;
		else
			i++;
	}
	return true;
}

static bool
show_one(struct call *call, uint64_t id, bool json)
{
	struct session_facts f;

	if (session_facts_find(control_proxy(call->env->control), id, &f))
		rows_put_single(table_for(true, json), &f, json, call->out);
	else if (json)
		fputs("null\n", call->out);
	else {
		call_fail(call);
		fputs("Session not found.\n", call->out);
	}
	return true;
}

bool
run_show_sess(struct call *call)
{
	bool json = call_take_json(call);
	uint64_t id = strtoull(call_arg(call, 0), NULL, 0);
	struct listing *l;

	if (id > 0)
		return show_one(call, id, json);
	l = calloc(1, sizeof(*l));
	if (!l)
		return err_oom(call->err);
	l->rest = (struct answer_rest){.more = more, .free = free_listing};
	l->json = json;
	if (!take_filters(call, l)) {
		free_listing(&l->rest);
		return false;
	}
	call->rest = &l->rest;
	return true;
}
