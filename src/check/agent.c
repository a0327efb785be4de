/* SPDX-License-Identifier: MIT
 * The agent: a program on the server's host that is asked beside the check and
 * answers with one line of words (agent_words.h).
 *
 * An agent that does not answer tells nothing about its server's health; the
 * check does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/printable.h"
#include "base/secrets.h"
#include "check/agent_words.h"
#include "check/check.h"
#include "check/talk.h"

/* send is a copy, because a reload may free the server's. */
struct agent_run {
	struct pattern send;
	struct check_step steps[2];
	size_t steps_n;
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
agent_obey(struct server *server, const struct agent_orders *orders)
{
	char *masked;

	server->state->agent_heard = true;
	if (orders->has_weight)
		server_set_weight(server, orders->weight, "by its agent");
	if (orders->has_maxconn)
		server_set_maxconn(server, orders->maxconn, "by its agent");
	if (orders->has_admin)
		server_set_admin(server, orders->admin, "by its agent");
	if (orders->has_health) {
		server_set_agent(
		    server, orders->up, secrets_mask(orders->why, &masked));
		free(masked);
	}
}

/* Copies the first line of the answer, as text.  Returns false if it is empty
 * or its end is missing: half of a weight is another weight. */
static bool
agent_first_line(const struct talk_result *result, char line[AGENT_LINE_SIZE])
{
	size_t n =
	    result->n < AGENT_LINE_SIZE - 1 ? result->n : AGENT_LINE_SIZE - 1;

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
agent_answered(void *arg, const struct talk_result *result)
{
	struct check *check = arg;
	struct agent_orders orders = {.understood = false};
	enum check_status status = result->status;
	char line[AGENT_LINE_SIZE], words[AGENT_LINE_SIZE];
	const char *text = result->text;

	check->talk = NULL;
	if (result->error) {
		status = CHECK_STATUS_L4CON;
		text = strerror(result->error);
	} else if (agent_first_line(result, line)) {
		strcpy(words, line);
		text = line;
		agent_words_read(words, check->server->spec->weight, &orders,
		    warn_unknown, check);
		status = !orders.understood ? CHECK_STATUS_L7RSP
		         : orders.up        ? CHECK_STATUS_L7OK
		                            : CHECK_STATUS_L7STS;
	} else if (check_status_passed(status)) {
		status = CHECK_STATUS_L7RSP;
		text = "an empty line, or one that is too long";
	}
	check_done(check, status, 0, text);
	if (orders.understood)
		agent_obey(check->server, &orders);
}

/* Returns the plan of the agent's talk.  Borrows the steps from the run. */
static struct talk_plan
agent_plan(const struct check *check)
{
	const struct server *server = check->server;
	const struct agent_run *run = check->run;
	struct talk_plan plan = {
	    .addr = server->agent.addr,
	    .timeout_ms = server->agent.timeout_ms,
	    .tls = server->agent.tls,
	    .context = server->agent.tls ? server->tls : NULL,
	    .host = server->spec->host,
	    .steps = run->steps,
	    .steps_n = run->steps_n,
	};

	plan.way = server_way_to(server, &plan.addr);
	return plan;
}

static bool
agent_start(struct check *check)
{
	static uint8_t line_feed = '\n';
	const struct agent_rules *rules = &check->server->agent;
	struct agent_run *run = check->run;
	struct talk_plan plan;

	run->steps_n = 0;
	if (rules->send->n > 0) {
		if (!pattern_copy(rules->send, &run->send))
			return false;
		run->steps[run->steps_n++] = (struct check_step){
		    .kind = STEP_SEND, .pattern = run->send};
	}
	run->steps[run->steps_n++] = (struct check_step){.kind = STEP_EXPECT,
	    .pattern = {.text = "\"\\n\"", .bytes = &line_feed, .n = 1}};
	plan = agent_plan(check);
	check->talk = talk_start(check->loop, &plan, agent_answered, check);
	return check->talk != NULL;
}

void
check_agent_move(struct check *check)
{
	struct talk_plan plan = agent_plan(check);

	talk_move(check->talk, &plan);
}

static void
agent_end(struct check *check)
{
	pattern_fini(&((struct agent_run *)check->run)->send);
}

const struct check_ops check_agent_ops = {
    .run_size = sizeof(struct agent_run),
    .start = agent_start,
    .end = agent_end,
};
