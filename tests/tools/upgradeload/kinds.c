/* SPDX-License-Identifier: MIT
 * See kinds.h.
 */
#include "tools/upgradeload/kinds.h"

#include "tools/upgradeload/loop.h"

#define FIRST_RECORDS 10 /* of a half that ends first */
#define TICK_MS       200
#define BURST_MS      300
#define HOLD_MS       1000 /* a session that was queued is at its server */

const char *const kind_names[KINDS] = {"idle", "moving", "once", "flood-down",
    "flood-up", "half-client", "half-server", "queued", "late", "inspected",
    "direct"};

void
kind_serve(struct conn *c, bool last)
{
	bool first = c->got_n == 1;

	switch (c->kind) {
	case IDLE:
	case MOVING:
	case ONCE:
	case LATE:
	case INSPECTED:
	case DIRECT:
		if (!last)
			c->due = c->got_n;
		break;
	case FLOOD_DOWN:
		c->due = last ? c->put_n : UINT64_MAX;
		break;
	case FLOOD_UP:
		c->due = 1;
		if (first && !ending) {
			c->reading = false;
			if (c->id % 2 == 1)
				loop_set_timer(c, BURST_MS);
		}
		break;
	case HALF_CLIENT:
		if (first)
			c->due = 1;
		if (first && !ending)
			loop_set_timer(c, TICK_MS);
		c->finish = c->finish || ending;
		return;
	case HALF_SERVER:
		c->due = FIRST_RECORDS;
		c->finish = true;
		return;
	case QUEUED:
		if (first)
			loop_set_timer(
			    c, ending ? 0 : HOLD_MS / 2 + load_random(HOLD_MS));
		return;
	case KINDS:
		break;
	}
	c->finish = c->finish || last;
}

bool
kind_is_awaited(enum kind kind)
{
	return kind != ONCE && kind != QUEUED && kind != LATE &&
	       kind != INSPECTED && kind != DIRECT;
}

void
kind_use_answer(struct conn *c)
{
	uint64_t us = (pace_now_ns() - c->asked_ns) / 1000;

	if (!c->established) {
		c->established = true;
		if (kind_is_awaited(c->kind))
			sum.established++;
		if (c->kind == FLOOD_DOWN && !ending) {
			c->reading = false;
			if (c->id % 2 == 1)
				loop_set_timer(c, BURST_MS);
		}
		if (c->kind == FLOOD_UP && !ending)
			c->due = UINT64_MAX;
		if (c->kind == HALF_CLIENT && !c->finish) {
			c->due = FIRST_RECORDS;
			c->finish = true;
		}
		if (c->kind == HALF_SERVER && !ending)
			loop_set_timer(c, TICK_MS);
	}
	/* It has waited for its turn, and may end. */
	if (c->kind == QUEUED)
		c->finish = true;
	if (c->kind == ONCE && counting && c->got_n == 1)
		pace_note(&beginnings, (uint32_t)us);
	if ((c->kind != MOVING && c->kind != DIRECT) || c->got_last)
		return;
	sum.records++;
	if (counting)
		pace_note(
		    c->kind == DIRECT ? &directs : &answers, (uint32_t)us);
	/* One in eight is brisk. */
	if (!ending)
		loop_set_timer(
		    c, c->id % 8 == 0 ? opt.period_ms / 20 : opt.period_ms);
}

void
kind_on_timer(struct conn *c)
{
	switch (c->kind) {
	case MOVING:
	case DIRECT:
		if (c->finish)
			return;
		c->due++;
		c->asked_ns = pace_now_ns();
		break;
	case FLOOD_UP:
	case FLOOD_DOWN:
		c->burst = 1 + load_random(2 * BUFFER);
		if (!c->reading)
			loop_set_timer(c, BURST_MS);
		break;
	case HALF_CLIENT:
	case HALF_SERVER:
		if (c->finish)
			return;
		c->due++;
		loop_set_timer(c, TICK_MS);
		break;
	case QUEUED:
		c->finish = true;
		if (c->in_queue)
			sum.queue_open--;
		c->in_queue = false;
		break;
	case INSPECTED:
		c->finish = true;
		break;
	case IDLE:
	case ONCE:
	case LATE:
	case KINDS:
		return;
	}
	conn_advance(c);
}

void
kind_end(struct conn *c)
{
	c->reading = true;
	switch (c->kind) {
	case IDLE:
	case MOVING:
	case LATE:
	case INSPECTED:
	case DIRECT:
	case HALF_SERVER:
		c->finish = c->finish || !opt.server;
		break;
	case FLOOD_UP:
		if (opt.server)
			break;
		c->due = c->put_n;
		c->finish = true;
		break;
	case FLOOD_DOWN:
		c->finish = c->finish || !opt.server;
		break;
	case HALF_CLIENT:
		c->finish = c->got_n > 0;
		break;
	case QUEUED:
		if (opt.server && c->got_n > 0)
			loop_set_timer(c, 0);
		break;
	case ONCE:
	case KINDS:
		break;
	}
	conn_advance(c);
}
