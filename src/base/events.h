/* SPDX-License-Identifier: MIT
 * Events: changes of servers, backends, pools and the process.  Events are
 * logged and kept, so that an operator can still list them later.
 *
 * The last EVENTS_MAX events are kept as long as the process lives, over
 * reloads as well, and go along to the next process (handover/events_later.h).
 * Every event has a number, from 1 on: a client that has seen number n asks for
 * the events after it, and a gap shows how many it has missed.
 *
 * The text of an event is allocated by malloc.  When memory is short, the event
 * is logged, and kept without its text.
 *
 * All functions run on the control thread.  Data threads only count, and the
 * control thread makes events of the counts.
 */
#ifndef BASE_EVENTS_H
#define BASE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

#define EVENTS_MAX       1000
#define EVENT_TEXT_SIZE  440 /* at most, with the NUL; the rest is cut */
#define EVENT_ABOUT_SIZE 96

/* X(identifier, name): programs look for the name, so it never changes. */
#define EVENTS_TABLE(X)                                                        \
	X(EVENT_START, "start")                                                \
	X(EVENT_STOP, "stop")                                                  \
	X(EVENT_RELOAD, "reload")                                              \
	X(EVENT_RELOAD_FAILED, "reload_failed")                                \
	X(EVENT_CHANGE, "change")                                              \
	X(EVENT_UPGRADE, "upgrade")                                            \
	X(EVENT_UPGRADE_FAILED, "upgrade_failed")                              \
	X(EVENT_POOL, "pool")                                                  \
	X(EVENT_STUCK, "stuck")                                                \
	X(EVENT_SERVER_UP, "server_up")                                        \
	X(EVENT_SERVER_DOWN, "server_down")                                    \
	X(EVENT_SERVER_ERRORS, "server_errors")                                \
	X(EVENT_SERVER_EJECTED, "server_ejected")                              \
	X(EVENT_SERVER_BACK, "server_back")                                    \
	X(EVENT_SERVER_READY, "server_ready")                                  \
	X(EVENT_SERVER_DRAIN, "server_drain")                                  \
	X(EVENT_SERVER_MAINT, "server_maint")                                  \
	X(EVENT_SERVER_WEIGHT, "server_weight")                                \
	X(EVENT_SERVER_ADDED, "server_added")                                  \
	X(EVENT_SERVER_REMOVED, "server_removed")                              \
	X(EVENT_SERVER_UNRESOLVED, "server_unresolved")                        \
	X(EVENT_SERVER_RESOLVED, "server_resolved")                            \
	X(EVENT_SERVER_DRAINED, "server_drained")                              \
	X(EVENT_DRAIN, "drain")                                                \
	X(EVENT_REBALANCE, "rebalance")                                        \
	X(EVENT_CERTIFICATE, "certificate")                                    \
	X(EVENT_CERTIFICATE_REFUSED, "certificate_refused")                    \
	X(EVENT_CERTIFICATE_EXPIRES, "certificate_expires")                    \
	X(EVENT_LIST, "list")                                                  \
	X(EVENT_LIST_REFUSED, "list_refused")                                  \
	X(EVENT_SET, "set")                                                    \
	X(EVENT_SET_MEMBER, "set_member")                                      \
	X(EVENT_SET_FAILED, "set_failed")                                      \
	X(EVENT_EXPIRED, "expired")                                            \
	X(EVENT_BACKEND_DOWN, "backend_down")                                  \
	X(EVENT_BACKEND_UP, "backend_up")                                      \
	X(EVENT_BACKEND_PANIC, "backend_panic")                                \
	X(EVENT_BACKEND_CALM, "backend_calm")                                  \
	X(EVENT_FALLBACK, "fallback")                                          \
	X(EVENT_QUEUE_FULL, "queue_full")                                      \
	X(EVENT_RETRY_BUDGET, "retry_budget")

enum event_kind {
#define X(id, name) id,
	EVENTS_TABLE(X)
#undef X
	    EVENT_KINDS
};

struct event {
	uint64_t number;
	uint64_t wall_us; /* since 1970 */
	enum event_kind kind;
	enum log_level level;
	const char *about; /* `app`, `app/a`, `main`; or empty */
	const char *text;  /* as logged: the cause in words */
};

/* Logs the text at that level and keeps it.  about becomes PROXY/PART; PROXY if
 * part is NULL; "" if both are NULL. */
void event_add(enum event_kind kind, enum log_level level, const char *proxy,
    const char *part, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Keeps the text without logging it, because another log line says the same. */
void event_add_unlogged(enum event_kind kind, enum log_level level,
    const char *proxy, const char *part, const char *text);

/* Keeps an event of a former process, unlogged.  An event with a number keeps
 * it and precedes the events of this process (numbered.h), or is dropped if an
 * event with that number is there or there is no room for it.  An event without
 * one, number 0, gets the next number. */
void event_restore(const struct event *event);

/* With true: makes the next event_add do nothing.  The caller is about to make
 * a change, and adds an event of its own for it.  With false: ends this, in
 * case the change has added no event. */
void events_skip_next(bool skip);

/* Returns the number of events kept. */
size_t events_count(void);
/* Returns the i-th event kept, the oldest first; i < events_count(). The event
 * is valid until the next event_add. */
const struct event *events_at(size_t i);

/* Returns the number of the last event, or 0 if there is none so far. */
uint64_t events_last(void);

/* Frees all events, at the end of the process. */
void events_forget(void);

/* Returns "server_up" and so on. */
const char *event_name(enum event_kind kind);

/* Finds a kind by its name.  Returns false if there is none. */
bool event_find(const char *name, enum event_kind *ret_kind) MUST_CHECK;

#endif
