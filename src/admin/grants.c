/* SPDX-License-Identifier: MIT
 * See grants.h.
 */
#include "admin/grants.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The kernel reports no groups of a peer that is in more than these; then only
 * its primary group counts. */
#define GROUPS_MAX 1024

static bool
find_account(const char *name, struct grant *grant, struct err *err)
{
	grant->is_group = *name == '@';
	if (grant->is_group) {
		const struct group *group = getgrnam(name + 1);

		if (!group)
			return err_set(err, "unknown group '%s'", name + 1);
		grant->id = group->gr_gid;
	} else {
		const struct passwd *user = getpwnam(name);

		if (!user)
			return err_set(err, "unknown user '%s'", name);
		grant->id = user->pw_uid;
	}
	return true;
}

static bool
grant_append(struct grants *grants, const struct grant *grant, struct err *err)
{
	struct grant *grown =
	    reallocarray(grants->all, grants->n + 1, sizeof(*grown));

	if (!grown)
		return err_oom(err);
	grants->all = grown;
	grown[grants->n++] = *grant;
	return true;
}

bool
grants_add(struct grants *grants, const char *names, enum admin_level level,
    struct err *err)
{
	char *copy, *rest, *name;
	bool ok = true;

	if (!names)
		return true;
	copy = rest = strdup(names);
	if (!copy)
		return err_oom(err);
	while (ok && (name = strsep(&rest, ","))) {
		struct grant grant = {.level = level};

		ok = find_account(name, &grant, err) &&
		     grant_append(grants, &grant, err);
	}
	free(copy);
	return ok;
}

void
grants_fini(struct grants *grants)
{
	free(grants->all);
	*grants = (struct grants){NULL, 0};
}

static bool
is_in_group(gid_t gid, const struct peer *peer, const gid_t *groups, size_t n)
{
	if (peer->gid == gid)
		return true;
	for (size_t i = 0; i < n; i++)
		if (groups[i] == gid)
			return true;
	return false;
}

enum admin_level
grants_level(const struct grants *grants, int fd, const struct peer *peer,
    enum admin_level least)
{
	enum admin_level level = least;
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof(groups);

	if (!peer->known || grants->n == 0)
		return least;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		size = 0;
	for (size_t i = 0; i < grants->n; i++) {
		const struct grant *g = &grants->all[i];
		bool meant = g->is_group ? is_in_group(g->id, peer, groups,
		                               size / sizeof(groups[0]))
		                         : peer->uid == g->id;

		if (meant && g->level > level)
			level = g->level;
	}
	return level;
}
