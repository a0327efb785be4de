/* SPDX-License-Identifier: MIT
 * See admin.h.
 */
#include "admin/admin.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "admin/admin_directory.h"
#include "admin/admin_socket.h"
#include "commands/expiring.h"
#include "commands/report.h"
#include "stats/info.h"
#include "base/aligned_timer.h"
#include "base/clock.h"
#include "base/log.h"

#define PULSE_MS 1000

/* The activity of the process in the last second. */
struct pulse {
	ev_timer timer;
	uint64_t at_ns, cpu_ns, bytes; /* at the last sample */
	unsigned idle_percent;
	uint64_t bytes_rate;
};

/* The sockets, in the order of the file. */
struct sockets {
	struct admin_list specs; /* owned: the model's may be freed earlier */
	struct admin_socket **all;
	size_t n;
};

struct admin {
	struct sockets sockets;
	struct sockets next; /* between prepare and commit; all NULL: none */
	bool is_open;        /* the first commit is done */
	struct list left;    /* clients of sockets that are closed */
	struct ev_loop *loop;
	struct command_env env;
	struct audit audit;
	struct expiring expiring;
	struct pulse pulse;
};

static uint64_t
cpu_time_ns(void)
{
	return (uint64_t)clock() * (NS_PER_S / CLOCKS_PER_SEC);
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
	uint64_t bytes = info_bytes(admin->env.instance->model);

	(void)loop;
	(void)events;
	p->idle_percent = idle_percent(cpu - p->cpu_ns,
	    (now - p->at_ns) * threads_at_work(admin->env.pools));
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
	ev_init(&p->timer, on_pulse);
	p->timer.data = admin;
	aligned_timer_start(admin->loop, &p->timer, PULSE_MS);
}

/* -- a reload -- */

/* Frees the lists; the sockets themselves stay the caller's. */
static void
sockets_fini(struct sockets *sockets)
{
	admin_list_clear(&sockets->specs);
	free(sockets->all);
	*sockets = (struct sockets){.all = NULL};
}

/* Copies the list and allocates a slot for each socket; opens none. */
static bool
sockets_init(struct sockets *sockets, const struct admin_list *specs)
{
	if (!admin_list_copy(specs, &sockets->specs))
		return false;
	sockets->all = calloc(specs->n + 1, sizeof(struct admin_socket *));
	if (!sockets->all)
		admin_list_clear(&sockets->specs);
	return sockets->all != NULL;
}

/* Returns the open socket of that address that is not prepared yet, or NULL. */
static struct admin_socket *
find_socket(const struct admin *admin, const struct admin_spec *spec)
{
	for (size_t i = 0; i < admin->sockets.n; i++) {
		struct admin_socket *socket = admin->sockets.all[i];

		if (!admin_socket_is_prepared(socket) &&
		    admin_socket_serves(socket, spec))
			return socket;
	}
	return NULL;
}

/* Returns whether the socket of the spec is one of the start, or has been
 * missing since.  Such a socket gets its directory made, and lfproxy runs on
 * without it if that cannot be.  A socket that a reload adds is refused with
 * the reload, which then has changed nothing. */
static bool
is_of_start(const struct admin *admin, const struct admin_spec *spec)
{
	const struct admin_list *specs = &admin->sockets.specs;

	for (size_t i = 0; i < specs->n; i++)
		if (addr_equal(&specs->all[i].addr, &spec->addr))
			return true;
	return !admin->is_open;
}

/* Opens a socket.  Returns false with err set if lfproxy cannot do without. */
static bool
open_socket(struct admin *admin, const struct admin_spec *spec, struct err *err)
{
	const struct spec *model = admin->env.instance->model->spec;
	bool of_start = is_of_start(admin, spec);
	struct admin_socket *socket;

	if (of_start)
		admin_directory_make(spec, &model->global);
	socket = admin_socket_open(spec, &admin->env, admin->loop, err);
	if (socket) {
		admin->next.all[admin->next.n++] = socket;
		return true;
	}
	if (!of_start || !admin_directory_refuses(spec))
		return false;
	log_warning("running without the admin socket: %s", err->text);
	return true;
}

/* Opens a socket, or prepares the one that is open already. */
static bool
prepare_socket(
    struct admin *admin, const struct admin_spec *spec, struct err *err)
{
	struct admin_socket *socket = find_socket(admin, spec);

	if (!socket)
		return open_socket(admin, spec, err);
	if (!admin_socket_prepare(socket, spec, err))
		return false;
	admin->next.all[admin->next.n++] = socket;
	return true;
}

bool
admin_prepare(struct admin *admin, const struct admin_list *specs,
    struct err_list *errors)
{
	struct sockets *next = &admin->next;
	size_t before = errors->n;
	struct err err;

	if (!sockets_init(next, specs)) {
		err_list_add(errors, NULL, 0, "out of memory");
		return false;
	}
	for (size_t i = 0; i < next->specs.n; i++) {
		const struct admin_spec *spec = &next->specs.all[i];

		if (!prepare_socket(admin, spec, &err))
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
		admin_socket_cancel(next->all[i]);
	sockets_fini(next);
}

void
admin_follow_lists(struct admin *admin)
{
	expiring_follow_file(&admin->expiring);
}

void
admin_commit(struct admin *admin, struct changes *changes)
{
	struct sockets before = admin->sockets;

	expiring_follow_file(&admin->expiring);
	/* The time-outs of clients that leave begin now. */
	ev_now_update(admin->loop);
	for (size_t i = 0; i < before.n; i++)
		if (!admin_socket_is_prepared(before.all[i]))
			admin_socket_leave(
			    before.all[i], &admin->left, changes);
	admin->sockets = admin->next;
	admin->is_open = true;
	admin->next = (struct sockets){.all = NULL};
	for (size_t i = 0; i < admin->sockets.n; i++)
		admin_socket_commit(admin->sockets.all[i], changes);
	sockets_fini(&before);
}

/* -- statistics -- */

/* Fills in the fields about admin sockets and the pulse. */
static void
admin_facts(const struct admin *admin, struct info_facts *ret_facts)
{
	ret_facts->idle_percent = admin->pulse.idle_percent;
	ret_facts->bytes_rate = admin->pulse.bytes_rate;
	ret_facts->admin_sockets = (unsigned)admin->sockets.n;
	ret_facts->admin_clients = admin_clients_count(&admin->left);
	for (size_t i = 0; i < admin->sockets.n; i++)
		ret_facts->admin_clients += admin_clients_count(
		    admin_socket_clients(admin->sockets.all[i]));
}

/* Writes the answer to `show cli sockets`. */
static void
admin_list_sockets(const struct admin *admin, bool json, FILE *out)
{
	char text[ADMIN_SOCKET_TEXT_SIZE];
	struct report r;

	report_begin(&r, json, out);
	report_head(&r, "# socket lvl processes\n");
	for (size_t i = 0; i < admin->sockets.n; i++) {
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

/* -- life -- */

static const struct admin_view admin_view = {
    .facts = admin_facts, .list_sockets = admin_list_sockets};

void
admin_started(struct admin *admin, struct control *control)
{
	command_env_set_parts(&admin->env, control);
}

struct admin *
admin_open(struct control *control, struct err *err)
{
	const struct admin_list *specs =
	    &control->instance.model->spec->global.admin;
	struct admin *admin = calloc(1, sizeof(*admin));
	struct changes changes; /* none at the start */

	if (!admin || !sockets_init(&admin->next, specs)) {
		free(admin);
		err_oom(err);
		return NULL;
	}
	list_init(&admin->left);
	audit_init(&admin->audit);
	admin->env = (struct command_env){.audit = &admin->audit,
	    .admin = admin,
	    .admin_view = &admin_view,
	    .expiring = &admin->expiring};
	admin_started(admin, control);
	expiring_init(&admin->expiring, &admin->env);
	admin->loop = admin->env.instance->loop;
	pulse_start(admin);
	for (size_t i = 0; i < specs->n; i++)
		if (!prepare_socket(admin, &admin->next.specs.all[i], err)) {
			admin_cancel(admin);
			admin_close(admin);
			return NULL;
		}
	changes_init(&changes);
	admin_commit(admin, &changes);
	changes_fini(&changes);
	return admin;
}

const struct command_env *
admin_env(const struct admin *admin)
{
	return &admin->env;
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
	ev_timer_stop(admin->loop, &admin->pulse.timer);
	sockets_fini(&admin->sockets);
	free(admin);
}

/* -- an upgrade -- */

void
admin_hold(struct admin *admin)
{
	for (size_t i = 0; i < admin->sockets.n; i++)
		admin_socket_hold(admin->sockets.all[i]);
}

void
admin_resume(struct admin *admin)
{
	for (size_t i = 0; i < admin->sockets.n; i++)
		admin_socket_resume(admin->sockets.all[i]);
}

void
admin_report_sockets(const struct admin *admin,
    void (*add)(void *to, const struct addr *asked, int fd), void *to)
{
	for (size_t i = 0; i < admin->sockets.n; i++)
		add(to, &admin->sockets.specs.all[i].addr,
		    admin_socket_fd(admin->sockets.all[i]));
}

void
admin_hand_over(struct admin *admin)
{
	for (size_t i = 0; i < admin->sockets.n; i++)
		admin_socket_hand_over(admin->sockets.all[i]);
}
