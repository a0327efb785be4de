/* SPDX-License-Identifier: MIT
 * Top talkers: the clients with the most bytes, sessions and errors of the last
 * minutes, in 2.3 MB (base/heavy.h).
 *
 * A client is an IPv4 address or the /64 of an IPv6 address; all clients of
 * unix sockets are one.  Sessions count when they begin, errors when they end,
 * and bytes while they are relayed: after a second or TALKERS_BYTES, whichever
 * comes first.
 *
 * Clients are spread over TALKERS_SHARDS by a hash.  Each shard has a window
 * for each TALKERS_WINDOW_MS, and each window has a summary for each kind.
 *
 * A lock of a shard is held for some 50 ns, and for some microseconds by
 * talkers_find.
 */
#ifndef PROXY_TALKERS_H
#define PROXY_TALKERS_H

#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

#define TALKERS_SHARDS    64u
#define TALKERS_WINDOW_MS 10000u
#define TALKERS_WINDOWS   31u
#define TALKERS_LAST_MS   ((TALKERS_WINDOWS - 1) * TALKERS_WINDOW_MS)
/* Bytes of a session that are counted at once. */
#define TALKERS_BYTES (1u << 20)

enum talkers_kind { TALK_BYTES, TALK_SESSIONS, TALK_ERRORS, TALKS };

struct talkers {
	struct talk_shard *shards; /* NULL: nothing is counted */
	uint64_t seed, began_ms;   /* clock_now_ms */
};

/* The bounds of a client's sum. */
struct talk_sum {
	uint64_t low, high;
};

struct talker {
	uint64_t key; /* see talker_text */
	struct talk_sum sums[TALKS];
};

/* The clients with the most, in falling order of sums[by].low. */
struct talkers_top {
	size_t n;
	uint64_t span_ms;     /* the time for which the sums are */
	uint64_t others_high; /* the most that any other client may have */
	struct talker all[20];
};

/* Returns 0 or -ENOMEM. */
int talkers_init(struct talkers *talkers) MUST_CHECK;
void talkers_fini(struct talkers *talkers);

/* Adds n to what the client has.  now_ns: clock_now_ns, or a moment ago.  Any
 * thread. */
void talkers_add(struct talkers *talkers, const struct endpoint *client,
    enum talkers_kind what, uint64_t n, uint64_t now_ns);

/* Finds the clients with the most of the last_ms, at most TALKERS_LAST_MS.  The
 * time is rounded up to whole windows.  Any thread. */
void talkers_find(const struct talkers *talkers, enum talkers_kind by,
    uint64_t last_ms, uint64_t now_ms, struct talkers_top *ret_top);

#define TALKER_TEXT_SIZE (INET6_ADDRSTRLEN + 4)

/* Writes `10.0.0.1`, `2001:db8::/64` or `unix`.  Returns out. */
const char *talker_text(uint64_t key, char out[TALKER_TEXT_SIZE]);

#endif
