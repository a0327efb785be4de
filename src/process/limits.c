/* SPDX-License-Identifier: MIT
 * See limits.h.
 */
#include "process/limits.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "model/check_rules.h"
#include "model/model.h"
#include "process/capabilities.h"

/* The most pipes.  A full one takes a megabyte in the kernel. */
#define PIPES_MAX           512u
#define RESERVE_DESCRIPTORS 128

/* Leaves out the descriptor of the directory itself. */
size_t
limits_count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t n = 0;

	if (!dir)
		return 3;
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n - 1;
}

/* Descriptors of the control loop: an admin socket, the one that wakes the
 * loop, and so on. */
#define LOOP_DESCRIPTORS 4
/* Descriptors of the keeper: an eventfd and the set of alarms. */
#define KEEPER_DESCRIPTORS 2
/* Descriptors of the HTTP port: the port, its epoll set and the one that wakes
 * it, and its clients. */
#define HTTP_DESCRIPTORS 267
/* Further descriptors of the HTTP port with TLS: a socket pair for each
 * client. */
#define HTTP_TLS_DESCRIPTORS 528
/* Descriptors of a shard: an epoll set, the one that wakes its leader, and an
 * alarm. */
#define SHARD_DESCRIPTORS 3

/* Descriptors for following the files of [tls] sections: inotify, a directory
 * and a file that is being read. */
#define TLS_DESCRIPTORS 3

/* Descriptors for [list] sections: inotify; and for a reading by the watch and
 * one by a reload, each: a directory or a file, its copy, and the copy as it is
 * opened. */
#define LIST_DESCRIPTORS 7

/* Returns the descriptors for the name servers, if servers are given by name: a
 * socket for datagrams and one for TCP for each name server, that is, those of
 * [resolver] or the three that the system may have; and a file that is being
 * read. */
static size_t
count_resolver(const struct spec *spec)
{
	size_t servers = spec->resolver.nameservers_n;

	spec_for_each_server (b, s, spec)
		if (s->host)
			return 2 * (servers > 0 ? servers : 3) + 1;
	return 0;
}

/* The sessions that another process may accept before it leaves. */
#define FORMER_SPARE 64

/* The number of admin clients that the reserve covers. */
#define RESERVE_ADMIN_CLIENTS 64

/* Returns the descriptors of the admin sockets and clients, except those
 * counted elsewhere: the first socket (LOOP_DESCRIPTORS) and the clients that
 * the reserve covers. */
static size_t
count_admin(const struct admin_list *admin)
{
	size_t clients = 0;

	for (size_t i = 0; i < admin->n; i++)
		clients += admin->all[i].maxconn;
	return (admin->n > 1 ? admin->n - 1 : 0) +
	       (clients > RESERVE_ADMIN_CLIENTS
	               ? clients - RESERVE_ADMIN_CLIENTS
	               : 0);
}

static size_t
count_own(const struct spec *spec, size_t open)
{
	size_t own = open + LOOP_DESCRIPTORS + KEEPER_DESCRIPTORS +
	             count_admin(&spec->global.admin) + count_resolver(spec);

	if (spec->global.http.at.text)
		own += HTTP_DESCRIPTORS;
	if (spec->global.http.at.text && spec->global.http.at.tls.is_set)
		own += HTTP_TLS_DESCRIPTORS;
	if (spec->lists_n > 0)
		own += LIST_DESCRIPTORS;
	if (spec->tls_n > 0)
		own += TLS_DESCRIPTORS;
	for (size_t i = 0; i < spec->pools_n; i++)
		own += SHARD_DESCRIPTORS * spec->pools[i].shards;
	for (size_t i = 0; i < spec->frontends_n; i++)
		own += spec->frontends[i].listens_n;
	spec_for_each_server (b, s, spec)
		own += check_rules_on(b, s) + agent_rules_on(b, s);
	return own;
}

/* Raises the soft limit to the hard one, and both to `wanted` if that is more
 * and the process may.  Returns the soft limit. */
static size_t
raise_descriptors(size_t wanted)
{
	struct rlimit limit, more = {.rlim_cur = wanted, .rlim_max = wanted};

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1024;
	if (wanted > limit.rlim_max && setrlimit(RLIMIT_NOFILE, &more) == 0)
		return wanted;
	more.rlim_cur = more.rlim_max = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &more) == 0 ? (size_t)limit.rlim_max
	                                            : (size_t)limit.rlim_cur;
}

/* Divides the descriptors.  If there are very few, the reserve shrinks: half of
 * all descriptors always belong to the sessions. */
static struct budget
divide_descriptors(size_t descriptors, size_t own)
{
	size_t half = descriptors / 2, sessions;
	struct budget b = {
	    .descriptors = descriptors, .own = own < half ? own : half};

	b.reserve = half - b.own < RESERVE_DESCRIPTORS ? half - b.own
	                                               : RESERVE_DESCRIPTORS;
	sessions = (b.descriptors - b.own - b.reserve) / LIMITS_PER_SESSION;
	b.sessions = sessions < MAXCONN_MAX ? (uint32_t)sessions : MAXCONN_MAX;
	return b;
}

/* Makes room for the sessions of another process, which go on even if the limit
 * is lower now.  More may come until that process has left, and they may use
 * the reserve.  Returns false with err set if the descriptors do not
 * suffice. */
static bool
make_room_for_former(struct budget *b, uint32_t former, struct err *err)
{
	size_t wanted = (size_t)former + former / 4 + FORMER_SPARE;
	size_t most = (b->descriptors - b->own) / LIMITS_PER_SESSION;

	if (former == 0 || wanted <= b->sessions)
		return true;
	if (former > b->sessions && former > most)
		return err_set(err,
		    "the process to take over from has %u session%s, and this "
		    "one may have %zu descriptors, enough for %zu; raise the "
		    "limit (LimitNOFILE, ulimit -n)",
		    former, text_s(former), b->descriptors, most);
	if (wanted > most)
		wanted = most;
	if (wanted > MAXCONN_MAX)
		wanted = MAXCONN_MAX;
	if (wanted > b->sessions)
		b->sessions = (uint32_t)wanted;
	return true;
}

bool
limits_budget(const struct spec *spec, uint32_t former,
    struct budget *ret_budget, struct err *err)
{
	uint32_t maxconn = spec->global.maxconn;
	size_t open = limits_count_open(), own = count_own(spec, open), wanted;
	struct budget b;
	size_t descriptors;

	wanted = maxconn > 0 ? own + RESERVE_DESCRIPTORS +
	                           (size_t)maxconn * LIMITS_PER_SESSION
	                     : 0;
	descriptors = raise_descriptors(wanted);
	if (descriptors < LIMITS_DESCRIPTORS_MIN)
		return err_set(err,
		    "%zu open descriptors are not enough; allow at least %d, "
		    "two for each session are needed (ulimit -n)",
		    descriptors, LIMITS_DESCRIPTORS_MIN);
	b = divide_descriptors(descriptors, own);
	b.open = open;
	b.strict = spec->global.strict_limits || maxconn <= b.sessions;
	if (!b.strict && maxconn + b.own + b.reserve <= b.descriptors)
		log_warning("maxconn = %u leaves too few descriptors for "
		            "sessions that have a server, %u of which would "
		            "take them all",
		    maxconn, b.sessions);
	else if (maxconn > b.sessions)
		return err_set(err,
		    "maxconn = %u takes %zu descriptors, and this process may "
		    "have %zu, enough for %u session%s; raise the limit "
		    "(LimitNOFILE, ulimit -n) or lower maxconn",
		    maxconn, wanted, b.descriptors, b.sessions,
		    text_s(b.sessions));
	if (maxconn > 0)
		b.sessions = maxconn;
	if (!make_room_for_former(&b, former, err))
		return false;
	b.by_maxconn = maxconn > 0 && b.sessions == maxconn;
	*ret_budget = b;
	return true;
}

/* The sessions whose descriptors the process sets aside for itself anyway. */
#define SESSIONS_SPARE 32

bool
limits_suffice(const struct budget *budget, const struct spec *spec,
    const char *what, struct err *err)
{
	uint32_t n = divide_descriptors(
	    budget->descriptors, count_own(spec, budget->open))
	                 .sessions;

	return !budget->strict || n + SESSIONS_SPARE >= budget->sessions ||
	       err_set(err,
	           "with %s the descriptors are enough for %u session%s and "
	           "not for %u; allow more (LimitNOFILE= in the unit) and "
	           "restart",
	           what, n, text_s(n), budget->sessions);
}

uint32_t
limits_pipes(const struct spec *spec, struct budget *budget)
{
	if (spec->global.maxconn > 0 || budget->sessions < 9 * PIPES_MAX)
		return (uint32_t)(budget->reserve / 8);
	budget->sessions -= PIPES_MAX;
	return PIPES_MAX;
}

/* Sets err to why the user or the group could not be taken on.  Always returns
 * false. */
static bool
fail_to_become(const struct global_spec *global, int error, struct err *err)
{
	const char *key = global->user ? "user" : "group";
	const char *name = global->user ? global->user : global->group;

	if (error == EPERM)
		return err_set(err,
		    "%s = %s takes the rights of root (CAP_SETUID and "
		    "CAP_SETGID), but this process runs as uid %u without "
		    "them; start it as root, or leave %s out",
		    key, name, (unsigned)geteuid(), key);
	return err_set(
	    err, "cannot become %s '%s': %s", key, name, strerror(error));
}

/* Takes on the group.  With a group alone, root stays root, but leaves root's
 * other groups. */
static bool
become_group(const struct global_spec *global, gid_t gid, struct err *err)
{
	int rc = 0;

	if (global->user)
		rc = initgroups(global->user, gid);
	else if (geteuid() == 0)
		rc = setgroups(0, NULL);
	if (rc < 0 || setgid(gid) < 0)
		return fail_to_become(global, errno, err);
	return true;
}

/* Lets threads return from a higher nice value (handshake_nice) to that of the
 * process, which root may do in any case. */
static void
permit_own_nice(void)
{
	rlim_t own = (rlim_t)(20 - getpriority(PRIO_PROCESS, 0));
	struct rlimit limit;

	if (getrlimit(RLIMIT_NICE, &limit) < 0 || limit.rlim_cur >= own)
		return;
	limit.rlim_cur = own;
	if (limit.rlim_max < own)
		limit.rlim_max = own;
	(void)setrlimit(RLIMIT_NICE, &limit);
}

/* Gives up the capabilities that a process that does not change its user does
 * not need.  If that fails, the process keeps what it was given: a filter of
 * system calls, such as the unit's, may deny capset(2). */
static void
keep_own(const struct spec *spec)
{
	struct err err;

	(void)!capabilities_keep(
	    capabilities_needed(
	        spec, geteuid() == 0 ? HOLDER_ROOT : HOLDER_OTHER),
	    &err);
}

/* Becomes the user for good, and keeps those of root's capabilities that are
 * needed.  The capabilities that setuid(2) leaves permitted, because of
 * PR_SET_KEEPCAPS, are not effective until capabilities_keep. */
static bool
become_user(const struct spec *spec, const struct passwd *user, struct err *err)
{
	bool from_root = geteuid() == 0 && user->pw_uid != 0;
	uint64_t kept = capabilities_needed(spec, HOLDER_LEAVES_ROOT);

	if (from_root) {
		(void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
		permit_own_nice();
		if (!capabilities_bound(kept, err))
			return false;
	}
	if (setuid(user->pw_uid) < 0)
		return fail_to_become(&spec->global, errno, err);
	if (from_root)
		return capabilities_keep(kept, err);
	keep_own(spec);
	return true;
}

bool
limits_become_user(const struct spec *spec, struct err *err)
{
	const struct global_spec *global = &spec->global;
	struct passwd *user = NULL;
	struct group *group = NULL;

	/* Programs run from here on gain no rights from their files'
	 * set-user-ID bits or capabilities. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (global->user && !(user = getpwnam(global->user)))
		return err_set(err, "unknown user '%s'", global->user);
	if (global->group && !(group = getgrnam(global->group)))
		return err_set(err, "unknown group '%s'", global->group);
	/* The process already runs as that user: a service manager has seen to
	 * it. */
	if (user && user->pw_uid == geteuid() &&
	    (!group || group->gr_gid == getegid())) {
		keep_own(spec);
		return true;
	}
	if ((user || group) &&
	    !become_group(global, group ? group->gr_gid : user->pw_gid, err))
		return false;
	if (user)
		return become_user(spec, user, err);
	keep_own(spec);
	return true;
}
