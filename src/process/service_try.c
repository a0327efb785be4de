/* SPDX-License-Identifier: MIT
 * The failures that the unit would have, see service.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "model/model.h"
#include "process/capabilities.h"
#include "process/limits.h"
#include "process/server_sockets.h"
#include "process/service_internal.h"

struct attempt {
	const struct service *service; /* NULL: as `user` of the file says */
	const char *user;
	bool private_tmp;
	struct err_list *warnings;
};

/* Advice about a failure, in the unit and without it. */
struct advice {
	const char *unit, *alone;
};

#define READ_ALONE                                                             \
	"; let the user's group read it (chgrp, chmod g+r; for folders g+x)"
#define READ_UNIT                                                              \
	READ_ALONE                                                             \
	", outside of folders that the unit hides (ProtectHome=, PrivateTmp=)"
#define HOOK                                                                   \
	"the hook lfproxy-deploy for certbot and lego in lfproxy.ini(5), "     \
	"cert_dir"

static const struct advice read_advice = {READ_UNIT, READ_ALONE};
static const struct advice key_advice = {READ_UNIT
    "; for a key see LoadCredential= in lfproxy(8), and " HOOK,
    READ_ALONE "; for a key see " HOOK};
static const struct advice write_advice = {
    "; choose a path below the unit's RuntimeDirectory=, LogsDirectory= or "
    "StateDirectory=, or let the user write there and add ReadWritePaths= "
    "with systemctl edit",
    "; let the user write there, or choose another path"};
static const struct advice connect_advice = {
    "; connecting takes the right to write",
    "; connecting takes the right to write"};
static const struct advice no_advice = {"", ""};

/* Adds a warning with what fails and what to do about it. */
static void
warn(const struct attempt *a, struct spec_place place, const char *what,
    const struct advice *advice)
{
	err_list_add(a->warnings, place.file, place.line,
	    "warning: %sas user '%s': %s%s",
	    a->service ? "in " SERVICE_UNIT ", " : "", a->user, what,
	    a->service ? advice->unit : advice->alone);
}

/* Adds a warning of something that only the unit does. */
static void
warn_of_unit(const struct attempt *a, struct spec_place place, const char *what,
    const char *advice)
{
	warn(a, place, what, &(const struct advice){advice, advice});
}

/* Returns whether the user may use the path in that way, which is one of
 * access(2); if not, adds a warning. */
static bool
may(const struct attempt *a, struct spec_place place, const char *what,
    const char *path, int how, const struct advice *advice)
{
	char text[PATH_MAX + 200];
	int error = faccessat(AT_FDCWD, path, how, AT_EACCESS) < 0 ? errno : 0;

	if (error == 0)
		return true;
	snprintf(text, sizeof(text), "%s: '%s' cannot be %s: %s", what, path,
	    how & W_OK ? "written" : "read", strerror(error));
	warn(a, place, text, advice);
	return false;
}

/* Returns whether the path is in a /tmp that no other process has. */
static bool
is_private(const struct attempt *a, const char *path)
{
	return a->private_tmp && (service_is_below(path, "/tmp") ||
	                             service_is_below(path, "/var/tmp"));
}

/* Tries a file that lfproxy makes, or replaces, in its directory. */
static void
try_to_make(const struct attempt *a, struct spec_place place, const char *what,
    const char *path)
{
	char copy[PATH_MAX], *dir;

	snprintf(copy, sizeof(copy), "%s", path);
	dir = dirname(copy);
	if (!a->service || !service_makes(a->service, dir))
		(void)may(a, place, what, dir, W_OK | X_OK, &write_advice);
}

static void
try_to_append(const struct attempt *a, struct spec_place place,
    const char *what, const char *path)
{
	if (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0)
		(void)may(a, place, what, path, W_OK, &write_advice);
	else
		try_to_make(a, place, what, path);
}

static void
try_unix(const struct attempt *a, struct spec_place place, const char *what,
    const struct addr *addr)
{
	const char *path = addr->un.sun_path;

	/* Without a unit root binds the sockets, and then becomes the user. */
	if (addr->sa.sa_family != AF_UNIX || path[0] != '/' || !a->service)
		return;
	if (is_private(a, path))
		warn_of_unit(a, place, path,
		    " is in a folder that no other process sees (PrivateTmp=); "
		    "use a path below /run");
	else
		try_to_make(a, place, what, path);
}

static void
try_server(const struct attempt *a, const struct server_spec *s)
{
	const char *path = s->addr.un.sun_path;

	if (s->addr.sa.sa_family != AF_UNIX || path[0] != '/')
		return;
	if (is_private(a, path))
		warn_of_unit(a, s->place, path,
		    " is in a folder that the unit does not see (PrivateTmp=); "
		    "use a path below /run");
	else if (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0 ||
	         errno == EACCES)
		(void)may(a, s->place, "server", path, W_OK, &connect_advice);
}

static void
try_logs(const struct attempt *a, const char *key, const struct log_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->logs[i].kind == LOG_SINK_FILE)
			try_to_append(
			    a, list->logs[i].place, key, list->logs[i].where);
}

static void
try_sets(const struct attempt *a, const struct backend_spec *b)
{
	for (size_t i = 0; i < b->sets_n; i++) {
		const struct set_spec *set = &b->sets[i];
		const char *files[] = {
		    set->kind == DISCOVERY_FILE ? set->source : NULL, set->ca,
		    set->cert, set->key};

		for (size_t j = 0; j < sizeof(files) / sizeof(files[0]); j++)
			if (files[j] && files[j][0] == '/')
				(void)may(a, set->place, "servers", files[j],
				    R_OK, &read_advice);
	}
}

/* Tries the paths that are used after the configuration was read. */
static void
try_paths(const struct attempt *a, const struct spec *spec)
{
	const struct global_spec *g = &spec->global;
	const struct spec_place all = {
	    spec->files_n ? spec->files[0] : NULL, 0};

	for (size_t i = 0; i < g->admin.n; i++)
		try_unix(
		    a, g->admin.all[i].place, "admin", &g->admin.all[i].addr);
	try_logs(a, "log", &g->log);
	try_logs(a, "log_messages", &g->messages);
	if (g->http.users)
		(void)may(a, g->http.at.place, "http: users", g->http.users,
		    R_OK, &read_advice);
	if (g->state_file)
		try_to_make(a, all, "state_file", g->state_file);
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		try_logs(a, "log", &f->log);
		for (size_t j = 0; j < f->listens_n; j++)
			try_unix(a, f->listens[j].place, "listen",
			    &f->listens[j].addr);
	}
	for (size_t i = 0; i < spec->tls_n; i++)
		if (spec->tls[i].settings.keylog)
			try_to_append(a, spec->tls[i].place, "keylog",
			    spec->tls[i].settings.keylog);
	for (size_t i = 0; i < spec->backends_n; i++)
		try_sets(a, &spec->backends[i]);
	spec_for_each_server (b, s, spec)
		try_server(a, s);
}

/* Tries the steps of a start that take rights or descriptors. */
static void
try_rights(const struct attempt *a, const struct spec *spec, uint64_t kept)
{
	const uint64_t bind = UINT64_C(1) << CAP_NET_BIND_SERVICE;
	const struct spec_place all = {
	    spec->files_n ? spec->files[0] : NULL, 0};
	struct budget budget;
	struct err err;

	if (capabilities_needed(spec, HOLDER_LEAVES_ROOT) & bind & ~kept)
		warn_of_unit(a, all,
		    "a port below 1024 takes CAP_NET_BIND_SERVICE",
		    "; systemctl edit: AmbientCapabilities= and "
		    "CapabilityBoundingSet=");
	if (!limits_budget(spec, 0, &budget, &err) ||
	    !limits_become_user(spec, &err) ||
	    !server_sockets_try(spec, false, &err))
		warn(a, all, err.text, &no_advice);
}

/* Adds an error of the configuration that only the user has. */
static void
warn_of_error(const struct attempt *a, const struct err_entry *e)
{
	bool of_tls = strncmp(e->text, "[tls ", 5) == 0;

	warn(a, (struct spec_place){e->file, e->line}, e->text,
	    of_tls ? &key_advice : &read_advice);
}

static void
try_all(const struct attempt *a, const struct spec *outside, uint64_t kept,
    bool (*load)(const void *, struct spec **, struct err_list *),
    const void *arg)
{
	const uint64_t chroot = UINT64_C(1) << CAP_SYS_CHROOT;
	const struct spec_place none = {NULL, 0};
	struct err_list errors;
	struct spec *spec;

	if (a->service && outside->global.chroot && !(kept & chroot)) {
		warn_of_unit(a, none, "chroot takes CAP_SYS_CHROOT",
		    "; use RootDirectory= of the unit instead");
		return;
	}
	err_list_init(&errors);
	if (load(arg, &spec, &errors)) {
		try_paths(a, spec);
		if (a->service)
			try_rights(a, spec, kept);
		spec_free(spec);
	}
	for (size_t i = 0; errors.entries && i < errors.n; i++)
		warn_of_error(a, &errors.entries[i]);
	err_list_fini(&errors);
}

/* Runs in a process of its own. */
static void
run_attempt(const struct service *service, const struct spec *outside,
    bool (*load)(const void *, struct spec **, struct err_list *),
    const void *arg)
{
	const char *user = service_property(service, "User");
	bool inside = !outside->global.chroot && service_enter_view(service);
	const char *tmp = service_property(service, "PrivateTmp");
	struct err_list warnings;
	struct attempt a = {.service = service,
	    .user = *user ? user : "root",
	    .private_tmp = inside && *tmp && strcmp(tmp, "no") != 0,
	    .warnings = &warnings};
	uint64_t kept;
	struct err err;

	err_list_init(&warnings);
	if (service_become(service, &kept, &err))
		try_all(&a, outside, kept, load, arg);
	else
		warn(&a, (struct spec_place){NULL, 0}, err.text, &no_advice);
	err_list_print(&warnings, log_severity(LOG_LEVEL_WARNING), stderr);
	err_list_fini(&warnings);
}

/* Runs in a process of its own. */
static void
run_alone(const struct spec *outside,
    bool (*load)(const void *, struct spec **, struct err_list *),
    const void *arg)
{
	struct err_list warnings;
	struct attempt a = {
	    .user = outside->global.user, .warnings = &warnings};
	struct err err;

	err_list_init(&warnings);
	if (limits_become_user(outside, &err))
		try_all(&a, outside, 0, load, arg);
	else
		warn(&a, (struct spec_place){NULL, 0}, err.text, &no_advice);
	err_list_print(&warnings, log_severity(LOG_LEVEL_WARNING), stderr);
	err_list_fini(&warnings);
}

void
service_try(const struct service *service, const struct spec *spec,
    bool (*load)(const void *, struct spec **, struct err_list *),
    const void *arg)
{
	pid_t pid;

	if (!service->text && (geteuid() != 0 || !spec->global.user))
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (service->text)
			run_attempt(service, spec, load, arg);
		else
			run_alone(spec, load, arg);
		fflush(stderr);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
