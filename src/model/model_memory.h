/* SPDX-License-Identifier: MIT
 * The memory that the models take from the heap.
 */
#ifndef MODEL_MODEL_MEMORY_H
#define MODEL_MODEL_MEMORY_H

#include "base/memory_use.h"
#include "model/model.h"

/* The count of each member is that of frontends, of backends and so on.
 * histograms are those of backends, tables those of limits. */
struct model_memory {
	struct memory_use spec, frontends, backends, servers, counters,
	    histograms, lineups, ports, tables;
	struct memory_use lists;   /* addresses, with their tables */
	struct memory_use retired; /* models, without what they share */
	struct memory_use removed; /* servers whose sessions go on */
};

/* Sums up the memory of the PRESENT model and of the former ones that are left.
 * Looks at some ten blocks for each server.  Runs on the control thread. */
void model_memory(const struct model *model, struct model_memory *ret_memory);

#endif
