/* SPDX-License-Identifier: MIT
 * The capabilities that lfproxy keeps while it serves: see capabilities(7).
 */
#ifndef PROCESS_CAPABILITIES_H
#define PROCESS_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec.h"

enum capability_holder {
	/* A process that root has started and that becomes another user.  It
	 * keeps what the options of its spec need and nothing else. */
	HOLDER_LEAVES_ROOT,
	/* A process that stays root.  A reload may bring other options and
	 * files, so the process also keeps what these need, except
	 * CAP_NET_ADMIN, which it keeps only if the present spec needs it. */
	HOLDER_ROOT,
	/* A process whose capabilities the service manager, or the file of the
	 * program, has chosen. */
	HOLDER_OTHER,
};

/* Returns the capabilities that the spec needs, as a mask with a bit for
 * each. */
uint64_t capabilities_needed(
    const struct spec *spec, enum capability_holder holder);

/* Removes all but the kept capabilities from the bounding set.  Without
 * CAP_SETPCAP, as in some containers, the set does not change.  Called before
 * setuid(2).  Returns false with err set. */
bool capabilities_bound(uint64_t kept, struct err *err) MUST_CHECK;

/* Keeps those of the capabilities that the process is permitted, and gives up
 * all others.  The kept ones are ambient, so that the program of an upgrade has
 * them; a kernel that refuses this is warned of.  Applies to the calling thread
 * and the threads that it starts.  Returns false with err set. */
bool capabilities_keep(uint64_t kept, struct err *err) MUST_CHECK;

/* Returns what was kept, such as `cap_net_raw,cap_net_admin`, or `none`. */
const char *capabilities_text(void);

#endif
