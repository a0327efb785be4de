/* SPDX-License-Identifier: MIT
 * The processes before and after this one, as far as sessions are still handed
 * over.  Control thread only.
 */
#ifndef HANDOVER_LINEAGE_H
#define HANDOVER_LINEAGE_H

#include <stdbool.h>

struct session_receiver;
struct session_sender;

struct lineage {
	struct session_receiver *predecessor; /* NULL: none */
	struct session_sender *successor;     /* NULL: none */
	bool reopened; /* access log reopened during an upgrade */
};

#endif
