/* SPDX-License-Identifier: MIT
 * The capabilities that lfproxy keeps while it serves: see capabilities(7).
 */
#ifndef CONTROL_CAPABILITIES_H
#define CONTROL_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec.h"

enum capability_holder {
	/* A process that root has started and that becomes another user: what
	 * the options of its spec need and nothing else. */
	HOLDER_LEAVES_ROOT,
	/* A process that stays root.  A reload may bring any option and any
	 * file, so it keeps what these need, too. */
	HOLDER_ROOT,
	/* A process whose capabilities the service manager, or the file of the
	 * program, has chosen. */
	HOLDER_OTHER,
};

/* Returns the capabilities that the spec needs, a bit for each. */
uint64_t capabilities_needed(
    const struct spec *spec, enum capability_holder holder);

/* Takes the others out of the bounding set, as far as the process may: without
 * CAP_SETPCAP, as in some containers, it stays.  Before setuid(2). */
void capabilities_bound(uint64_t kept);

/* Keeps those of them that the process is permitted, and gives up the others.
 * The kept ones are ambient, so that an upgrade's program has them.  For the
 * calling thread and those that it starts.  Returns false with err set. */
bool capabilities_keep(uint64_t kept, struct err *err) MUST_CHECK;

/* Returns what was kept, as in `cap_net_raw,cap_net_admin`, or `none`. */
const char *capabilities_text(void);

#endif
