/* SPDX-License-Identifier: MIT
 * The tables of limits that another process goes on with: what each source has
 * used, in steps, once all sessions that can leave have left.
 *
 * A line for each source: TABLE KEY KEY ACCEPTED REFUSED DUE_NS IN OUT DUE_NS,
 * the keys hexadecimal.
 *
 * All functions run on the control thread.
 */
#ifndef CONTROL_SOURCES_SENT_H
#define CONTROL_SOURCES_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

/* Sources that are sent, of all tables together. */
#define SOURCES_SENT_MAX 100000
/* How long a step takes, about. */
#define SOURCES_STEP_NS (1000 * 1000)

/* Begins with all bytes 0. */
struct sources_sent {
	size_t table; /* its number, of all frontends' and then backends' */
	uint64_t at;  /* in this table */
	size_t n;     /* sources so far */
	bool done;
};

/* Sends a part.  Returns -EAGAIN while some is left: the caller calls again,
 * *ret_full: when the channel can be written; else 0. */
int sources_sent_step(struct sources_sent *sent, const struct model *model,
    int channel, bool *ret_full);

/* Adds the sources of such lines to the tables that the model has. */
void sources_take(const struct model *model, const char *lines);

#endif
