/* SPDX-License-Identifier: MIT
 * See ready.h.
 */
#include "stats/ready.h"

#include "base/atomics.h"
#include "model/backend.h"
#include "model/frontend.h"
#include "stats/env.h"

const char *
process_unready_reason(const struct command_env *env)
{
	if (control_draining(env->control))
		return "draining: no new sessions";
	if (control_stopping(env->control))
		return "stopping: new sessions for shutdown_delay only";
	return NULL;
}

const char *
frontend_closed_reason(const struct frontend *frontend)
{
	switch (frontend->state->admin) {
	case FRONTEND_OPEN:
		break;
	case FRONTEND_PAUSED:
		return "disabled: no new sessions";
	case FRONTEND_SHUT:
		return "shut down until the next reload: no new sessions";
	}
	if (atomic_load_relaxed(&frontend->state->maxconn) == 0)
		return "maxconn is 0: no new sessions";
	return NULL;
}

bool
frontend_is_routed_to(const struct frontend *frontend, size_t backend)
{
	const struct frontend *f = frontend;
	const struct spec *spec = f->model->spec;

	if (backend < f->spec->routes_n && f->spec->routes[backend].weight > 0)
		return true;
	for (size_t i = 0; f->fallbacks && i < f->spec->routes_n; i++)
		if (f->fallbacks[i] == backend)
			return true;
	for (size_t i = 0; i < f->spec->rules_n; i++)
		if (&spec->backends[f->spec->rules[i].backend] ==
		    f->backends[backend]->spec)
			return true;
	return false;
}

const char *
frontend_unready_reason(const struct frontend *frontend)
{
	const struct frontend *f = frontend;
	const char *reason = frontend_closed_reason(f);

	if (reason)
		return reason;
	for (size_t i = 0; i < f->backends_n; i++)
		if (f->backends[i]->state->usable > 0 &&
		    frontend_is_routed_to(f, i))
			return NULL;
	return "no usable server";
}

const char *
unready_reason(const struct command_env *env, const struct frontend *frontend)
{
	const struct model *model = env->instance->model;
	const char *reason = process_unready_reason(env);

	if (reason || frontend)
		return reason ? reason : frontend_unready_reason(frontend);
	for (size_t i = 0; i < model->spec->frontends_n; i++) {
		reason = frontend_unready_reason(model->frontends[i]);
		if (!reason)
			return NULL;
	}
	return model->spec->frontends_n == 1
	           ? reason
	           : "no frontend is open and has a usable server";
}
