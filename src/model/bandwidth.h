/* SPDX-License-Identifier: MIT
 * Limits on bandwidth: token buckets of frontends, backends and servers, and
 * the rates of single sessions.
 *
 * A bucket is a virtual schedule, as in rate_limit.h, in one word: the time at
 * which all bytes taken so far will have been paid for.  A direction of a
 * session takes a portion before it reads, and may read the portion once the
 * time that the bucket had before has come.  So portions form a queue without a
 * list: directions that wait are served in the order in which they took their
 * portions.  A direction takes its next portion when it has used the last one,
 * which makes the shares equal.  Bytes that were not read are given back.
 *
 * The buckets are in the state of the frontend, backend or server, so a reload
 * keeps them and changes their rates for present sessions as well.
 */
#ifndef MODEL_BANDWIDTH_H
#define MODEL_BANDWIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "model/spec_list.h"

struct acl_list;
struct endpoint;
struct model;
struct frontend;
struct backend;
struct backend_spec;
struct server;
struct server_spec;

/* Bytes from the client, and bytes to the client.  Each value is that of the
 * side (enum handle_side) from which these bytes are read. */
enum band_direction { BAND_IN, BAND_OUT, BAND_DIRECTIONS };

/* The sessions that share a limit: none (each has its own), all of the frontend
 * or backend, those of each of the backend's servers, or those of each source
 * of the clients of the frontend or backend. */
enum band_scope {
	BAND_SESSION,
	BAND_PROXY,
	BAND_SERVER,
	BAND_SOURCE,
	BAND_SCOPES
};

/* Bytes per second. */
#define BANDWIDTH_MIN UINT64_C(1024)
#define BANDWIDTH_MAX (UINT64_C(100) << 30)
/* bandwidth_in = off of a server whose backend has per=server. */
#define BANDWIDTH_OFF UINT64_MAX

/* The clients that limits are for: those of a list, or all others.  At most one
 * of the two has a name. */
struct band_lists {
	struct list_use only, except;
};

/* `bandwidth =` of a section, 0: no limit. */
struct bandwidth_spec {
	uint64_t rate[BAND_SCOPES][BAND_DIRECTIONS];
	struct band_lists lists[BAND_SCOPES];
	/* The sources of per=client, as in struct limit_spec. */
	unsigned prefix4, prefix6;
	uint64_t size;
};

struct bucket {
	uint64_t rate;    /* 0: no limit; the control thread writes; relaxed */
	uint64_t due_ns;  /* any thread; relaxed */
	uint32_t waiting; /* directions that wait for it; any thread; relaxed */
};

/* The lists of the clients that a limit is for; both NULL: of all clients.  The
 * control thread writes.  [P32] */
struct band_clients {
	struct acl_list *only, *except;
};

struct bandwidth {
	struct bucket shared[BAND_DIRECTIONS] CACHE_LINE_ALIGNED;
	/* The rate of each session, and that of each source, whose buckets are
	 * in model/limit.h; the control thread writes; relaxed. */
	uint64_t session[BAND_DIRECTIONS], source[BAND_DIRECTIONS];
	/* By enum band_scope; of a server, by enum band_direction. */
	struct band_clients clients[BAND_SCOPES];
};

/* A portion is what the rate allows in 10 ms, but at least a segment.  Above
 * 100 MiB/s it is 1 MiB, or what the rate allows in 4 ms if that is more: the
 * control thread wakes the directions that wait every 2 ms, and a wake-up
 * should be worth many bytes. */
#define PORTION_MIN   1460u
#define PORTION_LARGE (1024u * 1024)
/* The least share of a portion when several directions wait. */
#define PORTION_SHARE (64u * 1024)

/* How much unused time a direction may catch up with: one that has waited,
 * since it may have been woken late, and any other. */
#define CATCH_UP_WAITED_NS (UINT64_C(250) * 1000000)
#define CATCH_UP_NS        (UINT64_C(5) * 1000000)

/* Returns how many bytes to take at once at that rate, above 0, while
 * `waiting` others wait for the bucket. */
static inline uint32_t
bandwidth_portion(uint64_t rate, uint32_t waiting)
{
	uint64_t n = rate / 100, share;

	if (n > PORTION_LARGE)
		n = rate / 250 > PORTION_LARGE ? rate / 250 : PORTION_LARGE;
	if (n < PORTION_MIN)
		n = PORTION_MIN;
	share = n / (waiting + UINT64_C(1));
	if (share < PORTION_SHARE)
		share = n < PORTION_SHARE ? n : PORTION_SHARE;
	return (uint32_t)share;
}

/* Returns how long n bytes, at most a portion, take at that rate, above 0. */
static inline uint64_t
bandwidth_cost_ns(uint64_t rate, uint32_t n)
{
	return n * UINT64_C(1000000000) / rate;
}

/* Returns the time from which on the next portion of a bucket that is due at
 * due_ns may be read, if catch_up_ns may be caught up with. */
static inline uint64_t
bandwidth_start_ns(uint64_t due_ns, uint64_t now_ns, uint64_t catch_up_ns)
{
	uint64_t from = now_ns > catch_up_ns ? now_ns - catch_up_ns : 0;

	return due_ns > from ? due_ns : from;
}

/* Takes n bytes.  rate: that of the bucket, above 0.  Returns the time from
 * which on they may be read (clock_now_ns), which may be in the past.  Any
 * thread; never blocks. */
uint64_t bucket_take(struct bucket *bucket, uint64_t rate, uint32_t n,
    uint64_t now_ns, uint64_t catch_up_ns);

/* Gives n bytes back that were taken and not read.  Any thread; never blocks.
 */
void bucket_give(struct bucket *bucket, uint64_t rate, uint32_t n);

/* Sets the bucket's rate; one that changes forgets what was taken.  Returns
 * whether it has changed.  Runs on the control thread. */
bool bucket_set_rate(struct bucket *bucket, uint64_t rate);

/* Applies the limits of the model's spec.  A bucket whose rate changes forgets
 * what was taken.  Returns whether a limit has changed; *ret_limited is whether
 * the model has any limit.  Runs on the control thread, at the start and when
 * the model has become PRESENT. */
bool bandwidth_follow(const struct model *model, bool *ret_limited);

/* Returns whether the limits are for the client.  Any thread, in a grace
 * section or while the session pins its model; the control thread.  Never
 * blocks. */
bool bandwidth_is_for(
    const struct band_clients *clients, const struct endpoint *client);

/* Returns whether there is a limit per=client. */
static inline bool
bandwidth_has_sources(const struct bandwidth_spec *spec)
{
	return spec->rate[BAND_SOURCE][BAND_IN] > 0 ||
	       spec->rate[BAND_SOURCE][BAND_OUT] > 0;
}

/* Returns the limit of each session of the client: the lower one of its
 * frontend's and its backend's; 0: none.  backend NULL: not known so far.  Any
 * thread, in a grace section or while the session pins its model; the control
 * thread. */
uint64_t bandwidth_of_session(const struct frontend *frontend,
    const struct backend *backend, const struct endpoint *client,
    enum band_direction direction);

/* Returns the limit of all sessions of the server, which may be the backend's
 * per=server; 0: none. */
uint64_t bandwidth_of_server(const struct backend_spec *backend,
    const struct server_spec *server, enum band_direction direction);

/* Returns whether the server has such a limit. */
bool bandwidth_limits_server(const struct server *server);

#endif
