/* SPDX-License-Identifier: MIT
 * See exhaustion.h.
 */
#include "proxy/exhaustion.h"

#include <string.h>

#include "base/log.h"

static const struct {
	int error;
	const char *name, *advice;
} kinds[RESOURCES] = {
#define X(id, error, name, advice) [id] = {error, name, advice},
    RESOURCES_TABLE(X)
#undef X
};

enum resource
resource_of(int error)
{
	enum resource resource = 0;

	while (resource < RESOURCES && kinds[resource].error != error)
		resource++;
	return resource;
}

const char *
resource_name(enum resource resource)
{
	return kinds[resource].name;
}

bool
exhaustion_note(struct exhaustion *exhaustion, int error, const char *where)
{
	static struct log_limit limits[RESOURCES];
	enum resource resource = resource_of(error);

	if (resource == RESOURCES)
		return false;
	atomic_add_relaxed(&exhaustion->count[resource], UINT64_C(1));
	log_limited(&limits[resource], LOG_LEVEL_WARNING, "%s: %s; %s", where,
	    strerror(error), kinds[resource].advice);
	return true;
}
