/* SPDX-License-Identifier: MIT
 * See world.h.
 */
#include "fuzz/world.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/config.h"
#include "fuzz/fuzz.h"
#include "live/reload.h"
#include "net/sock.h"

static struct world world;

/* Reads a file and compares it: most of the time that a million inputs would
 * take, and always the same but for the admin sockets, which come, change and
 * go.  One of so many is enough. */
#define RELOADS 16

#define SOME_SOCKETS                                                           \
	"admin = %1$s/first.sock mode=0600\nadmin = %1$s/second.sock\n"
#define OTHER_SOCKETS                                                          \
	"admin = %1$s/third.sock level=user\n"                                 \
	"admin = %1$s/first.sock level=operator timeout=1s maxconn=3\n"

static void put_file(const struct world *w, bool others);

typedef void reload_done(bool ok, const struct reload_result *result);
struct upgrade *__wrap_upgrade_begin(
    struct lineage *lineage, const char *path, struct err *err);
struct reload *__wrap_control_reload(
    struct control *control, reload_done *when_done);
struct reload *__real_control_reload(
    struct control *control, reload_done *when_done);
struct reload *
__wrap_control_reload(struct control *control, reload_done *when_done)
{
	static unsigned n;

	if (n++ % RELOADS > 0)
		return NULL;
	put_file(&world, n / RELOADS % 2 == 0);
	return __real_control_reload(control, when_done);
}

/* No program is started. */
struct upgrade *
__wrap_upgrade_begin(struct lineage *lineage, const char *path, struct err *err)
{
	(void)lineage;
	(void)path;
	err_set(err, "not here");
	return NULL;
}

/* Interval and timeouts are long: checks are another target's business, and
 * sessions stay. */
static const char config[] =
    "[global]\n"
    "log = off\n"
    "node = edge-1\n"
    "http = 127.0.0.1:0 hosts=a,x\n"
    "state_file = %1$s/state\n"
    "%2$s"
    "[defaults]\n"
    "timeout_client = 24h\n"
    "timeout_server = 24h\n"
    "[pool main]\n"
    "threads = 2\n"
    "[pool side]\n"
    "threads = 1\n"
    "[frontend web]\n"
    "listen = unix:%1$s/web.sock\n"
    "backend = app\n"
    "[frontend two]\n"
    "listen = unix:%1$s/two.sock\n"
    "listen = 127.0.0.1:0\n"
    "backend = app weight=10\n"
    "backend = raw weight=1\n"
    "pool = side\n"
    "limit = sessions=1000 rate=1000/s per=client\n"
    "[backend app]\n"
    "balance = leastconn\n"
    "check = http path=/up interval=1h\n"
    "agent = on port=1 interval=1h\n"
    "server = a unix:%1$s/a.sock agent=off weight=2\n"
    "server = b unix:%1$s/b.sock agent=off weight=50 maxconn=10\n"
    "server = c 127.0.0.1:1\n"
    "[backend raw]\n"
    "check = off\n"
    "slow_start = 10s\n"
    "server = d unix:%1$s/d.sock\n"
    "server = e 127.0.0.1:2 backup\n"
    "server = f 127.0.0.1:3 track=app/b\n";

static const char *const listening[WORLD_SERVERS] = {"a", "b", "d"};

/* What every command that changes something is undone by. */
static const char *const healing[] = {
    "set server app/a state ready",
    "set server app/b state ready",
    "set server app/c state ready",
    "set server raw/d state ready",
    "set server raw/e state ready",
    "set server app/a weight 2",
    "set server app/b weight 50",
    "set server app/c weight 1",
    "set server raw/d weight 1",
    "set server raw/e weight 1",
    "set server app/c addr 127.0.0.1 port 1",
    "set server raw/e addr 127.0.0.1 port 2",
    "enable health app/a",
    "enable health app/b",
    "enable health app/c",
    "enable agent app/c",
    "set server app/a health up",
    "set server app/b health up",
    "set server app/c health up",
    "set maxconn server app/a 0",
    "set maxconn server app/b 10",
    "set maxconn server app/c 0",
    "set maxconn server raw/d 0",
    "set maxconn server raw/e 0",
    "enable frontend web",
    "enable frontend two",
    "set maxconn frontend web 0",
    "set maxconn frontend two 0",
    "set maxconn global 0",
    "set rate-limit connections global 0",
    "set rate-limit sessions global 0",
    "set pool main threads 2",
    "set pool side threads 1",
    "set pool main shards auto",
    "set pool main promotion adaptive",
    "set pool main order lifo",
    "set pool main cpus all",
};

static void
run(struct world *w, const char *text)
{
	struct command_mode mode = {.level = LEVEL_ADMIN};
	struct answer_rest *rest;
	char *line = strdup(text), *answer = NULL;
	size_t n;
	FILE *out = open_memstream(&answer, &n);

	ENSURE(line && out);
	rest = command_run(&w->env, &mode, line, NULL, out);
	if (rest)
		rest->free(rest);
	fclose(out);
	free(answer);
	free(line);
}

static void
put_path(const struct world *w, const char *name, struct addr *ret_addr)
{
	memset(ret_addr, 0, sizeof(*ret_addr));
	ret_addr->un.sun_family = AF_UNIX;
	ENSURE(snprintf(ret_addr->un.sun_path, sizeof(ret_addr->un.sun_path),
	           "%s/%s", w->dir, name) < (int)sizeof(ret_addr->un.sun_path));
	ret_addr->len = sizeof(ret_addr->un);
}

static void
listen_all(struct world *w)
{
	for (int i = 0; i < WORLD_SERVERS; i++) {
		struct addr addr;
		struct err err;
		char name[16];

		snprintf(name, sizeof(name), "%s.sock", listening[i]);
		put_path(w, name, &addr);
		w->servers[i] = sock_listen(&addr, false, 0600, &err);
		ENSURE(w->servers[i] >= 0);
	}
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static bool
is_open(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

	return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Sessions, and checks, which nobody answers. */
static void
accept_all(struct world *w)
{
	for (int i = 0; i < WORLD_SERVERS; i++) {
		int fd;

		while ((fd = accept4(w->servers[i], NULL, NULL,
		            SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
			int *end = &w->ends[w->ends_n++ % WORLD_ENDS];

			close_fd(end);
			*end = fd;
		}
	}
}

/* That they get through, the pool's threads see to, some time. */
static void
keep_sessions(struct world *w)
{
	for (int i = 0; i < WORLD_SESSIONS; i++) {
		struct addr addr;
		bool connected;

		if (w->clients[i] >= 0 && is_open(w->clients[i]))
			continue;
		close_fd(&w->clients[i]);
		put_path(w, i ? "web.sock" : "two.sock", &addr);
		w->clients[i] = sock_connect(&addr, &connected);
	}
	accept_all(w);
}

static int
remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void
world_free(void)
{
	struct world *w = &world;

	for (int i = 0; i < WORLD_SESSIONS; i++)
		close_fd(&w->clients[i]);
	for (int i = 0; i < WORLD_ENDS; i++)
		close_fd(&w->ends[i]);
	for (int i = 0; i < WORLD_SERVERS; i++)
		close_fd(&w->servers[i]);
	expiring_fini(&w->expiring);
	endpoints_close(w->endpoints);
	control_free(w->control);
	(void)nftw(w->dir, remove_entry, 4, FTW_DEPTH | FTW_PHYS);
}

static void
put_path_of_file(const struct world *w, char *path, size_t size)
{
	snprintf(path, size, "%s/lfproxy.ini", w->dir);
}

static void
put_file(const struct world *w, bool others)
{
	char path[128], sockets[500];
	FILE *file;

	snprintf(sockets, sizeof(sockets),
	    others ? OTHER_SOCKETS : SOME_SOCKETS, w->dir);
	put_path_of_file(w, path, sizeof(path));
	file = fopen(path, "w");
	ENSURE(file);
	fprintf(file, config, w->dir, sockets);
	ENSURE(fclose(file) == 0);
}

static struct spec *
load(struct world *w, char *path, size_t size)
{
	struct spec *spec = NULL;
	struct err_list errors;

	put_path_of_file(w, path, size);
	put_file(w, false);
	err_list_init(&errors);
	if (!config_load_all((const char *[]){path}, 1, NULL, &spec, &errors))
		err_list_print(&errors, "", stderr);
	err_list_fini(&errors);
	ENSURE(spec);
	return spec;
}

static void
start(struct world *w)
{
	const char *tmp = getenv("TMPDIR");
	char path[128];
	const char *file = path;
	struct spec *spec;
	struct err err;

	ENSURE(snprintf(w->dir, sizeof(w->dir), "%s/lfproxy-fuzz.XXXXXX",
	           tmp ? tmp : "/tmp") < (int)sizeof(w->dir));
	ENSURE(mkdtemp(w->dir));
	listen_all(w);
	spec = load(w, path, sizeof(path));
	w->control = control_new(spec, &file, 1, &err);
	ENSURE(w->control);
	w->endpoints = endpoints_open(w->control, &err);
	ENSURE(w->endpoints && control_start(w->control, &err));
	endpoints_started(w->endpoints);
	/* They are the driver's. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	w->loop = w->control->instance.loop;
	audit_init(&w->audit);
	w->env =
	    (struct command_env){.audit = &w->audit, .expiring = &w->expiring};
	command_env_set_parts(&w->env, w->control);
	expiring_init(&w->expiring, &w->env);
	for (int i = 0; i < WORLD_SESSIONS; i++)
		w->clients[i] = -1;
	for (int i = 0; i < WORLD_ENDS; i++)
		w->ends[i] = -1;
	keep_sessions(w);
	atexit(world_free);
}

struct world *
world_get(void)
{
	if (!world.control)
		start(&world);
	return &world;
}

void
world_turn(struct world *w)
{
	ev_run(w->loop, EVRUN_NOWAIT);
}

void
world_heal(struct world *w, bool reload)
{
	accept_all(w);
	if (w->audit.list.own == w->healed_at)
		return;
	if (reload)
		reload_unref(__real_control_reload(w->control, NULL));
	for (size_t i = 0; i < sizeof(healing) / sizeof(healing[0]); i++)
		run(w, healing[i]);
	world_turn(w);
	keep_sessions(w);
	w->healed_at = w->audit.list.own;
}
