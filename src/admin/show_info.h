/* SPDX-License-Identifier: MIT
 * `show info`: the process, in HAProxy's keys and order.
 */
#ifndef ADMIN_SHOW_INFO_H
#define ADMIN_SHOW_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "control/control.h"

/* What the model does not know. */
struct info_facts {
	unsigned threads;     /* of all pools */
	uint64_t waiting;     /* events fetched and not looked at so far */
	uint64_t descriptors; /* the process may have */
	uint64_t sessions_max;
	bool stopping;
};

/* One `Key: value` a line.  Keys of HAProxy's that would have to be made up
 * are left out; those that hatop insists on are all there. */
void show_info_render(
    FILE *out, const struct model *model, const struct info_facts *facts);

void show_info(struct control *control, FILE *out);

#endif
