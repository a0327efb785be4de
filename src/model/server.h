/* SPDX-License-Identifier: MIT
 * A server: one address that sessions can be sent to, and what is known of it.
 *
 * Two structs: what the configuration says of it, which every reload makes anew
 * (model.h), and its state, which a server that stays keeps.  Both are created
 * and freed on the control thread.  Data threads read the atomic words and add
 * to the counters; everything under "control thread only" is plain.
 */
#ifndef MODEL_SERVER_H
#define MODEL_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/events.h"
#include "base/trend.h"
#include "model/check_result.h"
#include "model/check_rules.h"
#include "model/counters.h"
#include "model/passive.h"
#include "model/spec.h"
#include "model/timings.h"
#include "net/sock.h"

struct backend;
struct source_ports;
struct server;

/* What people decide, apart from health: DRAIN and MAINT take no new sessions,
 * those that are there go on; in MAINT it is not checked either. */
enum server_admin { SERVER_READY, SERVER_DRAIN, SERVER_MAINT };

/* The operator's settings that override the file's (server_operator.h).  Each
 * holds until the file has another value for the same setting than it had when
 * the operator set it, and holds again once an agent that set it is gone. */
struct server_overrides {
	enum server_admin admin;
	bool admin_base; /* with admin: the file said `disabled` then */
	bool addr_set;   /* server_state.addr is the operator's */
	bool weight_set, maxconn_set;
	unsigned weight, weight_base;   /* _base: the file's value then */
	unsigned maxconn, maxconn_base; /* 0: no limit */
	bool check_paused, agent_paused;
	/* The address of its check and agent; AF_UNSPEC and 0: not set. */
	struct addr check_addr, agent_addr;
	unsigned check_port, agent_port;
	bool agent_send_set;
	struct pattern agent_send;
};

/* Why all sessions of a server end at once. */
enum server_end {
	SERVER_END_NONE,
	SERVER_END_DOWN, /* it went down: on_down */
	SERVER_END_UP,   /* it is a backup, and another came up: on_up */
};

/* What stays while the server does: by its name and address. */
struct server_state {
	/* Shared, written by the control thread, read by all, relaxed.  up: the
	 * lineup, not this word, decides where sessions go.  expired: it was
	 * removed, and so long ago that its sessions have to end. */
	bool up;
	bool expired;
	/* [P22] Instead of the spec's: the operator's, or what the server's
	 * name was resolved to; NULL: none. */
	struct addr *addr;
	struct counters *counters;
	uint64_t connect_time; /* see server_note_connect; relaxed */
	/* Sessions that have chosen the server from a lineup with a lower
	 * number than this have to end.  The lowest SERVER_END_BITS bits are
	 * why (enum server_end).  0: none has to.  Written by the control
	 * thread, relaxed. */
	uint64_t ended;
	struct gauge sessions CACHE_LINE_ALIGNED; /* [P16] with the lineup */
	uint64_t chosen; /* leastconn: when last, in choices; relaxed */
	struct timing_average average[TIMINGS_AVERAGED]; /* same line */
	struct passive passive CACHE_LINE_ALIGNED;

	/* Control thread only. */
	unsigned refs CACHE_LINE_ALIGNED;
	unsigned id;
	bool deleted; /* by the operator: one of its name is another server */
	struct addr resolved; /* of its name, with the port; AF_UNSPEC: none */
	bool moved;           /* it got another address since the last lineup */
	/* What roundrobin owes it, as of the last lineup that had it, in turns
	 * of new sessions and of retries: see model/cycle.h. */
	int64_t credits[2];
	struct check_result last; /* check */
	unsigned streak;          /* of checks against the present state */
	struct check_result agent_last;
	/* The last word, the agent's or the operator's: holds as long as the
	 * file says admin_base.  See server_own_admin. */
	enum server_admin admin;
	bool admin_base;  /* the file said `disabled` */
	bool agent_down;  /* whatever the check says */
	bool agent_heard; /* weight, admin or agent_down may be the agent's */
	bool weight_set; /* weight holds as long as the file says weight_base */
	unsigned weight, weight_base;
	bool maxconn_set; /* likewise */
	unsigned maxconn, maxconn_base;
	struct server_overrides overrides;
	bool stopping;    /* up, but not to be chosen: until a check passes */
	bool forced_down; /* by the operator, and nothing checks it */
	uint64_t checks_failed; /* while up */
	uint64_t times_down;
	uint64_t changed_ms; /* clock_now_ms of the last up or down */
	uint64_t down_ms;    /* total time down before changed_ms */
	struct rate rate;
	struct trend trend;    /* of its sessions */
	bool alive;            /* at the last lineup: up, and not in MAINT */
	uint64_t ramp_from_ms; /* when it last came up; 0: before the start */
	uint64_t fade_from_ms, fade_ms; /* see server_fade.h; 0: it does not */
	unsigned fade_first;            /* the step it begins with */
	/* What ended will be; not 0: it is in the list of model_state.ending.
	 */
	uint64_t ending;
	uint64_t end_stamp;         /* of grace_stamp */
	enum server_end end_untold; /* to be logged: its sessions end */
	struct server_state *next_ending;
};

#define SERVER_END_BITS 2

static inline uint64_t
server_end_word(uint64_t lineup, enum server_end cause)
{
	return lineup << SERVER_END_BITS | cause;
}

/* Any thread: why a session that has chosen the server from the lineup of that
 * number has to end; SERVER_END_NONE: it does not. */
static inline enum server_end
server_end_of(const struct server_state *state, uint64_t lineup)
{
	uint64_t word = atomic_load_relaxed(&state->ended);

	return lineup < word >> SERVER_END_BITS
	           ? (enum server_end)(word & ((1u << SERVER_END_BITS) - 1))
	           : SERVER_END_NONE;
}

struct server {
	const struct server_spec *spec; /* borrowed from the model's spec */
	struct backend *backend;
	unsigned id; /* from 1 within the backend, as in HAProxy's sid */
	/* With what the operator has said of them; control thread only, as is
	 * what follows. */
	struct check_rules check;
	struct agent_rules agent;
	/* The one whose health is this one's, too, or NULL; those whose health
	 * this one's is.  All of one model. */
	struct server *tracked;
	struct server *trackers, *next_tracker;
	bool changed; /* since the last model_update; the trackers follow */
	struct server_state *state;
	struct counters *counters; /* the state's */
	struct gauge *sessions;    /* likewise */
	/* Of the source, NULL: the kernel chooses.  After a reload ports of the
	 * former may still be out; those are passed over (EADDRNOTAVAIL). */
	struct source_ports *ports;
	enum proxy_version send_proxy; /* what its sessions begin with */
};

/* NULL when memory is short.  Without a state (NULL) it gets a new one with
 * that id, which is up, or, if it was added while lfproxy runs, in maintenance,
 * with its check and its agent paused. */
struct server *server_new(const struct server_spec *spec,
    struct backend *backend, struct server_state *state, unsigned id);
void server_free(struct server *server);

/* Control thread: the last one to let go frees it. */
struct server_state *server_state_ref(struct server_state *state);
void server_state_unref(struct server_state *state);

/* Control thread, when the server's configuration is in force: one that is no
 * longer checked is up. */
void server_settle(struct server *server);

/* Where connections to it come from: its own source or its backend's. */
const struct source_spec *server_source(const struct server *server);

/* The way to the address at which a server is checked: from the address of the
 * server's source if that is of the same family, but from any port, and not as
 * a client. */
struct sock_way server_way_to(
    const struct server *server, const struct addr *addr);

/* Control thread: records a check's result and, once `fall` results in a row
 * speak against an up server or `rise` against a down one, changes its state,
 * logs why and marks the server.  True when the state changed. */
bool server_report_check(
    struct server *server, const struct check_result *result);

/* Control thread: whether checks and agent, as far as there are any, find it
 * well; its present weight; whether operators want it to have new sessions; and
 * whether they may go there: it is up, and wanted. */
bool server_is_up(const struct server *server);
unsigned server_weight(const struct server *server);
bool server_is_wanted(const struct server *server);
bool server_is_usable(const struct server *server);

/* Whether the server is ejected (ejection.h) and its configuration still
 * provides for ejection.  A reload makes the lineup before it settles the
 * servers.  Runs on the control thread. */
bool server_is_ejected(const struct server *server);

/* Where it is: any thread, in a grace section, and the control thread, which
 * may keep it until it changes it. */
static inline const struct addr *
server_addr(const struct server *server)
{
	const struct addr *addr =
	    atomic_load_acquire(&server->state->addr); /* [P22] */

	return addr ? addr : &server->spec->addr;
}

/* Control thread: whether the server is given by a name that has not been
 * resolved so far.  Such a server is in maintenance, whatever else is said of
 * it. */
static inline bool
server_lacks_address(const struct server *server)
{
	return server->spec->host &&
	       server_addr(server)->sa.sa_family == AF_UNSPEC;
}

/* Control thread: addr is what the server's name stands for; its port does not
 * matter.  New sessions and checks go there unless the operator has given
 * another address, in which case it holds once that is taken back.  True when
 * the server's address has changed: the caller then marks the server
 * (server_mark_changed).  False also when memory is short. */
bool server_resolve(struct server *server, const struct addr *addr);

/* Control thread: the same before the server has sessions: at the start, or in
 * a PREPARED model.  The server does not come up by that, so it has no slow
 * start. */
bool server_resolve_first(struct server *server, const struct addr *addr);

/* The same as text: the address itself, also where the file has a name; that
 * name while it has not been resolved. */
const char *server_address(
    const struct server *server, char out[ADDR_TEXT_SIZE]);

/* Control thread: how far it is in its slow start, from 1 to RAMP_STEPS, which
 * is the end.  Before that, when the next step is due. */
#define RAMP_STEPS 50
unsigned server_ramp_step(
    const struct server *server, uint64_t now_ms, uint64_t *ret_next_ms);

/* Control thread: the same in percent, 100 when it is in no slow start; and
 * what that, and its fading, leave of its weight. */
unsigned server_throttle(const struct server *server);
unsigned server_effective_weight(const struct server *server);

/* Control thread, before a lineup is made: sessions are to come back to it
 * little by little, if it has a slow start and is up. */
void server_ramp_anew(struct server *server, uint64_t now_ms);

/* Control thread, after a lineup was published: if it has come up its slow
 * start begins, and sessions end as on_down and on_up say. */
void server_note_life(struct server *server, uint64_t now_ms);

/* Logs once that sessions end because of what server_note_life has found.  Runs
 * on the control thread. */
void server_report_ended(const struct server *server);

/* Control thread, after a lineup was published with which servers that are no
 * backups serve again: sessions end as on_up of one of them says. */
void backend_note_primaries(const struct backend *backend);

/* Makes the server's health that of another server, which itself tracks none.
 * Runs on the control thread while the model is made. */
void server_track(struct server *server, struct server *tracked);

/* The server that this one tracks has changed.  Runs on the control thread. */
void server_follow_tracked(struct server *server);

/* Recomputes the rules of the server's check and agent from its spec and from
 * what the operator has said of them.  Runs on the control thread. */
void server_set_rules(struct server *server);

/* Control thread: where it is checked, and where its agent is. */
struct addr server_check_addr(const struct server *server);
struct addr server_agent_addr(const struct server *server);

/* Sessions at a time, 0: no limit. */
unsigned server_maxconn(const struct server *server);

/* As it is set, or as that of the server that it tracks is. */
enum server_admin server_admin_of(const struct server *server);
/* The same without that of the server that it tracks: what the operator or the
 * agent has said while the file said what it says now, else the file. */
enum server_admin server_own_admin(const struct server *server);
/* The same without what an agent has said. */
enum server_admin server_ordered_admin(const struct server *server);

/* "ready", "drain" or "maint". */
const char *server_admin_name(enum server_admin admin);

/* Control thread, for an agent; the operator's are in server_operator.h.  These
 * hold at once and across reloads, weight and maxconn until the file has
 * another one.  They log what changed, with `by` or `why` as the reason, and
 * nothing otherwise. */
void server_set_weight(struct server *server, unsigned weight, const char *by);
void server_set_maxconn(
    struct server *server, unsigned maxconn, const char *by);
void server_set_admin(
    struct server *server, enum server_admin admin, const char *by);
void server_set_agent(struct server *server, bool up, const char *why);

/* Control thread, before a lineup is made: undoes what an agent did that is no
 * longer asked; what the operator had said holds again. */
void server_forget_agent(struct server *server);

/* Data threads: a connect to the server took so long, or was given up then.
 * Remembered as a moving average that takes a peak over at once and otherwise
 * follows with a time constant of CONNECT_TIME_MEMORY_MS. */
#define CONNECT_TIME_MEMORY_MS 10000
void server_note_connect(
    struct server_state *server, uint32_t took_us, uint64_t now_ms);

/* That average: 0 as long as nobody has connected.  Without news it decays, so
 * that a server with a bad time behind it is tried again. */
uint32_t server_connect_us(const struct server_state *server, uint64_t now_ms);

/* Seconds in the present state, and in total down. */
uint64_t server_since_change_s(const struct server *server);
uint64_t server_downtime_s(const struct server *server);

#endif
