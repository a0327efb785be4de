/* SPDX-License-Identifier: MIT
 * See warnings.h.
 */
#include "config/warnings.h"

static void
warn_of_admin(const struct admin_spec *a, struct err_list *warnings)
{
	if (a->addr.sa.sa_family == AF_UNIX || a->level == ADMIN_USER)
		return;
	err_list_add(warnings, a->place.file, a->place.line,
	    "warning: admin: every user and every program of this host can "
	    "give commands at %s with level=%s; use a unix socket, or "
	    "level=user",
	    a->text, a->level == ADMIN_ADMIN ? "admin" : "operator");
}

void
config_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->global.admin.n; i++)
		warn_of_admin(&spec->global.admin.all[i], warnings);
}
