/* SPDX-License-Identifier: MIT
 * See frontend_orders.h.
 */
#include "orders/frontend_orders.h"

#include "base/log.h"
#include "listeners/listeners.h"
#include "model/frontend.h"

void
frontend_pause(struct listeners *listeners, struct frontend *frontend)
{
	frontend_set_admin(frontend, FRONTEND_PAUSED);
	listeners_pause(listeners, frontend);
	log_info("frontend %s is disabled: by operator", frontend->spec->name);
}

bool
frontend_resume(
    struct listeners *listeners, struct frontend *frontend, struct err *err)
{
	if (!listeners_resume(listeners, frontend, err))
		return false;
	frontend_set_admin(frontend, FRONTEND_OPEN);
	log_info("frontend %s is enabled: by operator", frontend->spec->name);
	return true;
}

void
frontend_shut(struct listeners *listeners, struct frontend *frontend)
{
	frontend_set_admin(frontend, FRONTEND_SHUT);
	listeners_shut(listeners, frontend);
	log_info("frontend %s is shut down until the next reload: by operator",
	    frontend->spec->name);
}
