/* SPDX-License-Identifier: MIT
 * The talk of a check, and the kinds of checks that consist of a talk: connect,
 * tls, send-expect, and the presets of the latter.  These differ only in the
 * plan.
 */
#include "check/check.h"
#include "check/preset.h"

static struct talk_plan
check_talk_plan(const struct check *check)
{
	const struct check_rules *rules = &check->server->check;
	struct talk_plan plan = {
	    .addr = check->server->check.addr,
	    .timeout_ms = rules->timeout_ms,
	    .proxy = rules->proxy,
	    .host = check->server->spec->host,
	    .trust = check->spec->trust,
	    .name = check->spec->sni,
	    .common_name = check->spec->common_name,
	};

	plan.way = server_way_to(check->server, &plan.addr);
	/* curl makes the rest of an http check. */
	if (check->ops == &check_talk_ops) {
		plan.tls = rules->tls != CHECK_TLS_NONE;
		plan.starttls = check->server->starttls;
		if (rules->tls == CHECK_TLS_AS_SESSIONS)
			plan.context = check->server->tls;
		plan.steps =
		    check_steps(check->server->backend->spec, &plan.steps_n);
	}
	return plan;
}

bool
check_talk_start(struct check *check, talk_done *done)
{
	struct talk_plan plan = check_talk_plan(check);

	check->talk = talk_start(check->loop, &plan, done, check);
	return check->talk != NULL;
}

void
check_talk_move(struct check *check)
{
	struct talk_plan plan = check_talk_plan(check);

	talk_move(check->talk, &plan);
}

static void
check_talk_done(void *arg, const struct talk_result *result)
{
	struct check *check = arg;
	struct check_verdict v = {.code = 0};

	check->talk = NULL;
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

static bool
check_talk_begin(struct check *check)
{
	return check_talk_start(check, check_talk_done);
}

const struct check_ops check_talk_ops = {.start = check_talk_begin};
