/* SPDX-License-Identifier: MIT
 * The tables of limits for another process, which goes on with what each source
 * has used.  They are sent in steps, once all sessions that can leave have
 * left.
 *
 * Each source has a line: TABLE KEY KEY ACCEPTED REFUSED DUE_NS IN OUT DUE_NS,
 * with hexadecimal keys.  For sticky choices IN is the hash of the server's
 * name (struct source_choice).
 *
 * All functions run on the control thread.
 */
#ifndef HANDOVER_SOURCES_SENT_H
#define HANDOVER_SOURCES_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

/* The most sources that are sent, of all tables together. */
#define SOURCES_SENT_MAX 100000
/* About how long a step takes. */
#define SOURCES_STEP_NS (1000 * 1000)

/* Starts zeroed. */
struct sources_sent {
	size_t table; /* its number: frontends' first, then backends' */
	uint64_t at;  /* position in this table */
	size_t n;     /* sources sent so far */
	bool done;
};

/* Sends some of the sources.  Returns 0 when all are sent.  Returns -EAGAIN
 * while there is more to send: the caller calls again; if *ret_full, when the
 * channel can be written. */
int sources_sent_step(struct sources_sent *sent, const struct model *model,
    int channel, bool *ret_full);

/* Adds the sources of these lines to the tables of the same names in the
 * model. */
void sources_take(const struct model *model, const char *lines);

#endif
