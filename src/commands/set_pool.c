/* SPDX-License-Identifier: MIT
 * `set pool`: changes a pool while it serves traffic.  What is written means
 * the same as in the file: both use config/pool_text.h.
 */
#include "commands/commands.h"

#include <string.h>

#include "pools/pools.h"

#define TEXT_SIZE POOLS_SETTING_SIZE

/* Joins the words with a blank between two. */
static bool
join_words(char *const *words, char *ret_text, size_t size, struct err *err)
{
	size_t len = 0;

	ret_text[0] = '\0';
	for (; *words; words++) {
		int n = snprintf(ret_text + len, size - len, "%s%s",
		    len > 0 ? " " : "", *words);

		if ((size_t)n >= size - len)
			return err_set(err,
			    "the value is too long; it may have %zu "
			    "characters",
			    size - 1);
		len += (size_t)n;
	}
	return true;
}

bool
set_pool(struct pools *pools, char *const *args,
    struct set_pool_change *ret_change, struct err *err)
{
	char text[TEXT_SIZE], before[TEXT_SIZE], after[TEXT_SIZE];
	struct set_pool_change *c = ret_change;
	struct pool *pool;

	if (!args[0])
		return err_set(err,
		    "the name of a pool is missing, what to set, and its "
		    "value");
	pool = pools_find(pools, args[0], err);
	if (!pool ||
	    !join_words(
	        args[1] ? args + 2 : args + 1, text, sizeof(text), err) ||
	    !pools_setting_set(
	        pools, pool, args[1] ? args[1] : "", text, before, after, err))
		return false;
	snprintf(c->before, sizeof(c->before), "%.*s",
	    (int)sizeof(c->before) - 1, before);
	snprintf(c->after, sizeof(c->after), "%.*s", (int)sizeof(c->after) - 1,
	    after);
	return true;
}

bool
run_set_pool(struct call *call)
{
	struct set_pool_change change;

	if (!set_pool(call->env->pools, call->args, &change, call->err))
		return err_as_sentence(call->err);
	call_audit(call, change.before, change.after, "pool %s %s",
	    call->args[0], call->args[1]);
	return true;
}
