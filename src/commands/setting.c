/* SPDX-License-Identifier: MIT
 * See setting.h.
 */
#include "commands/setting.h"

#include <stdarg.h>
#include <string.h>

#include "control/pools.h"
#include "model/backend.h"

void
setting_print(char *field, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(field, size, fmt, ap);
	va_end(ap);
}

enum setting_answer
setting_known(struct setting *setting, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(setting->value, sizeof(setting->value), fmt, ap);
	va_end(ap);
	return SETTING_KNOWN;
}

struct server *
setting_of_server(
    struct call *call, const char *what, struct setting *ret_setting)
{
	struct server *s = call_server(call, call_arg(call, 0));
	struct setting *set = ret_setting;

	if (!s)
		return NULL;
	SETTING_PRINT(set->proxy, "%s", s->backend->spec->name);
	SETTING_PRINT(set->part, "%s", s->spec->name);
	SETTING_PRINT(
	    set->subject, "server %s/%s %s", set->proxy, set->part, what);
	return s;
}

enum setting_answer
setting_of_pool(struct call *call, const char *pool,
    const struct pools_setting *now, struct setting *ret_setting)
{
	struct setting *set = ret_setting;

	SETTING_PRINT(set->proxy, "%s", pool);
	SETTING_PRINT(set->subject, "pool %s %s", pool, now->key);
	SETTING_PRINT(set->value, "%s", now->now);
	SETTING_PRINT(set->configured, "%s", now->file);
	SETTING_PRINT(set->base, "%s", now->file);
	set->is_changed = strcmp(now->now, now->file) != 0;
	if (strlen(now->now) < sizeof(set->value))
		return SETTING_KNOWN;
	if (call)
		err_set(call->err,
		    "The present %s of the pool are too long a list to be set "
		    "again later.",
		    now->key);
	return SETTING_UNRESTORABLE;
}
