/* SPDX-License-Identifier: MIT
 * `show closed`: the sessions that have ended, the latest first.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/rows.h"
#include "commands/session_filter.h"
#include "base/clock.h"
#include "base/text.h"
#include "proxy/proxy.h"

/* The number of sessions examined for one part of the answer, which may be
 * empty: some 200 us. */
#define LOOKS_MAX 1000

struct wanted {
	struct session_filter names;
	char cause[3];     /* "": any */
	uint64_t id;       /* 0: any */
	uint64_t since_ns; /* clock_now_ns */
	uint64_t last;     /* show at most this many */
	bool json;
};

struct listing {
	struct answer_rest rest;
	struct wanted wanted;
	struct closed_walk *walk;
	struct rows rows;
	bool begun;
};

/* The session is c, the value v. */
#define READ(reader, what) ROW_READ(reader, struct closed_session, c, what)

static void
read_client(const void *row, struct row_value *v)
{
	const struct closed_session *c = row;

	row_host(v, &c->session.client);
}

/* Same form as in `show sess`. */
static void
read_source(const void *row, struct row_value *v)
{
	const struct closed_session *c = row;

	row_endpoint(v, &c->session.client);
}

/* The proxy in front, if the client's address came in a PROXY header. */
static void
read_peer(const void *row, struct row_value *v)
{
	const struct closed_session *c = row;

	if (c->session.peer.family != 0)
		row_endpoint(v, &c->session.peer);
}

static void
read_sni(const void *row, struct row_value *v)
{
	const char *name = closed_name(row, CLOSED_SNI);

	if (*name)
		row_text(v, name);
}

static void
read_server(const void *row, struct row_value *v)
{
	const char *name = closed_name(row, CLOSED_SERVER);

	if (*name)
		row_text(v, name);
}

/* Writes the fact with its name, or a `-` for one that the kernel has not
 * measured; returns the length. */
static int
put_fact(
    char *out, size_t size, const char *name, bool is_known, uint64_t value)
{
	if (!is_known)
		return snprintf(out, size, "%s=-", name);
	return snprintf(out, size, "%s=%" PRIu64, name, value);
}

static bool
is_measured(uint32_t us)
{
	return us != TCP_FACT_UNKNOWN;
}

static void
read_tcp(
    const struct closed_session *c, enum handle_side which, struct row_value *v)
{
	const struct tcp_facts *t = &c->tcp[which];
	char text[ROW_SPACE];
	size_t n = 0;

	if (!c->tcp_known[which])
		return;
	n += put_fact(text + n, sizeof(text) - n, "rtt", is_measured(t->rtt_us),
	    t->rtt_us);
	n += put_fact(text + n, sizeof(text) - n, ",var",
	    is_measured(t->rttvar_us), t->rttvar_us);
	n += put_fact(text + n, sizeof(text) - n, ",min",
	    is_measured(t->min_rtt_us), t->min_rtt_us);
	n += snprintf(text + n, sizeof(text) - n, ",retr=%u,cwnd=%u,mss=%u",
	    t->retransmits, t->cwnd, t->mss);
	put_fact(text + n, sizeof(text) - n, ",rate", t->delivery_rate > 0,
	    t->delivery_rate);
	row_format(v, "%s", text);
}

READ(read_id, row_format(v, "0x%" PRIx64, c->id))
READ(read_log_id, row_format(v, "%014" PRIx64 "-%06x",
                      c->session.accepted_wall_us, (unsigned)c->id - 1))
READ(read_time, row_time(v, c->session.accepted_wall_us))
READ(read_ended, row_time(v, c->session.accepted_wall_us +
                                 (uint64_t)c->session.total_ms * 1000))
READ(read_port, row_number(v, c->session.client.port))
READ(read_frontend, row_text(v, closed_name(c, CLOSED_FRONTEND)))
READ(read_backend, row_text(v, closed_name(c, CLOSED_BACKEND)))
READ(read_bytes_in, row_number(v, (int64_t)c->session.bytes_in))
READ(read_bytes_out, row_number(v, (int64_t)c->session.bytes_out))
READ(read_wait, row_number(v, c->session.wait_ms))
READ(read_connect, row_number(v, c->session.connect_ms))
READ(read_total, row_number(v, c->session.total_ms))
READ(read_code, row_text(v, close_reason_code(c->session.reason)))
READ(read_reason, row_text(v, close_reason_text(c->session.reason)))
READ(read_first, row_text(v, closer_name(c->first)))
READ(read_retries, row_number(v, c->session.retries))
READ(
    read_retries_text, row_format(v, "%s%u", c->session.redispatched ? "+" : "",
                           c->session.retries))
READ(read_redispatched, row_bool(v, c->session.redispatched))
READ(read_queue, row_number(v, c->session.queue_position))
READ(read_client_tcp, read_tcp(c, HANDLE_CLIENT, v))
READ(read_server_tcp, read_tcp(c, HANDLE_SERVER, v))

/* A fact of the kernel's about one side; unknown is the value that stands for
 * none. */
#define TCP_READ(name, side, field, unknown)                                   \
	static void name(const void *row, struct row_value *v)                 \
	{                                                                      \
		const struct closed_session *c = row;                          \
                                                                               \
		if (c->tcp_known[side] && c->tcp[side].field != (unknown))     \
			row_number(v, (int64_t)c->tcp[side].field);            \
	}
#define TCP_NONE (-1LL) /* no value does */
#define TCP_READS(who, side)                                                   \
	TCP_READ(read_##who##_rtt, side, rtt_us, TCP_FACT_UNKNOWN)             \
	TCP_READ(read_##who##_rttvar, side, rttvar_us, TCP_FACT_UNKNOWN)       \
	TCP_READ(read_##who##_min_rtt, side, min_rtt_us, TCP_FACT_UNKNOWN)     \
	TCP_READ(read_##who##_retransmits, side, retransmits, TCP_NONE)        \
	TCP_READ(read_##who##_cwnd, side, cwnd, TCP_NONE)                      \
	TCP_READ(read_##who##_mss, side, mss, TCP_NONE)                        \
	TCP_READ(read_##who##_rate, side, delivery_rate, 0)

TCP_READS(client, HANDLE_CLIENT)
TCP_READS(server, HANDLE_SERVER)

#define TCP_COLUMNS(who)                                                       \
	{NULL, #who "_rtt_us", read_##who##_rtt, NULL},                        \
	    {NULL, #who "_rttvar_us", read_##who##_rttvar, NULL},              \
	    {NULL, #who "_min_rtt_us", read_##who##_min_rtt, NULL},            \
	    {NULL, #who "_retransmits", read_##who##_retransmits, NULL},       \
	    {NULL, #who "_cwnd", read_##who##_cwnd, NULL},                     \
	    {NULL, #who "_mss", read_##who##_mss, NULL},                       \
	{                                                                      \
		NULL, #who "_delivery_rate", read_##who##_rate, NULL           \
	}

/* Columns that the access log has as well go by its names. */
/* clang-format off: a column each. */
static const struct row_column columns[] = {
    {"", "id", read_id, NULL},
    {NULL, "log_id", read_log_id, NULL},
    {NULL, "time", read_time, NULL},
    {": ended=", "ended", read_ended, NULL},
    {" src=", NULL, read_source, NULL},
    {" peer=", "peer", read_peer, "<none>"},
    {NULL, "client", read_client, NULL},
    {NULL, "client_port", read_port, NULL},
    {" fe=", "frontend", read_frontend, NULL},
    {" be=", "backend", read_backend, NULL},
    {" srv=", "server", read_server, "<none>"},
    {" sni=", "sni", read_sni, "<none>"},
    {" in=", "bytes_in", read_bytes_in, NULL},
    {" out=", "bytes_out", read_bytes_out, NULL},
    {" wait=", "wait_ms", read_wait, NULL},
    {" connect=", "connect_ms", read_connect, NULL},
    {" total=", "total_ms", read_total, NULL},
    {" code=", "code", read_code, NULL},
    {NULL, "reason", read_reason, NULL},
    {" first=", "first", read_first, NULL},
    {" retries=", NULL, read_retries_text, NULL},
    {NULL, "retries", read_retries, NULL},
    {NULL, "redispatched", read_redispatched, NULL},
    {" queue=", "queue_position", read_queue, NULL},
    {" client[", NULL, read_client_tcp, NULL},
    {"] server[", NULL, read_server_tcp, NULL},
    {"]", NULL, NULL, NULL},
    TCP_COLUMNS(client),
    TCP_COLUMNS(server),
};
/* clang-format on */

static const struct row_table table = ROW_TABLE(NULL, columns);

static bool
has_names(const struct session_filter *names, const struct closed_session *c)
{
	return session_filter_matches(names, closed_name(c, CLOSED_FRONTEND),
	    closed_name(c, CLOSED_BACKEND), closed_name(c, CLOSED_SERVER));
}

static bool
matches(const struct wanted *w, const struct closed_session *c)
{
	return (w->id == 0 || w->id == c->id) &&
	       (!w->cause[0] ||
	           strcmp(w->cause, close_reason_code(c->session.reason)) ==
	               0) &&
	       has_names(&w->names, c);
}

static bool
more(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct listing *l = (struct listing *)rest;
	const struct closed_session *c;
	unsigned looks = 0;

	(void)env;
	if (!l->begun)
		rows_begin(&l->rows, &table, l->wanted.json, out);
	l->begun = true;
	while (l->wanted.last > 0 && (c = closed_walk_next(l->walk)) &&
	       c->ended_ns >= l->wanted.since_ns) {
		if (matches(&l->wanted, c)) {
			rows_put(&l->rows, c, out);
			l->wanted.last--;
		}
		if (ftell(out) >= ANSWER_PART_SIZE || ++looks == LOOKS_MAX)
			return true;
	}
	rows_end(&l->rows, out);
	return false;
}

static void
free_listing(struct answer_rest *rest)
{
	struct listing *l = (struct listing *)rest;

	session_filter_fini(&l->wanted.names);
	closed_walk_free(l->walk);
	free(l);
}

static bool
take_cause(struct call *call, struct wanted *w, const char *code)
{
	char all[4 * CLOSE_REASONS + 1] = "";

	for (enum close_reason i = 0; i < CLOSE_REASONS; i++) {
		const char *known = close_reason_code(i);

		if (strcmp(code, known) == 0) {
			snprintf(w->cause, sizeof(w->cause), "%s", code);
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
take_last(struct call *call, struct wanted *w, const char *age)
{
	uint64_t now_ns = clock_now_ns(), ms;

	if (!call_age(call, age, &ms))
		return false;
	if (ms < now_ns / 1000000)
		w->since_ns = now_ns - ms * 1000000;
	return true;
}

/* Takes the number of sessions to show, or the id of one. */
static bool
take_number(struct call *call, struct wanted *w, const char *word)
{
	if (strncmp(word, "0x", 2) == 0 &&
	    strspn(word + 2, "0123456789abcdefABCDEF") == strlen(word + 2)) {
		w->id = strtoull(word, NULL, 16);
		return w->id > 0 || err_set(call->err, "Session not found.");
	}
	if (text_parse_number(word, 1, CLOSED_SESSIONS_MAX, &w->last, NULL))
		return true;
	return err_set(call->err,
	    "Unexpected argument '%s'; this command takes how many, 1 to %d, "
	    "or the pointer of a session, cause <code>, last <age>, frontend "
	    "<name>, backend <name>, server <backend>/<server>, and json.",
	    word, CLOSED_SESSIONS_MAX);
}

/* True when the value belongs to the word. */
static bool
take_word(struct call *call, struct wanted *w, const char *word,
    const char *value, bool *ret_taken)
{
	*ret_taken = true;
	if (strcmp(word, "cause") == 0)
		return take_cause(call, w, value);
	if (strcmp(word, "last") == 0)
		return take_last(call, w, value);
	if (!session_filter_take(call, &w->names, word, value, ret_taken))
		return false;
	return *ret_taken || take_number(call, w, word);
}

static bool
take_words(struct call *call, struct wanted *w)
{
	bool taken;

	w->last = CLOSED_SESSIONS_MAX;
	w->json = call_take_json(call);
	for (unsigned i = 0; *call_arg(call, i); i += 1 + taken)
		if (!take_word(call, w, call_arg(call, i),
		        call_arg(call, i + 1), &taken))
			return false;
	return true;
}

/* Returns whether a kept session had these names.  Names that were removed from
 * the configuration are found that way. */
static bool
was_there(const struct closed_rings *rings, const struct session_filter *names)
{
	struct closed_walk *walk = closed_walk_new(rings);
	const struct closed_session *c;
	bool found = false;

	while (walk && !found && (c = closed_walk_next(walk)))
		found = has_names(names, c);
	closed_walk_free(walk);
	return found;
}

bool
run_show_closed(struct call *call)
{
	const struct closed_rings *rings =
	    &control_proxy(call->env->control)->closed;
	struct listing *l = calloc(1, sizeof(*l));

	if (!l)
		return err_oom(call->err);
	l->rest = (struct answer_rest){.more = more, .free = free_listing};
	l->walk = closed_walk_new(rings);
	if (!l->walk) {
		err_oom(call->err);
		goto fail;
	}
	if (!take_words(call, &l->wanted) ||
	    (!session_filter_check(call, &l->wanted.names) &&
	        !was_there(rings, &l->wanted.names)))
		goto fail;
	if (rings->keep == 0) {
		err_set(call->err,
		    "No sessions are remembered: closed_sessions is 0.");
		goto fail;
	}
	call->rest = &l->rest;
	return true;
fail:
	free_listing(&l->rest);
	return false;
}
