/* SPDX-License-Identifier: MIT
 * The model: everything the configuration describes, alive.
 *
 * Built and freed on the control thread.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "model/backend.h"
#include "model/spec.h"

struct frontend {
	const struct frontend_spec *spec; /* borrowed from the model's spec */
	unsigned id;                      /* HAProxy's iid */
	struct backend *backend;

	/* Shared. */
	struct counters *counters;
	struct gauge sessions CACHE_LINE_ALIGNED;

	/* Control thread only. */
	struct rate rate CACHE_LINE_ALIGNED;
};

struct model {
	struct spec *spec; /* owned */
	struct frontend **frontends;
	struct backend **backends;
	struct gauge sessions CACHE_LINE_ALIGNED; /* of all frontends */
	struct rate rate;                         /* control thread only */
	uint64_t started_ms;
	uint64_t started_wall_us;
};

/* Takes the spec over, also on failure; NULL when memory is short. */
struct model *model_new(struct spec *spec, struct grace *grace);
void model_free(struct model *model);

/* Control thread, once a second: the rates. */
void model_tick(struct model *model);

#endif
