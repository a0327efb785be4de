/* SPDX-License-Identifier: MIT
 * See stat_put.h: the columns of checks and agents.
 */
#include <stdio.h>

#include "stats/stat_put.h"
#include "model/server.h"

STAT_PUT(stat_put_checks_failed)
{
	UNUSED();
	field_number(out, row->server->state->checks_failed);
}

STAT_PUT(stat_put_observed)
{
	UNUSED();
	if (row->server->backend->spec->observe != OBSERVE_OFF)
		field_number(out, row->server->state->passive.times_observed);
}

STAT_PUT(stat_put_check_status)
{
	UNUSED();
	field_text(out, check_status_name(row->server->state->last.status));
}

/* As HAProxy: nothing where the layer below has failed. */
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

STAT_PUT(stat_put_check_code)
{
	UNUSED();
	put_code(out, &row->server->state->last);
}

STAT_PUT(stat_put_check_duration)
{
	UNUSED();
	if (row->server->state->last.status != CHECK_STATUS_INI)
		field_number(out, row->server->state->last.duration_ms);
}

STAT_PUT(stat_put_check_text)
{
	UNUSED();
	field_text(out, row->server->state->last.text);
}

STAT_PUT(stat_put_agent_status)
{
	UNUSED();
	field_text(
	    out, check_status_name(row->server->state->agent_last.status));
}

STAT_PUT(stat_put_agent_code)
{
	UNUSED();
	put_code(out, &row->server->state->agent_last);
}

STAT_PUT(stat_put_agent_rise)
{
	UNUSED();
	field_number(out, AGENT_RISE);
}

STAT_PUT(stat_put_agent_fall)
{
	UNUSED();
	field_number(out, AGENT_FALL);
}

STAT_PUT(stat_put_agent_health)
{
	UNUSED();
	field_number(out,
	    row->server->state->agent_down ? 0 : AGENT_RISE + AGENT_FALL - 1);
}

STAT_PUT(stat_put_tracked)
{
	const struct server *tracked = row->server->tracked;

	UNUSED();
	out->present = true;
	snprintf(out->text, sizeof(out->text), "%s/%s",
	    tracked->backend->spec->name, tracked->spec->name);
}

STAT_PUT(stat_put_agent_duration)
{
	UNUSED();
	if (row->server->state->agent_last.status != CHECK_STATUS_INI)
		field_number(out, row->server->state->agent_last.duration_ms);
}

STAT_PUT(stat_put_agent_text)
{
	UNUSED();
	field_text(out, row->server->state->agent_last.text);
}

STAT_PUT(stat_put_check_meaning)
{
	UNUSED();
	field_text(out, check_status_meaning(row->server->state->last.status));
}

STAT_PUT(stat_put_agent_meaning)
{
	UNUSED();
	field_text(
	    out, check_status_meaning(row->server->state->agent_last.status));
}

STAT_PUT(stat_put_rise)
{
	UNUSED();
	field_number(out, row->server->check.rise);
}

STAT_PUT(stat_put_fall)
{
	UNUSED();
	field_number(out, row->server->check.fall);
}

/* 0 to rise - 1 is down, rise to rise + fall - 1 is up. */
STAT_PUT(stat_put_health)
{
	const struct server *server = row->server;
	const struct check_rules *check = &server->check;

	UNUSED();
	field_number(out, server->state->up ? check->rise + check->fall - 1 -
	                                          server->state->streak
	                                    : server->state->streak);
}
