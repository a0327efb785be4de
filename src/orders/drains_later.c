/* SPDX-License-Identifier: MIT
 * The lines by which another process, or a later one, goes on with drains
 * (later.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "handover/later.h"
#include "model/server.h"
#include "model/server_operator.h"
#include "proxy/instance.h"
#include "orders/drains_internal.h"

static void
write_drain(const struct drain *d, FILE *out)
{
	fprintf(out,
	    DRAINS_LINE "server=%s/%s\tphase=%s\tover=%" PRIu64
	                "\tthen=%s\tfrom=%" PRIu64 "\tphase_from=%" PRIu64
	                "\twas=%s\tbegan=%u\tkill=%u\tnotes=%u\tfirst=%u\n",
	    d->backend, d->server, drain_phase_name(d->phase), d->order.over_ms,
	    drain_then_name(d->order.then), d->from_wall_ms,
	    d->from_wall_ms + (d->phase_from_ms - d->from_ms),
	    server_admin_name(d->admin_was), d->sessions_began, d->kill_n,
	    d->notes_n, d->state->fade_first);
}

void
drains_write(const struct drains *drains, FILE *out)
{
	list_for_each (node, &drains->all)
		if (drain_server(drain_at_node(node)))
			write_drain(drain_at_node(node), out);
}

/* Returns the index of the field's text among name_of(0) to name_of(n - 1), or
 * 0 for any other text. */
static unsigned
read_choice(const char *line, const char *field, unsigned n,
    const char *(*name_of)(unsigned i))
{
	char text[16];

	if (later_text(line, field, text, sizeof(text)))
		for (unsigned i = 0; i < n; i++)
			if (strcmp(text, name_of(i)) == 0)
				return i;
	return 0;
}

static const char *
phase_name_at(unsigned i)
{
	return drain_phase_name((enum drain_phase)i);
}

static const char *
then_name_at(unsigned i)
{
	return drain_then_name((enum drain_then)i);
}

static const char *
admin_name_at(unsigned i)
{
	return server_admin_name((enum server_admin)i);
}

static void
read_times(struct drain *d, const char *line)
{
	uint64_t now_ms = clock_now_ms(), end_wall_ms;

	d->from_wall_ms = later_number(line, "from");
	d->from_ms = later_from_wall_ms(d->from_wall_ms);
	d->phase_from_ms = later_from_wall_ms(later_number(line, "phase_from"));
	/* The wall clock may have been set back, or the machine may have
	 * started after the drain began. */
	if (d->phase_from_ms > now_ms)
		d->phase_from_ms = now_ms;
	if (d->from_ms > d->phase_from_ms)
		d->from_ms = d->phase_from_ms;
	end_wall_ms = d->from_wall_ms + d->order.over_ms;
	if (d->from_ms == 0 && d->order.over_ms > 0)
		d->order.over_ms = later_from_wall_ms(end_wall_ms);
}

/* Goes on with the drain.  The first step waits, so that the sessions of the
 * server can come before. */
static void
go_on_with_drain(struct drain *d, struct server *server, uint64_t fade_first)
{
	uint64_t first_ms = clock_now_ms() + DRAIN_LOOK_MS;
	uint64_t end_ms = d->from_ms + d->order.over_ms;

	if (d->phase == DRAIN_FADING) {
		server_fade(server, d->order.over_ms);
		d->state->fade_from_ms = d->from_ms;
		if (fade_first > 0 && fade_first <= RAMP_STEPS)
			d->state->fade_first = (unsigned)fade_first;
		if (end_ms > first_ms)
			first_ms = end_ms;
	} else if (server_ordered_admin(server) == SERVER_READY) {
		operator_set_admin(server, SERVER_DRAIN);
	}
	timed_task_schedule(&d->task, first_ms);
}

bool
drains_read(struct drains *drains, const char *line, struct err *err)
{
	struct server *server = later_server(line, drains->instance->model);
	struct drain *d;

	if (!server || drain_find(drains, server->state))
		return err_set(
		    err, server ? "another drain is under way" : DRAIN_REMOVED);
	d = drain_new(drains, server, &(struct drain_order){.over_ms = 0});
	if (!d)
		return err_oom(err);
	d->order.over_ms = later_number(line, "over");
	d->order.then =
	    read_choice(line, "then", DRAIN_THEN_MAINT + 1, then_name_at);
	d->phase = read_choice(line, "phase", DRAIN_KILLING + 1, phase_name_at);
	d->admin_was =
	    read_choice(line, "was", SERVER_MAINT + 1, admin_name_at);
	d->sessions_began = (uint32_t)later_number(line, "began");
	d->kill_n = (uint32_t)later_number(line, "kill");
	d->notes_n = (uint32_t)later_number(line, "notes");
	read_times(d, line);
	go_on_with_drain(d, server, later_number(line, "first"));
	model_update(drains->instance->model);
	return true;
}
