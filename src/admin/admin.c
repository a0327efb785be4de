/* SPDX-License-Identifier: MIT
 * See admin.h.
 */
#include "admin/admin.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "admin/admin_socket.h"
#include "commands/expiring.h"
#include "commands/report.h"
#include "stats/info.h"
#include "base/clock.h"

#define PULSE_S 1.0

/* The activity of the process in the last second. */
struct pulse {
	ev_timer timer;
	uint64_t at_ns, cpu_ns, bytes; /* at the last sample */
	unsigned idle_percent;
	uint64_t bytes_rate;
};

/* The sockets, in the order of the file. */
struct sockets {
	struct admin_list specs; /* owned: a reload frees the model's */
	struct admin_socket **all;
	size_t n;
};

struct admin {
	struct sockets sockets;
	struct sockets next; /* between prepare and commit; all NULL: none */
	struct list left;    /* clients of sockets that are closed */
	struct client_slices slices;
	struct command_env env;
	struct audit audit;
	struct expiring expiring;
	struct pulse pulse;
};

static uint64_t
cpu_time_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Returns the number of threads of the pools, or of CPUs if that is less. */
static unsigned
threads_at_work(struct pools *pools)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = 0;

	for (size_t i = 0; pools && i < pools_count(pools); i++)
		n += pool_threads(pools_at(pools, i));
	if (cpus > 0 && n > (unsigned)cpus)
		n = (unsigned)cpus;
	return n > 0 ? n : 1;
}

static unsigned
idle_percent(uint64_t used_ns, uint64_t had_ns)
{
	if (had_ns == 0)
		return 100;
	return used_ns < had_ns ? (unsigned)(100 - 100 * used_ns / had_ns) : 0;
}

static void
on_pulse(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct admin *admin = timer->data;
	struct pulse *p = &admin->pulse;
	uint64_t now = clock_now_ns(), cpu = cpu_time_ns();
	uint64_t bytes = info_bytes(control_model(admin->env.control));

	(void)loop;
	(void)events;
	p->idle_percent = idle_percent(cpu - p->cpu_ns,
	    (now - p->at_ns) *
	        threads_at_work(control_pools(admin->env.control)));
	/* The sum falls when a reload removes frontends. */
	p->bytes_rate = bytes > p->bytes ? bytes - p->bytes : 0;
	p->at_ns = now;
	p->cpu_ns = cpu;
	p->bytes = bytes;
}

static void
pulse_start(struct admin *admin)
{
	struct pulse *p = &admin->pulse;

	p->at_ns = clock_now_ns();
	p->cpu_ns = cpu_time_ns();
	p->idle_percent = 100;
	ev_timer_init(&p->timer, on_pulse, PULSE_S, PULSE_S);
	p->timer.data = admin;
	ev_timer_start(admin->slices.loop, &p->timer);
}

/* Copies the list and allocates a slot for each socket; opens none. */
static bool
sockets_init(struct sockets *sockets, const struct admin_list *specs)
{
	struct sockets s = {.all = NULL};

	if (!admin_list_copy(specs, &s.specs))
		return false;
	s.all = calloc(specs->n + 1, sizeof(struct admin_socket *));
	if (!s.all) {
		admin_list_clear(&s.specs);
		return false;
	}
	*sockets = s;
	return true;
}

/* Leaves the sockets themselves to the caller. */
static void
sockets_fini(struct sockets *sockets)
{
	admin_list_clear(&sockets->specs);
	free(sockets->all);
	*sockets = (struct sockets){.all = NULL};
}

static bool
sockets_have(const struct sockets *sockets, const struct admin_socket *socket)
{
	for (size_t i = 0; i < sockets->n; i++)
		if (sockets->all[i] == socket)
			return true;
	return false;
}

static bool
open_sockets(struct admin *admin, struct err *err)
{
	struct sockets *s = &admin->sockets;

	for (size_t i = 0; i < s->specs.n; i++) {
		struct admin_socket *socket = admin_socket_open(
		    &s->specs.all[i], &admin->env, &admin->slices, err);

		if (!socket)
			return false;
		admin_socket_serve(socket);
		s->all[s->n++] = socket;
	}
	return true;
}

static const struct admin_view admin_view = {.facts = admin_facts,
    .memory = admin_memory,
    .list_sockets = admin_list_sockets};

struct admin *
admin_open(struct control *control, struct err *err)
{
	const struct admin_list *specs =
	    &control_model(control)->spec->global.admin;
	struct admin *admin = calloc(1, sizeof(*admin));

	if (!admin || !sockets_init(&admin->sockets, specs)) {
		free(admin);
		err_oom(err);
		return NULL;
	}
	list_init(&admin->left);
	admin->env = (struct command_env){.control = control,
	    .audit = &admin->audit,
	    .admin = admin,
	    .admin_view = &admin_view,
	    .expiring = &admin->expiring};
	expiring_init(&admin->expiring, &admin->env);
	client_slices_init(&admin->slices, control_loop(control));
	pulse_start(admin);
	if (!open_sockets(admin, err)) {
		admin_close(admin);
		return NULL;
	}
	return admin;
}

void
admin_close(struct admin *admin)
{
	if (!admin)
		return;
	for (size_t i = 0; i < admin->sockets.n; i++)
		admin_socket_close(admin->sockets.all[i]);
	admin_clients_close(&admin->left);
	expiring_fini(&admin->expiring);
	ev_timer_stop(admin->slices.loop, &admin->pulse.timer);
	client_slices_fini(&admin->slices);
	sockets_fini(&admin->sockets);
	free(admin);
}

/* -- a reload -- */

/* Returns the open socket of that address, unless the new list has it already;
 * or NULL. */
static struct admin_socket *
find_socket(const struct admin *admin, const struct admin_spec *spec)
{
	for (size_t i = 0; i < admin->sockets.n; i++) {
		struct admin_socket *socket = admin->sockets.all[i];

		if (!sockets_have(&admin->next, socket) &&
		    admin_socket_serves(socket, spec))
			return socket;
	}
	return NULL;
}

/* Returns NULL with err set on failure. */
static struct admin_socket *
keep_or_open(
    struct admin *admin, const struct admin_spec *spec, struct err *err)
{
	struct admin_socket *socket = find_socket(admin, spec);

	if (!socket)
		return admin_socket_open(
		    spec, &admin->env, &admin->slices, err);
	return admin_socket_prepare(socket, spec, err) ? socket : NULL;
}

bool
admin_prepare(struct admin *admin, const struct admin_list *specs,
    struct err_list *errors)
{
	struct sockets *next = &admin->next;
	size_t before = errors->n;

	if (!sockets_init(next, specs)) {
		err_list_add(errors, NULL, 0, "out of memory");
		return false;
	}
	for (size_t i = 0; i < next->specs.n; i++) {
		const struct admin_spec *spec = &next->specs.all[i];
		struct admin_socket *socket;
		struct err err;

		socket = keep_or_open(admin, spec, &err);
		if (socket)
			next->all[next->n++] = socket;
		else
			err_list_add(errors, spec->place.file, spec->place.line,
			    "admin: %s", err.text);
	}
	if (errors->n == before)
		return true;
	admin_cancel(admin);
	return false;
}

void
admin_cancel(struct admin *admin)
{
	struct sockets *next = &admin->next;

	for (size_t i = 0; i < next->n; i++)
		if (sockets_have(&admin->sockets, next->all[i]))
			admin_socket_cancel(next->all[i]);
		else
			admin_socket_close(next->all[i]);
	sockets_fini(next);
}

static void
leave_socket(struct admin *admin, struct admin_socket *socket,
    const char *where, struct changes *changes)
{
	int rc = admin_socket_leave(socket, &admin->left);

	if (rc < 0)
		changes_add(changes, true,
		    "global: admin: %s: its file cannot be removed: %s; remove "
		    "it by hand",
		    where, strerror(-rc));
}

static void
commit_one(const struct admin *admin, struct admin_socket *socket,
    const char *where, struct changes *changes)
{
	if (!sockets_have(&admin->sockets, socket))
		admin_socket_serve(socket);
	else if (admin_socket_commit(socket))
		changes_add(changes, false,
		    "global: admin: %s: its file was lost, it is bound anew",
		    where);
}

void
admin_commit(struct admin *admin, struct changes *changes)
{
	struct sockets before = admin->sockets, *next = &admin->next;

	/* The time-outs of clients that leave_socket begin now. */
	ev_now_update(admin->slices.loop);
	for (size_t i = 0; i < next->n; i++)
		commit_one(
		    admin, next->all[i], next->specs.all[i].text, changes);
	for (size_t i = 0; i < before.n; i++)
		if (!sockets_have(next, before.all[i]))
			leave_socket(admin, before.all[i],
			    before.specs.all[i].text, changes);
	admin->sockets = *next;
	*next = (struct sockets){.all = NULL};
	sockets_fini(&before);
}

/* -- statistics -- */

void
admin_facts(const struct admin *admin, struct info_facts *ret_facts)
{
	ret_facts->idle_percent = 100;
	if (!admin)
		return;
	ret_facts->idle_percent = admin->pulse.idle_percent;
	ret_facts->bytes_rate = admin->pulse.bytes_rate;
	ret_facts->admin_sockets = (unsigned)admin->sockets.n;
	ret_facts->admin_clients += admin_clients_count(&admin->left);
	for (size_t i = 0; i < admin->sockets.n; i++)
		ret_facts->admin_clients +=
		    admin_socket_clients(admin->sockets.all[i]);
}

void
admin_memory(const struct admin *admin, struct memory_use *ret_clients,
    struct memory_use *ret_self)
{
	struct memory_use clients = {.count = 0}, self = {.count = 0};

	for (size_t i = 0; admin && i < admin->sockets.n; i++)
		admin_socket_memory(admin->sockets.all[i], &clients, &self);
	if (admin) {
		admin_clients_memory(&admin->left, &clients);
		self.count = admin->sockets.n;
		memory_add_block(&self, admin);
		memory_add_block(&self, admin->sockets.all);
	}
	*ret_clients = clients;
	*ret_self = self;
}

void
admin_list_sockets(const struct admin *admin, bool json, FILE *out)
{
	char text[ADMIN_SOCKET_TEXT_SIZE];
	struct report r;

	report_begin(&r, json, out);
	report_head(&r, "# socket lvl processes\n");
	for (size_t i = 0; admin && i < admin->sockets.n; i++) {
		const struct admin_socket *s = admin->sockets.all[i];

		report_row(&r);
		report_put(&r, "socket", "%s", admin_socket_text(s, text));
		report_put(&r, "level", " %s",
		    command_level_name(admin_socket_level(s)));
		report_put(&r, "processes", " %s", "all");
		report_row_end(&r);
	}
	report_end(&r);
}
