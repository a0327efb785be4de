/* SPDX-License-Identifier: MIT
 * The processes before and after this one, as far as anything is still handed
 * over.  Control thread only.
 */
#ifndef HANDOVER_LINEAGE_H
#define HANDOVER_LINEAGE_H

#include <stdbool.h>

#include "handover/upgrade.h"

struct instance;
struct session_receiver;
struct session_sender;

struct lineage {
	struct instance *instance; /* borrowed */
	struct upgrade_hooks hooks;
	struct upgrade *upgrade;              /* under way; NULL: none */
	struct session_receiver *predecessor; /* NULL: none */
	struct session_sender *successor;     /* NULL: none */
	bool reopened; /* access log reopened during an upgrade */
};

#endif
