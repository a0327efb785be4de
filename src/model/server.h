/* SPDX-License-Identifier: MIT
 * A server: an address that sessions are sent to, its health and its settings.
 *
 * struct server belongs to one model and follows its configuration; each reload
 * makes another one (model.h).  struct server_state stays as long as the server
 * does.  Both are created and freed on the control thread.  Data threads read
 * the atomic words and add to the counters; the fields under "control thread
 * only" are not atomic.
 *
 * Functions that change a server mark it (server_change.h); the change takes
 * effect for new sessions with model_update (model.h).  All functions run on
 * the control thread unless they say otherwise.
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
#include "model/override.h"
#include "model/passive.h"
#include "model/spec.h"
#include "model/timings.h"
#include "net/sock.h"

struct backend;
struct source_ports;
struct server;
struct tls_resume;

/* The administrative state, apart from health.  In DRAIN and MAINT the server
 * takes no new sessions, but present ones go on; in MAINT it is not checked. */
enum server_admin { SERVER_READY, SERVER_DRAIN, SERVER_MAINT };

struct server_settings {
	struct override weight;
	struct override maxconn; /* 0: no limit */
	struct override admin;   /* enum server_admin */
};

/* An operator's address and port for a check or agent. */
struct place_override {
	struct override has_addr, port;
	struct addr addr;
};

#define SERVER_PLACES 4

/* The operator's settings that override the file's (server_operator.h). */
struct server_overrides {
	struct server_settings set; /* in force again once no agent is asked */
	struct override addr;       /* server_state.addr is the operator's */
	/* The last addresses that the operator has set, as server_spec_place
	 * has them, the latest first.  A file that gets one of them means this
	 * server. */
	uint64_t places[SERVER_PLACES];
	bool check_paused, agent_paused;
	struct place_override check, agent;
	struct override has_agent_send;
	struct pattern agent_send;
};

/* Why all sessions of a server end at once. */
enum server_end {
	SERVER_END_NONE,
	SERVER_END_DOWN, /* it went down: on_down */
	SERVER_END_UP,   /* it is a backup, and another came up: on_up */
};

/* The part that a reload keeps, as long as there is a server of the same name
 * and address in the backend. */
struct server_state {
	/* Shared, written by the control thread, read by all, relaxed.  up: the
	 * lineup, not this word, decides where sessions go.  expired: the
	 * server was removed so long ago that its sessions have to end. */
	bool up;
	bool expired;
	/* [P22] The address in place of the spec's: the operator's, or the one
	 * that the server's name was resolved to; NULL: none. */
	struct addr *addr;
	struct counters *counters;
	uint64_t connect_time; /* see server_note_connect; relaxed */
	/* Sessions that chose the server from a lineup with a lower number
	 * than this have to end.  The lowest SERVER_END_BITS bits are the
	 * reason (enum server_end).  0: no session has to.  Written by the
	 * control thread, relaxed. */
	uint64_t ended;
	struct gauge sessions CACHE_LINE_ALIGNED; /* [P16] with the lineup */
	/* Sessions that the gauge counts although another process has them now:
	 * see backend_pass.  Any thread, relaxed. */
	uint32_t passed;
	uint64_t turn; /* leastconn: the next one; relaxed */
	struct timing_average average[TIMINGS_AVERAGED]; /* same line */
	struct passive passive CACHE_LINE_ALIGNED;
	struct bandwidth bandwidth;

	/* Control thread only. */
	unsigned refs CACHE_LINE_ALIGNED;
	unsigned id;
	/* The last walk over the servers of a model that found this one: see
	 * removed.c. */
	uint64_t walk;
	bool deleted; /* by the operator: its state is not used again */
	struct tls_resume *resume; /* NULL: it has never had TLS */
	struct addr resolved; /* from its name, with port; AF_UNSPEC: none */
	/* The last answer for the server's name is so old that its address is
	 * not used any more.  An address that the operator has set still is. */
	bool lapsed;
	bool moved; /* it got another address since the last lineup */
	/* The former process had a server of this name at another address:
	 * nothing that it had holds (commands/carry_over.c). */
	bool another;
	/* The server's credit in roundrobin as of the last lineup that had the
	 * server.  See model/cycle.h. */
	int64_t credit;
	struct check_result last; /* check */
	unsigned streak;          /* of checks against the present state */
	struct check_result agent_last;
	/* The checker's: where it may have the server's check and agent. */
	uint32_t check_at[2];
	struct server_settings set; /* latest values, from agent or operator */
	bool agent_down;            /* whatever the check says */
	bool agent_heard; /* an agent may have changed set or agent_down */
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
	uint64_t fade_from_ms, fade_ms; /* see server_fade; 0: it does not */
	unsigned fade_first;            /* the step it begins with */
	/* The next value of ended; not 0: the server is in the list of
	 * model_state.ending. */
	uint64_t ending;
	uint64_t end_stamp;         /* of grace_stamp */
	enum server_end end_untold; /* why its sessions end, to be logged */
	struct server_state *next_ending;
};

#define SERVER_END_BITS 2

static inline uint64_t
server_end_word(uint64_t lineup, enum server_end cause)
{
	return lineup << SERVER_END_BITS | cause;
}

/* Returns why a session that chose the server from the lineup of that number
 * has to end, SERVER_END_NONE if it does not.  Any thread. */
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
	/* A number that no other server ever gets.  Sessions note the number of
	 * each server that they try, and may outlast the server. */
	uint32_t serial;
	uint64_t name_hash; /* of server_spec_hash_name; not 0 */
	/* The rules in force, overrides included.  Control thread only, like
	 * the fields up to changed. */
	struct check_rules check;
	struct agent_rules agent;
	/* The server that this one tracks, or NULL, and the servers that track
	 * this one.  All are of one model. */
	struct server *tracked;
	struct server *trackers, *next_tracker;
	bool changed; /* since the last model_update; the trackers follow */
	bool loops;   /* it leads back to its own backend (loops.h) */
	struct server_state *state;
	struct counters *counters; /* the state's */
	struct gauge *sessions;    /* likewise */
	/* The ports of the source; NULL: the kernel chooses.  After a reload,
	 * ports that were taken from the former server's range may still be in
	 * use: a connect then fails with EADDRNOTAVAIL, and the next port is
	 * tried. */
	struct source_ports *ports;
	enum proxy_version send_proxy; /* what its sessions begin with */
	enum starttls starttls;        /* how its TLS begins */
	struct tls_context *tls;   /* borrowed from the spec; NULL: plain TCP */
	struct tls_resume *resume; /* a reference to the state's; with tls */
	/* Once it has gone from its backend (backend_servers.h).  Control
	 * thread only. */
	struct server *next_gone;
	uint64_t gone_at; /* grace_stamp, once no lineup has it; 0: not yet */
	/* Sessions that have the server, and sessions that were granted it.
	 * While there is one, the server is not freed. */
	uint32_t pins CACHE_LINE_ALIGNED;
};

/* Pins the server.  Runs on data threads, inside the grace section in which the
 * server was found, and on the control thread. */
static inline void
server_pin(struct server *server)
{
	atomic_add_relaxed(&server->pins, 1u);
}

/* Gives a pin back.  Runs on data threads, in a grace section, and on the
 * control thread.  The server may be read until that section ends. */
static inline void
server_unpin(struct server *server)
{
	(void)atomic_sub_acq_rel(&server->pins, 1u); /* [P15] */
}

/* Makes a server of the backend.  state: the one to keep, to which a reference
 * is added; NULL: the server gets a new state with that id.  A new state is up
 * unless its check begins with it down; a server that was added at run time
 * starts in maintenance with its check and its agent paused.  Returns NULL when
 * memory is short. */
struct server *server_new(const struct server_spec *spec,
    struct backend *backend, struct server_state *state, unsigned id);

/* NULL is allowed. */
void server_free(struct server *server);

/* Adds a reference.  Returns state. */
struct server_state *server_state_ref(struct server_state *state);

/* Drops a reference; the last one frees the state. */
void server_state_unref(struct server_state *state);

/* Adapts the server's state to its configuration, which is in force now: a
 * server that is not checked any more is up, or follows the one that it tracks,
 * and an agent that is not asked any more has no effect. */
void server_settle(struct server *server);

/* Returns the source of connections to the server: its own or its backend's.
 * Any thread, in a grace section. */
const struct source_spec *server_source(const struct server *server);

/* Returns how a check connects to addr: from the address of the server's source
 * if that is of the same family, but from any port, and not from a client's
 * address. */
struct sock_way server_way_to(
    const struct server *server, const struct addr *addr);

/* Records the result of a check.  After `fall` failures in a row of a server
 * that is up, or `rise` passes of one that is down, changes its state, reports
 * why and marks the server.  Returns true if the state changed. */
bool server_report_check(
    struct server *server, const struct check_result *result);

/* Returns whether the checks and the agent, as far as there are any, find the
 * server healthy. */
bool server_is_up(const struct server *server);

/* Returns the present weight. */
unsigned server_weight(const struct server *server);

/* Returns whether the server is to have new sessions: it is ready, with a
 * weight. */
bool server_is_wanted(const struct server *server);

/* Returns whether new sessions may be sent to the server: up, wanted, not
 * ejected. */
bool server_is_usable(const struct server *server);

/* Returns whether sources that have chosen the server before may stay there
 * (sticky.h): up, not ejected, not in maintenance.  A drain, a weight of 0 and
 * the state stopping keep new sources away. */
bool server_keeps_sources(const struct server *server);

/* Returns whether the server is ejected (ejection.h) and its configuration
 * still provides for ejection.  A reload makes the lineup before it settles the
 * servers. */
bool server_is_ejected(const struct server *server);

/* Returns the address of the server.  Any thread, in a grace section; on the
 * control thread the pointer is valid until the next change of the address. */
static inline const struct addr *
server_addr(const struct server *server)
{
	const struct addr *addr =
	    atomic_load_acquire(&server->state->addr); /* [P22] */

	return addr ? addr : &server->spec->addr;
}

/* Returns whether the server has no port of its own at present: each session
 * gets the port that its client has connected to, plus port_offset.  Any
 * thread, in a grace section. */
static inline bool
server_maps_port(const struct server *server)
{
	const struct addr *addr = server_addr(server);

	return addr->sa.sa_family != AF_UNIX && addr_port(addr) == 0 &&
	       server_spec_maps_port(server->spec);
}

/* Returns the port of the server for a session whose client has connected to
 * client_port, or 0 if the result is no valid port.  Only for a server that
 * maps ports. */
unsigned server_mapped_port(const struct server *server, unsigned client_port);

/* Returns whether the server is given by a name that has not been resolved yet,
 * or whose last answer is too old.  Such a server is in maintenance, whatever
 * else is set. */
static inline bool
server_is_unresolved(const struct server *server)
{
	const struct server_state *s = server->state;

	return server->spec->host &&
	       (server_addr(server)->sa.sa_family == AF_UNSPEC ||
	           (s->lapsed && !s->overrides.addr.is_set));
}

/* Returns whether a command has given the server the place that the spec has,
 * as after a save. */
bool server_has_place(
    const struct server *server, const struct server_spec *spec);

/* Returns the address that the server's name was resolved to last; AF_UNSPEC:
 * none. */
static inline const struct addr *
server_resolved(const struct server *server)
{
	return &server->state->resolved;
}

/* Notes that the server's name is resolved to addr, whose port is ignored.  New
 * sessions and checks go there, unless the operator has set another address;
 * then addr holds once that is taken back.  Returns true if the server's
 * address has changed, or if the server was unresolved until now: the caller
 * then marks the server.  Returns false also when memory is short. */
bool server_resolve(struct server *server, const struct addr *addr);

/* Notes that the address of the server's name is too old: the server goes into
 * maintenance, unless the operator has set its address.  Sessions at the
 * address go on.  Returns true if the server goes into maintenance; the caller
 * then marks it. */
bool server_lapse(struct server *server);

/* Like server_resolve, for a server that has no sessions yet: at the start, or
 * in a PREPARED model.  The server does not count as coming up, so it has no
 * slow start. */
bool server_resolve_first(struct server *server, const struct addr *addr);

/* Returns the address as text, or the name while it is not resolved.  port: 0,
 * or the port of a session with a server that maps ports; with 0 the text of
 * such an address is that of the file, as `10.0.0.1` or `10.0.0.1:+1000`.  Any
 * thread, in a grace section. */
const char *server_address_at(
    const struct server *server, unsigned port, char out[ADDR_TEXT_SIZE]);

/* Returns server_address_at without the port of a session. */
static inline const char *
server_address(const struct server *server, char out[ADDR_TEXT_SIZE])
{
	return server_address_at(server, 0, out);
}

#define RAMP_STEPS 50

/* Returns the step of the server's slow start, from 1 to RAMP_STEPS, which is
 * the end.  Before the end *ret_next_ms is when the next step is due. */
unsigned server_ramp_step(
    const struct server *server, uint64_t now_ms, uint64_t *ret_next_ms);

/* Returns that step in percent; 100: no slow start. */
unsigned server_throttle(const struct server *server);

/* Returns the weight after the reduction by a slow start and by a fade. */
unsigned server_effective_weight(const struct server *server);

/* A fade is a slow start in reverse, which lowers a server's share in steps.
 * The weight itself does not change; the lineup takes a part of it, less with
 * each step.  The last step is a fiftieth, not 0: only the state drain keeps
 * new sessions away. */

/* The least time from one step to the next, as each step is a new lineup. */
#define FADE_PAUSE_MS 1000

/* Starts a fade that lasts over_ms, from the part of the weight that the server
 * has now.  When the time is over the server stays at the last step until
 * server_end_fade. */
void server_fade(struct server *server, uint64_t over_ms);

/* Ends the fade: the next lineup takes the whole weight again. */
void server_end_fade(struct server *server);

/* Returns how many RAMP_STEPS-ths of the weight the fade leaves, from
 * RAMP_STEPS to 1.  *ret_next_ms is when the next step is due, untouched if
 * there is none. */
unsigned server_fade_step(
    const struct server *server, uint64_t now_ms, uint64_t *ret_next_ms);

/* Returns the step of a fade that began at step from, lasts over_ms, and began
 * past_ms ago. */
unsigned fade_step_at(unsigned from, uint64_t past_ms, uint64_t over_ms);

/* Returns how long after the start of that fade, in ms, the step after `step`
 * begins; step > 1. */
uint64_t fade_next_ms(unsigned from, unsigned step, uint64_t over_ms);

/* Starts the server's slow start again, if it has one and is up.  Called before
 * a lineup is made. */
void server_ramp_anew(struct server *server, uint64_t now_ms);

/* Starts the slow start of a server that has come up since the last lineup, and
 * ends the sessions of backups as on_up says.  Ends the sessions of a server
 * that has gone down as on_down says.  Called after a lineup was published. */
void server_note_life(struct server *server, uint64_t now_ms);

/* Logs, once, that sessions end because server_note_life or
 * backend_note_primaries ended them. */
void server_report_ended(const struct server *server);

/* Ends the sessions of backups if on_up of a usable server that is no backup
 * says so.  Called after a lineup was published in which such servers serve
 * again. */
void backend_note_primaries(const struct backend *backend);

/* Makes the server track another one, which itself tracks none. */
void server_track(struct server *server, struct server *tracked);

/* Ends that, if the server tracks one. */
void server_untrack(struct server *server);

/* Gives the server the health of the server that it tracks, which has changed,
 * and marks it. */
void server_follow_tracked(struct server *server);

/* Recomputes the rules of the server's check and agent from its spec and from
 * what the operator has said of them. */
void server_set_rules(struct server *server);

/* Returns the frontend at the server's present address that leads back to the
 * server's own backend, or NULL (loops.h). */
const struct frontend_spec *server_loop(const struct server *server);

/* Notes whether the server leads back to its backend now.  If that is new,
 * marks the server and logs a warning. */
void server_find_loop(struct server *server);

/* Logs a warning if the server leads back to its own backend (loops.h). */
void server_warn_of_loop(const struct server *server);

/* Returns the limit on sessions at a time, 0 for none. */
unsigned server_maxconn(const struct server *server);

/* Returns the administrative state in force: the server's own or, if that is
 * stricter, the one of the server that it tracks.  MAINT while the server is
 * unresolved. */
enum server_admin server_admin_of(const struct server *server);
/* Returns its own administrative state: the latest setting of the operator or
 * the agent, if the file has not changed since, else the file's. */
enum server_admin server_own_admin(const struct server *server);
/* Returns its own administrative state without the agent's setting. */
enum server_admin server_ordered_admin(const struct server *server);
/* Returns the administrative state that the file gives it. */
enum server_admin server_file_admin(const struct server *server);

/* Returns "ready", "drain" or "maint". */
const char *server_admin_name(enum server_admin admin);

/* The next four functions apply the settings of an agent; for the operator's
 * see server_operator.h.  The settings hold across reloads, weight and maxconn
 * until the file has another value.  Each function reports a change, with `by`
 * or `why` as the reason, and marks the server. */

/* Sets the weight. */
void server_set_weight(struct server *server, unsigned weight, const char *by);

/* Sets the limit on sessions at a time. */
void server_set_maxconn(
    struct server *server, unsigned maxconn, const char *by);

/* Sets the administrative state. */
void server_set_admin(
    struct server *server, enum server_admin admin, const char *by);

/* Sets whether the agent considers the server up. */
void server_set_agent(struct server *server, bool up, const char *why);

/* Takes back the settings of an agent that is not asked any more; the overrides
 * hold again.  Called before a lineup is made. */
void server_forget_agent(struct server *server);

#define CONNECT_TIME_MEMORY_MS 10000

/* Adds a connect time, or the time after which a connect was given up, to a
 * moving average.  The average follows a longer time at once, and a shorter one
 * with a time constant of CONNECT_TIME_MEMORY_MS.  Runs on data threads. */
void server_note_connect(
    struct server_state *server, uint32_t took_us, uint64_t now_ms);

/* Returns the average connect time in microseconds, 0 before the first connect.
 * Without new values it decays, so that a server that was slow is tried again.
 * Any thread. */
uint32_t server_connect_us(const struct server_state *server, uint64_t now_ms);

/* Returns how long the server has been in its present state, in seconds. */
uint64_t server_since_change_s(const struct server *server);

/* Returns how long the server was down in total, in seconds. */
uint64_t server_downtime_s(const struct server *server);

#endif
