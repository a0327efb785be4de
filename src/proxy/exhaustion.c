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
	enum resource lack = 0;

	while (lack < RESOURCES && kinds[lack].error != error)
		lack++;
	return lack;
}

const char *
resource_name(enum resource lack)
{
	return kinds[lack].name;
}

bool
exhaustion_note(struct exhaustion *exhaustion, int error, const char *where)
{
	static struct log_limit limits[RESOURCES];
	enum resource lack = resource_of(error);

	if (lack == RESOURCES)
		return false;
	atomic_add_relaxed(&exhaustion->count[lack], UINT64_C(1));
	log_limited(&limits[lack], LOG_LEVEL_WARNING, "%s: %s; %s", where,
	    strerror(error), kinds[lack].advice);
	return true;
}
