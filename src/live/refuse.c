/* SPDX-License-Identifier: MIT
 * Whether the configuration may change now: see control.h.
 */
#include "live/control.h"

bool
control_refuse(struct err_list *errors, const char *why)
{
	err_list_add(errors, NULL, 0, "%s", why);
	return false;
}

bool
control_may_change(const struct control *control, struct err_list *errors)
{
	if (control->stop.phase != RUNNING)
		return control_refuse(errors, "lfproxy is stopping");
	/* The successor would not get the change. */
	return !control->lineage.upgrade ||
	       control_refuse(errors, "an upgrade is under way");
}
