/* SPDX-License-Identifier: MIT
 * See stat_values.h: the columns of health checks and agents.
 */
#include "stats/stat_values.h"

#include <stdio.h>

#include "model/server.h"

static const struct check_result *
check_result_of(const struct stat_row *row)
{
	return &row->server->state->last;
}

static const struct check_result *
agent_result_of(const struct stat_row *row)
{
	return &row->server->state->agent_last;
}

/* Shows 0 only if a layer 7 check could get a code, as HAProxy does. */
static void
put_code(struct field *out, const struct check_result *result)
{
	switch (result->status) {
	case CHECK_STATUS_L7OK:
	case CHECK_STATUS_L7STS:
	case CHECK_STATUS_PROCERR:
	case CHECK_STATUS_PROCTOUT:
	case CHECK_STATUS_PROCOK:
		field_number(out, result->code);
		break;
	default:
		if (result->code)
			field_number(out, result->code);
	}
}

static void
put_duration(struct field *out, const struct check_result *result)
{
	if (result->status != CHECK_STATUS_INI)
		field_number(out, result->duration_ms);
}

STAT_NUMBER(stat_checks_failed)
{
	return row->server->state->checks_failed;
}

STAT_PUT(stat_put_observed_failures)
{
	if (row->server->backend->spec->observe != OBSERVE_OFF)
		field_number(out, row->server->state->passive.times_observed);
}

STAT_TEXT(stat_check_status)
{
	return check_status_name(check_result_of(row)->status);
}

STAT_TEXT(stat_check_meaning)
{
	return check_status_meaning(check_result_of(row)->status);
}

STAT_TEXT(stat_check_text)
{
	return check_result_of(row)->text;
}

STAT_PUT(stat_put_check_code)
{
	put_code(out, check_result_of(row));
}

STAT_PUT(stat_put_check_duration)
{
	put_duration(out, check_result_of(row));
}

STAT_NUMBER(stat_check_rise)
{
	return row->server->check.rise;
}

STAT_NUMBER(stat_check_fall)
{
	return row->server->check.fall;
}

STAT_NUMBER(stat_check_health)
{
	const struct check_rules *check = &row->server->check;
	const struct server_state *state = row->server->state;

	return state->up ? check->rise + check->fall - 1 - state->streak
	                 : state->streak;
}

STAT_PUT(stat_put_tracked)
{
	const struct server *tracked = row->server->tracked;

	out->present = true;
	snprintf(out->text, sizeof(out->text), "%s/%s",
	    tracked->backend->spec->name, tracked->spec->name);
}

STAT_TEXT(stat_agent_status)
{
	return check_status_name(agent_result_of(row)->status);
}

STAT_TEXT(stat_agent_meaning)
{
	return check_status_meaning(agent_result_of(row)->status);
}

STAT_TEXT(stat_agent_text)
{
	return agent_result_of(row)->text;
}

STAT_PUT(stat_put_agent_code)
{
	put_code(out, agent_result_of(row));
}

STAT_PUT(stat_put_agent_duration)
{
	put_duration(out, agent_result_of(row));
}

STAT_NUMBER(stat_agent_rise)
{
	(void)row;
	return AGENT_RISE;
}

STAT_NUMBER(stat_agent_fall)
{
	(void)row;
	return AGENT_FALL;
}

STAT_NUMBER(stat_agent_health)
{
	return row->server->state->agent_down ? 0 : AGENT_RISE + AGENT_FALL - 1;
}
