/* SPDX-License-Identifier: MIT
 * The limits that the system sets for this process, and the user that it runs
 * as.
 */
#ifndef PROCESS_LIMITS_H
#define PROCESS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec.h"

/* The least number of descriptors that suffices for one session. */
#define LIMITS_DESCRIPTORS_MIN 32
/* The descriptors of a session: the client's and the server's. */
#define LIMITS_PER_SESSION 2

/* The use of descriptors. */
struct budget {
	size_t descriptors; /* RLIMIT_NOFILE */
	size_t open;        /* at the start, before the spec opens any */
	size_t own;         /* for listeners, checks, shards; and open */
	/* For admin clients, logs that are opened again, reloads and libraries.
	 * Accepting stops before these are used. */
	size_t reserve;
	uint32_t sessions; /* at the same time */
	bool by_maxconn;   /* sessions is the maxconn of the start */
	bool strict;       /* there are descriptors for all sessions */
};

/* Returns the number of open descriptors.  Takes some 1 us for each of them. */
size_t limits_count_open(void);

/* Raises the soft limit of open descriptors to the hard one, and both if
 * maxconn asks for more and the process may; then divides the descriptors.
 * former: the sessions of another process that are to have room as well,
 * whatever maxconn is.  Nothing of the spec may be open yet.  Returns false
 * with err set if the descriptors do not suffice. */
bool limits_budget(const struct spec *spec, uint32_t former,
    struct budget *ret_budget, struct err *err) MUST_CHECK;

/* Checks that the descriptors suffice for the same number of sessions with
 * another spec, whose maxconn does not count.  Returns false with err set if
 * not.  what: names in the error what differs in the spec, in the plural. */
bool limits_suffice(const struct budget *budget, const struct spec *spec,
    const char *what, struct err *err) MUST_CHECK;

/* Returns the number of pipes for splicing, of two descriptors each.  Takes
 * these descriptors from the sessions if there are many and no maxconn is set,
 * else from the reserve. */
uint32_t limits_pipes(const struct spec *spec, struct budget *budget);

/* Becomes the user and group of the spec, irrevocably, if it names any.  Gives
 * up every capability that is not needed (capabilities.h), also in the bounding
 * set.  The supplementary groups become those of the user; with a group alone,
 * there are none.  Sets no_new_privs.  Called before any thread starts: threads
 * inherit all of this.  Returns false with err set. */
bool limits_become_user(const struct spec *spec, struct err *err) MUST_CHECK;

#endif
