/* SPDX-License-Identifier: MIT
 * A state machine, without clock and network, that decides when a name or a set
 * is asked for again, and how long its last good answer is kept.
 *
 *              renewal_begin                      renewal_answer
 *   (due) --------------------> ASKED ---------------------------> KNOWN
 *     ^                           |                                  |
 *     |                           | renewal_fail                     | after
 *     |                           v                                  | its TTL
 *     +------ after a pause ---- FAILED <-- a failure of KNOWN ------+
 *
 * TTLs are raised to ttl_min_ms and lowered to ttl_max_ms, and then shortened
 * by up to a tenth, so that the renewals of many names do not stay in step.
 * The pause after a failure is RENEWAL_PAUSE_MIN_MS at first and doubles with
 * each failure, up to RENEWAL_PAUSE_MAX_MS; each pause is up to a fifth longer
 * or shorter.
 *
 * A good answer is kept for hold_ms after the first failure.  Then it has
 * lapsed (renewal_lapsed).
 */
#ifndef RESOLVE_RENEWAL_H
#define RESOLVE_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

#include "resolve/dns_answer.h"

#define RENEWAL_PAUSE_MIN_MS 1000
#define RENEWAL_PAUSE_MAX_MS 30000

/* hold_ms: forever. */
#define RENEWAL_FOREVER UINT64_MAX

struct renewal_settings {
	uint64_t ttl_min_ms, ttl_max_ms, hold_ms;
};

/* All zeros: never asked for.  Times are those of clock_now_ms; 0: none. */
struct renewal {
	bool asked; /* a question is under way */
	bool known; /* there has been a good answer, which has not lapsed */
	bool ever;  /* there has been a good answer */
	enum dns_error error; /* of the last answer; DNS_OK also before it */
	uint64_t ask_at_ms;   /* when it is asked for again; 0: it is not */
	uint64_t pause_ms;
	uint64_t good_at_ms; /* the last good answer */
	uint64_t ttl_ms;     /* that of this answer, within the limits */
	uint64_t failing_ms; /* the first failure after it */
	uint64_t answers, failures;
};

/* Notes that a question is under way now. */
void renewal_begin(struct renewal *renewal);

/* Notes that the question has a good answer with that TTL.  again: the name is
 * asked for again after the TTL. */
void renewal_answer(struct renewal *renewal,
    const struct renewal_settings *settings, uint32_t ttl_s, bool again,
    uint64_t now_ms, uint64_t *random);

/* Notes that the question has failed.  The name is asked for again after a
 * pause. */
void renewal_fail(struct renewal *renewal, enum dns_error error,
    uint64_t now_ms, uint64_t *random);

/* Returns whether the renewal is due. */
static inline bool
renewal_is_due(const struct renewal *renewal, uint64_t now_ms)
{
	return !renewal->asked && renewal->ask_at_ms != 0 &&
	       renewal->ask_at_ms <= now_ms;
}

/* Returns true if the last good answer has lapsed since the last call: it is
 * not known any more. */
bool renewal_lapsed(struct renewal *renewal,
    const struct renewal_settings *settings, uint64_t now_ms);

/* Returns when the renewal is due or the answer lapses, whichever is first; 0:
 * neither.  A question that is under way is not due. */
uint64_t renewal_next_ms(
    const struct renewal *renewal, const struct renewal_settings *settings);

#endif
