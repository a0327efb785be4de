/* SPDX-License-Identifier: MIT
 * The agent: a program on the server's host that is asked beside the check and
 * answers with one line of words (agent_words.h).
 *
 * That an agent does not answer says nothing about its server: the check does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/printable.h"
#include "base/secrets.h"
#include "check/agent_words.h"
#include "check/check.h"
#include "check/talk.h"

struct agent_run {
	struct talk *talk;
	struct check_step steps[2];
	struct pattern newline, send;
};

static void
warn_unknown(void *arg, const char *word)
{
	static struct log_limit limit;
	const struct check *check = arg;
	char *masked;

	word = secrets_mask(word, &masked);
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "the agent of server %s/%s sent a word that is not among 75%%, "
	    "weight:N, maxconn:N, ready, drain, maint, up, down, stopped and "
	    "fail: '%s'",
	    check->server->backend->spec->name, check->server->spec->name,
	    word);
	free(masked);
}

static void
obey(struct server *server, const struct agent_orders *orders)
{
	char *masked;

	server->state->agent_heard = true;
	if (orders->has_weight)
		server_set_weight(server, orders->weight, "its agent says so");
	if (orders->has_maxconn)
		server_set_maxconn(
		    server, orders->maxconn, "its agent says so");
	if (orders->has_admin)
		server_set_admin(server, orders->admin, "its agent says so");
	if (orders->has_health) {
		server_set_agent(
		    server, orders->up, secrets_mask(orders->why, &masked));
		free(masked);
	}
	model_update(server->backend->model);
}

static void
run_free(struct check *check)
{
	struct agent_run *run = check->run;

	pattern_fini(&run->newline);
	pattern_fini(&run->send);
	free(run);
	check->run = NULL;
}

/* The first line, as text.  One without an end is none: half of a weight is
 * another weight. */
static bool
line_of(const struct talk_result *result, char line[AGENT_LINE_SIZE])
{
	size_t n =
	    result->n < AGENT_LINE_SIZE - 1 ? result->n : AGENT_LINE_SIZE - 1;

	if (result->error)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = result->data[i];

		line[i] = '\0';
		if (c == '\r' || c == '\n') {
			printable_clean(line, '?');
			return i > 0;
		}
		/* Tabs separate words. */
		line[i] = c == '\t' ? ' ' : c ? c : '?';
	}
	return false;
}

static void
on_done(void *arg, const struct talk_result *result)
{
	struct check *check = arg;
	struct agent_orders orders = {.understood = false};
	enum check_status status = result->status;
	char line[AGENT_LINE_SIZE], text[AGENT_LINE_SIZE];

	snprintf(text, sizeof(text), "%s",
	    result->error ? strerror(result->error) : result->text);
	if (result->error) {
		status = CHECK_STATUS_L4CON;
	} else if (line_of(result, line)) {
		snprintf(text, sizeof(text), "%s", line);
		agent_words_read(line, check->server->spec->weight, &orders,
		    warn_unknown, check);
		status = !orders.understood ? CHECK_STATUS_L7RSP
		         : orders.up        ? CHECK_STATUS_L7OK
		                            : CHECK_STATUS_L7STS;
	} else if (check_status_passed(status)) {
		status = CHECK_STATUS_L7RSP;
		strcpy(text, "an empty line, or one that is too long");
	}
	run_free(check);
	check_done_agent(check, status, text);
	if (orders.understood)
		obey(check->server, &orders);
}

static bool
begin(struct check *check, struct agent_run *run)
{
	const struct agent_rules *rules = &check->server->agent;
	struct talk_plan plan = {.addr = check->server->agent.addr,
	    .timeout_ms = rules->timeout_ms,
	    .steps = run->steps};

	plan.way = server_way_to(check->server, &plan.addr);
	if (!pattern_parse("\"\\n\"", &run->newline, NULL))
		return false;
	/* A copy, since a reload takes the spec away. */
	if (rules->send->n > 0) {
		if (!pattern_parse(rules->send->text, &run->send, NULL))
			return false;
		run->steps[plan.steps_n++] = (struct check_step){
		    .kind = STEP_SEND, .pattern = run->send};
	}
	run->steps[plan.steps_n++] =
	    (struct check_step){.kind = STEP_EXPECT, .pattern = run->newline};
	run->talk = talk_start(check->loop, &plan, on_done, check);
	return run->talk != NULL;
}

static void
agent_start(struct check *check)
{
	struct agent_run *run = calloc(1, sizeof(*run));

	if (run) {
		check->run = run;
		if (begin(check, run))
			return;
		run_free(check);
	}
	check_skip(check, ENOMEM);
}

static void
agent_cancel(struct check *check)
{
	talk_cancel(((struct agent_run *)check->run)->talk);
	run_free(check);
}

const struct check_ops check_agent_ops = {
    .start = agent_start,
    .cancel = agent_cancel,
};
