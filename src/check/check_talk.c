/* SPDX-License-Identifier: MIT
 * The connect, tls and send-expect checks, and what is made of the latter:
 * redis, postgresql, mysql, smtp.  They differ in the plan alone.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check/check_kind.h"
#include "check/talk.h"

#define REFUSAL_SIZE 96

/* What the server itself says of the outcome, in its protocol. */
struct verdict {
	unsigned code; /* 0: none */
	bool refused;
	char text[REFUSAL_SIZE]; /* of a refusal, on one line */
};

/* The last reply that has come (RFC 5321, 4.2), or the first that refuses. */
static void
read_smtp(const char *data, size_t n, struct verdict *v)
{
	while (n > 0 && !v->refused) {
		const char *end = memchr(data, '\n', n);
		size_t line = end ? (size_t)(end - data) + 1 : n;
		const char *line_end = data + line;

		if (line >= 3 && isdigit((unsigned char)data[0]) &&
		    isdigit((unsigned char)data[1]) &&
		    isdigit((unsigned char)data[2])) {
			v->code = (unsigned)(data[0] - '0') * 100 +
			          (unsigned)(data[1] - '0') * 10 +
			          (unsigned)(data[2] - '0');
			v->refused = data[0] == '4' || data[0] == '5';
			while (line_end > data &&
			       isspace((unsigned char)line_end[-1]))
				line_end--;
			snprintf(v->text, sizeof(v->text), "%.*s",
			    (int)(line_end - data), data);
		}
		data += line;
		n -= line;
	}
}

/* ERR_Packet of the client/server protocol: 4 bytes of header, 0xff, the
 * error's number, little-endian, and its text. */
static void
read_mysql(const char *data, size_t n, struct verdict *v)
{
	const unsigned char *bytes = (const unsigned char *)data;

	if (n < 7 || bytes[4] != 0xff)
		return;
	v->refused = true;
	v->code = bytes[5] | (unsigned)bytes[6] << 8;
	snprintf(v->text, sizeof(v->text), "%.*s", (int)(n - 7), data + 7);
}

static void
on_done(void *arg, const struct talk_result *result)
{
	struct check *check = arg;
	struct verdict v = {.code = 0};

	check->run = NULL;
	if (result->error) {
		check_connect_failed(check, result->error);
		return;
	}
	if (check->spec->kind == CHECK_SMTP)
		read_smtp(result->data, result->n, &v);
	else if (check->spec->kind == CHECK_MYSQL)
		read_mysql(result->data, result->n, &v);
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
	    .addr = server_check_addr(check->server),
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
