/* SPDX-License-Identifier: MIT
 * See listener.h.
 */
#include "listeners/listener.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/notify.h"
#include "net/file_owner.h"
#include "net/inherited.h"
#include "net/sock.h"
#include "net/sock_options.h"
#include "proxy/acceptor.h"

unsigned
listener_number(const struct listener *l)
{
	return (unsigned)(l->next_spec - l->next->spec->listens) + 1;
}

struct listener *
listener_new(struct frontend *frontend, const struct listen_spec *spec)
{
	struct listener *l = calloc(1, sizeof(*l));

	if (!l || !(l->frontend = strdup(frontend->spec->name))) {
		free(l);
		return NULL;
	}
	l->addr = spec->addr;
	l->both_families = spec->both_families;
	l->in_range = spec->in_range;
	l->mode = spec->mode;
	l->next = frontend;
	l->next_spec = spec;
	return l;
}

void
listener_free(struct listener *l)
{
	free(l->frontend);
	free(l);
}

/* Gives the socket's file the owner and the group of the spec. */
static bool
give_unix_file(const struct listen_spec *spec, struct err *err)
{
	const char *path = spec->addr.un.sun_path;
	const struct passwd *user = NULL;
	const struct group *group = NULL;
	int fd, rc;

	if (spec->user && !(user = getpwnam(spec->user)))
		return err_set(err, "unknown user '%s'", spec->user);
	if (spec->group && !(group = getgrnam(spec->group)))
		return err_set(err, "unknown group '%s'", spec->group);
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	rc = fd < 0 ? -errno
	            : file_owner_set(fd, user ? user->pw_uid : (uid_t)-1,
	                  group ? group->gr_gid : (gid_t)-1);
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		return true;
	return err_set(err, "cannot give unix:%.108s to%s%s%s%s: %s", path,
	    user ? " user " : "", user ? spec->user : "",
	    group ? " group " : "", group ? spec->group : "", strerror(-rc));
}

int
listener_bind(const struct listener *l, struct err *err)
{
	const struct listen_spec *spec = l->next_spec;
	int fd = sock_listen_with(
	    &spec->addr, spec->both_families, spec->mode, &spec->sock, err);

	if (fd < 0 || spec->addr.sa.sa_family != AF_UNIX ||
	    give_unix_file(spec, err))
		return fd;
	close(fd);
	listener_remove_file(l);
	return -1;
}

/* Returns the options that the socket is to have.  Options that bind(2) fixes
 * keep their present values until the socket is bound again. */
static struct sock_options
options_to_be(const struct listener *l)
{
	struct sock_options o = l->next_spec->sock;

	o.v6only = l->sock.v6only;
	o.reuseport = l->sock.reuseport;
	o.transparent = l->sock.transparent;
	return o;
}

bool
listener_change(struct listener *l, struct err *err)
{
	const struct sock_options to = options_to_be(l);
	char text[ADDR_TEXT_SIZE];
	struct sock_refusal refusal;

	if (!sock_options_change(
	        acceptor_fd(l->acceptor), !l->held, &l->sock, &to, &refusal))
		return err_set(err,
		    "the option %s of %s cannot be changed: %s%s%s",
		    refusal.option, addr_text(&l->addr, text),
		    strerror(refusal.error), sock_refusal_hint(&refusal),
		    refusal.error == ENOPROTOOPT
		        ? "; with this kernel that takes a restart"
		        : "");
	l->changed = true;
	return true;
}

void
listener_put_back(struct listener *l)
{
	const struct sock_options from = options_to_be(l);
	struct sock_refusal refusal;
	char text[ADDR_TEXT_SIZE];

	if (l->changed && !sock_options_put_back(acceptor_fd(l->acceptor),
	                      !l->held, &from, &l->sock, &refusal))
		log_error("the option %s of %s, changed for a reload that was "
		          "refused, cannot be put back: %s%s",
		    refusal.option, addr_text(&l->addr, text),
		    strerror(refusal.error), sock_refusal_hint(&refusal));
	l->changed = false;
}

static void
warn_of_cut_option(const char *sentence, void *arg)
{
	const struct listener *l = arg;

	log_warning("listen = %s (frontend %s): %s", l->next_spec->text,
	    l->frontend, sentence);
}

struct addr
listener_bound_addr(const struct listener *l)
{
	struct addr addr = l->addr;

	if (addr.sa.sa_family != AF_UNIX && !l->held)
		(void)sock_local_addr(acceptor_fd(l->acceptor), &addr);
	return addr;
}

void
listener_warn_of_cut_options(struct listener *l)
{
	if (l->addr.sa.sa_family != AF_UNIX)
		sock_options_curtailed(acceptor_fd(l->acceptor),
		    &l->next_spec->sock, true, warn_of_cut_option, l);
}

void
listener_remove_file(const struct listener *l)
{
	if (l->addr.sa.sa_family == AF_UNIX && !inherited_files_are_shared())
		(void)unlink(l->addr.un.sun_path);
}

/* Applies the new owner and mode of a unix socket's file.  What the system
 * refuses takes a restart, perhaps as root. */
static void
change_unix_file(struct listener *l, struct changes *changes)
{
	const char *path = l->addr.un.sun_path;
	struct err err;

	if (l->addr.sa.sa_family != AF_UNIX)
		return;
	if (!give_unix_file(l->next_spec, &err))
		changes_add(changes, true, "%s", err.text);
	if (l->mode == l->next_spec->mode)
		return;
	if (chmod(path, l->next_spec->mode) == 0)
		l->mode = l->next_spec->mode;
	else
		changes_add(changes, true,
		    "cannot give unix:%.108s the mode %04o: %s", path,
		    (unsigned)l->next_spec->mode, strerror(errno));
}

/* Returns whether the socket may be shut.  shutdown(2) of a socket of the
 * service manager's would end the listening there as well: the next process
 * could not use the socket. */
static bool
may_shut(const struct listener *l)
{
	return !addr_is_descriptor(&l->addr);
}

void
listener_hold(struct listener *l)
{
	if (!l->held)
		l->held = acceptor_hold(l->acceptor, may_shut(l), &l->at);
}

bool
listener_unhold(struct listener *l, struct err *err)
{
	char text[ADDR_TEXT_SIZE];
	int rc;

	if (!l->held)
		return true;
	rc = acceptor_unhold(l->acceptor, &l->at, l->sock.backlog);
	if (rc < 0)
		return err_set(err, "cannot listen on %s again: %s",
		    addr_text(&l->at, text), strerror(-rc));
	l->held = false;
	return true;
}

#define STORE_NAME_SIZE (ADDR_TEXT_SIZE + 8)

/* Writes a name for the socket that the manager accepts.  Returns out. */
static const char *
store_name(const struct listener *l, char out[STORE_NAME_SIZE])
{
	struct addr addr = listener_bound_addr(l);
	char text[ADDR_TEXT_SIZE];

	snprintf(out, STORE_NAME_SIZE, INHERITED_STORED "%s",
	    addr_text(&addr, text));
	for (char *c = out; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '.')
			*c = '-';
	return out;
}

/* Leaves out unix sockets: the manager removes their directory, and with it the
 * file, before another process could be given the socket.  Also leaves out
 * sockets with names: the manager has these, and a copy would come in
 * addition. */
void
listener_store(struct listener *l)
{
	char name[STORE_NAME_SIZE];

	if (l->stored || !l->opened || l->closing || l->held ||
	    l->addr.sa.sa_family == AF_UNIX || addr_is_descriptor(&l->addr))
		return;
	l->stored = true;
	notify_store(acceptor_fd(l->acceptor), store_name(l, name));
}

bool
listener_register(struct listener *l, struct pool *pool, struct err *err)
{
	int rc = acceptor_register(l->acceptor, pool_shard(pool, 0));
	char text[ADDR_TEXT_SIZE];

	return rc == 0 ||
	       err_set(err,
	           "frontend %s: cannot wait for connections on %s: %s",
	           l->frontend, addr_text(&l->addr, text), strerror(-rc));
}

static void
open_listener(struct listener *l, struct pool *pool)
{
	acceptor_start(l->acceptor);
	l->pool = pool;
	l->opened = true;
}

void
listener_stop(struct listener *l)
{
	char name[STORE_NAME_SIZE];

	if (l->stored)
		notify_forget(store_name(l, name));
	l->stored = false;
	listener_remove_file(l);
	l->closing = true;
	if (may_shut(l))
		acceptor_shut(l->acceptor);
	acceptor_stop(l->acceptor);
}

static void
keep_listener(struct listener *l, struct pool *pool, struct changes *changes)
{
	char *name = strdup(l->next->spec->name);

	if (name) {
		free(l->frontend);
		l->frontend = name;
	}
	l->in_range = l->next_spec->in_range;
	change_unix_file(l, changes);
	acceptor_set_frontend(l->acceptor, l->next, listener_number(l));
	if (l->pool != pool)
		acceptor_move(l->acceptor, pool_shard(pool, 0));
	l->pool = pool;
}

/* Disables or enables the socket as its frontend is: the socket may be another
 * frontend's now. */
static void
hold_as_frontend(
    struct listener *l, struct frontend *f, struct changes *changes)
{
	struct err err;

	frontend_follow_disabled(f);
	if (f->state->admin == FRONTEND_PAUSED)
		listener_hold(l);
	else if (!listener_unhold(l, &err))
		changes_add(
		    changes, false, "frontend %s: %s", l->frontend, err.text);
}

/* Returns whether the options are equal that the kernel accepts but may cut
 * short. */
static bool
asks_the_same(const struct sock_options *a, const struct sock_options *b)
{
	return a->sndbuf == b->sndbuf && a->rcvbuf == b->rcvbuf &&
	       a->fast_open == b->fast_open && a->backlog == b->backlog;
}

static void
take_options(struct listener *l)
{
	const struct sock_options to =
	    l->opened ? options_to_be(l) : l->next_spec->sock;

	if (l->changed && !l->in_range && l->addr.sa.sa_family != AF_UNIX &&
	    !asks_the_same(&l->sock, &to))
		sock_options_curtailed(
		    acceptor_fd(l->acceptor), &to, true, warn_of_cut_option, l);
	l->sock = to;
	l->changed = false;
}

void
listener_commit(struct listener *l, struct pool *pool, struct changes *changes)
{
	take_options(l);
	if (l->opened)
		keep_listener(l, pool, changes);
	else
		open_listener(l, pool);
	hold_as_frontend(l, l->next, changes);
	l->next = NULL;
	l->next_spec = NULL;
}
