/* SPDX-License-Identifier: MIT
 * See setting.h.
 */
#include "commands/setting.h"

#include <stdarg.h>
#include <string.h>

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

bool
setting_is_replaced(const struct setting *now, const char *base)
{
	return strcmp(now->base, base) != 0;
}

const char *
setting_own(const struct setting *setting)
{
	return setting->ordered[0] ? setting->ordered : setting->value;
}

const char *
setting_shown(const struct setting *setting, const char *value)
{
	return setting->is_secret && value[0] ? "(not shown)" : value;
}
