/* SPDX-License-Identifier: MIT
 * See limits.h.
 */
#include "control/limits.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Admin clients, the log, handle sets, libraries. */
#define OWN_DESCRIPTORS 128
/* More would need more than 400 MB for sessions alone, and the table of event
 * handlers ends at four times that. */
#define SESSIONS_MAX (1u << 20)

size_t
limits_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1024;
	if (limit.rlim_cur < limit.rlim_max) {
		rlim_t soft = limit.rlim_cur;

		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			limit.rlim_cur = soft;
	}
	return (size_t)limit.rlim_cur;
}

uint32_t
limits_sessions(size_t descriptors, const struct spec *spec)
{
	size_t own = OWN_DESCRIPTORS, sessions;

	for (size_t i = 0; i < spec->frontends_n; i++)
		own += spec->frontends[i].listens_n;
	for (size_t i = 0; i < spec->backends_n; i++)
		if (spec->backends[i].check.kind != CHECK_OFF)
			own += spec->backends[i].servers_n;
	/* With very few descriptors there is no reserve worth the name. */
	if (own > descriptors / 2)
		own = descriptors / 2;
	sessions = (descriptors - own) / 2;
	if (sessions > SESSIONS_MAX)
		sessions = SESSIONS_MAX;
	return sessions > 0 ? (uint32_t)sessions : 1;
}

static bool
become_group(const struct global_spec *global, gid_t gid, struct err *err)
{
	if (global->user && initgroups(global->user, gid) < 0)
		return err_set(err,
		    "cannot take on the groups of user '%s': %s", global->user,
		    strerror(errno));
	if (setgid(gid) < 0)
		return err_set(
		    err, "cannot become group %u: %s", gid, strerror(errno));
	return true;
}

bool
limits_become_user(const struct global_spec *global, struct err *err)
{
	struct passwd *user = NULL;
	struct group *group = NULL;

	if (global->user && !(user = getpwnam(global->user)))
		return err_set(err, "there is no user '%s'", global->user);
	if (global->group && !(group = getgrnam(global->group)))
		return err_set(err, "there is no group '%s'", global->group);
	/* Already there: a service manager has done it. */
	if (user && user->pw_uid == geteuid() &&
	    (!group || group->gr_gid == getegid()))
		return true;
	if (user || group) {
		gid_t gid = group ? group->gr_gid : user->pw_gid;

		if (!become_group(global, gid, err))
			return false;
	}
	if (user && setuid(user->pw_uid) < 0)
		return err_set(err, "cannot become user '%s': %s", global->user,
		    strerror(errno));
	return true;
}
