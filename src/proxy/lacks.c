/* SPDX-License-Identifier: MIT
 * See lacks.h.
 */
#include "proxy/lacks.h"

#include <string.h>

#include "base/log.h"

static const struct {
	int error;
	const char *name, *advice;
} kinds[LACKS] = {
#define X(id, error, name, advice) [id] = {error, name, advice},
    LACKS_TABLE(X)
#undef X
};

enum lack
lack_of(int error)
{
	enum lack lack = 0;

	while (lack < LACKS && kinds[lack].error != error)
		lack++;
	return lack;
}

const char *
lack_name(enum lack lack)
{
	return kinds[lack].name;
}

bool
lacks_note(struct lacks *lacks, int error, const char *where)
{
	static struct log_limit limits[LACKS];
	enum lack lack = lack_of(error);

	if (lack == LACKS)
		return false;
	atomic_add_relaxed(&lacks->count[lack], UINT64_C(1));
	log_limited(&limits[lack], LOG_LEVEL_WARNING, "%s: %s; %s", where,
	    strerror(error), kinds[lack].advice);
	return true;
}
