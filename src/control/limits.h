/* SPDX-License-Identifier: MIT
 * The limits that the system sets for this process, and the user it runs as.
 */
#ifndef CONTROL_LIMITS_H
#define CONTROL_LIMITS_H

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
	size_t open;        /* at the start, before anything of the spec */
	size_t own;         /* open already, listeners, checks, handle sets */
	/* For admin clients, logs that are opened again, a reload, libraries:
	 * accepting stops before these are touched. */
	size_t reserve;
	uint32_t sessions; /* at a time */
	bool by_maxconn;   /* sessions is what maxconn said at the start */
	bool strict;       /* there are two descriptors for each of them */
};

/* Counts the open descriptors, at a microsecond for each. */
size_t limits_count_open(void);

/* Raises the soft limit of open descriptors to the hard one, and both if a
 * maxconn asks for more and the process may; then divides them.  former: so
 * many sessions of another process are to have room as well, whatever maxconn
 * is.  Nothing of the spec may be open yet.  Returns false with err set if they
 * do not suffice. */
bool limits_budget(const struct spec *spec, uint32_t former,
    struct budget *ret_budget, struct err *err) MUST_CHECK;

/* Checks that the descriptors suffice for the same number of sessions with
 * another spec, without regard to its maxconn.  Returns false with err set if
 * not; what names the difference of the spec, in the plural. */
bool limits_suffice(const struct budget *budget, const struct spec *spec,
    const char *what, struct err *err) MUST_CHECK;

/* Returns the number of pipes for splicing, of two descriptors each.  Takes the
 * descriptors from the sessions if these are many, else from the reserve. */
uint32_t limits_pipes(const struct spec *spec, struct budget *budget);

/* Becomes the user and group of the spec, irrevocably, if it names any; gives
 * up every capability that is not needed (capabilities.h), also in the bounding
 * set. The groups are those of the user, or only the group.  Sets no_new_privs.
 * Must be called before threads are started, which inherit all of this. Returns
 * false with err set. */
bool limits_become_user(const struct spec *spec, struct err *err) MUST_CHECK;

#endif
