/* SPDX-License-Identifier: MIT
 * The connect, tls and send-expect checks, and the presets of the latter.  They
 * differ in the plan of their talk alone.
 */
#include <errno.h>

#include "check/check.h"
#include "check/preset.h"
#include "check/talk.h"

static void
on_done(void *arg, const struct talk_result *result)
{
	struct check *check = arg;
	struct check_verdict v = {.code = 0};

	check->run = NULL;
	if (result->error) {
		check_connect_failed(check, result->error);
		return;
	}
	if (check->preset->read_verdict)
		check->preset->read_verdict(result->data, result->n, &v);
	if (v.refused)
		check_done(check, CHECK_STATUS_L7STS, v.code, v.text);
	else
		check_done(check, result->status, v.code, result->text);
}

static struct talk_plan
plan_of(const struct check *check)
{
	const struct check_rules *rules = &check->server->check;
	struct talk_plan plan = {
	    .addr = check->server->check.addr,
	    .timeout_ms = rules->timeout_ms,
	    .proxy = rules->proxy,
	    .tls = check_is_tls(check->spec),
	    .trust = check->spec->trust,
	    .name = check->spec->sni,
	};

	plan.way = server_way_to(check->server, &plan.addr);
	plan.steps = check_steps(check->server->backend->spec, &plan.steps_n);
	return plan;
}

static void
talk_check_start(struct check *check)
{
	struct talk_plan plan = plan_of(check);

	check->run = talk_start(check->loop, &plan, on_done, check);
	if (!check->run)
		check_skip(check, ENOMEM);
}

static void
talk_check_cancel(struct check *check)
{
	talk_cancel(check->run);
	check->run = NULL;
}

static void
talk_check_moved(struct check *check)
{
	struct talk_plan plan = plan_of(check);

	talk_move(check->run, &plan);
}

const struct check_ops check_talk_ops = {
    .start = talk_check_start,
    .cancel = talk_check_cancel,
    .moved = talk_check_moved,
};
