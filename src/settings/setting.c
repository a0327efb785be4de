/* SPDX-License-Identifier: MIT
 * See setting.h.
 */
#include "settings/setting.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
setting_print(char *field, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(field, size, fmt, ap);
	va_end(ap);
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
