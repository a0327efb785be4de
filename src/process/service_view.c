/* SPDX-License-Identifier: MIT
 * The rights that a process of the unit has, see service.h.
 */
#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/capabilities.h"
#include "process/service_internal.h"

#define GROUPS_MAX 256

/* The settings for directories that systemd makes, and their parents. */
static const struct {
	const char *setting, *parent;
} made[] = {
    {"RuntimeDirectory", "/run"},
    {"StateDirectory", "/var/lib"},
    {"LogsDirectory", "/var/log"},
    {"CacheDirectory", "/var/cache"},
};

/* -- the view -- */

/* Calls visit with each directory of those settings until it returns true.
 * Returns whether it did. */
static bool
each_made(const struct service *service,
    bool (*visit)(const char *dir, const void *arg), const void *arg)
{
	char word[PATH_MAX / 2], dir[PATH_MAX];

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		const char *at = service_property(service, made[i].setting);

		while (service_word(&at, word, sizeof(word))) {
			word[strcspn(word, ":")] = '\0';
			snprintf(
			    dir, sizeof(dir), "%s/%s", made[i].parent, word);
			if (visit(dir, arg))
				return true;
		}
	}
	return false;
}

static bool
is_dir(const char *dir, const void *path)
{
	return strcmp(dir, path) == 0;
}

bool
service_makes(const struct service *service, const char *dir)
{
	return each_made(service, is_dir, dir);
}

static void
set_read_only(const char *path, bool on)
{
	struct mount_attr attr = {.attr_set = on ? MOUNT_ATTR_RDONLY : 0,
	    .attr_clr = on ? 0 : MOUNT_ATTR_RDONLY};

	(void)syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attr,
	    sizeof(attr));
}

/* Makes the directory a mount of its own, which is written to although the one
 * around it is read-only.  Always returns false. */
static bool
keep_writable(const char *dir, const void *arg)
{
	(void)arg;
	if (mount(dir, dir, NULL, MS_BIND | MS_REC, NULL) == 0)
		set_read_only(dir, false);
	return false;
}

/* Mounts an empty directory over that one. */
static void
hide(const char *dir, const char *mode)
{
	(void)mount("tmpfs", dir, "tmpfs", MS_NOSUID | MS_NODEV, mode);
}

static bool
is_on(const struct service *service, const char *name)
{
	const char *value = service_property(service, name);

	return value[0] && strcmp(value, "no") != 0;
}

static void
each_path(const struct service *service, const char *name,
    void (*visit)(const char *path))
{
	const char *at = service_property(service, name);
	char word[PATH_MAX];

	while (service_word(&at, word, sizeof(word)))
		visit(word + strspn(word, "-+"));
}

static void
leave_writable(const char *path)
{
	(void)keep_writable(path, NULL);
}

static void
make_read_only(const char *path)
{
	if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) == 0)
		set_read_only(path, true);
}

static void
make_inaccessible(const char *path)
{
	hide(path, "mode=000");
}

/* Protects directories as systemd.exec(5) describes it for ProtectSystem=. */
static void
protect_system(const struct service *service)
{
	const char *how = service_property(service, "ProtectSystem");
	static const char *const kept[] = {"/dev", "/proc", "/sys"};

	if (strcmp(how, "strict") == 0) {
		set_read_only("/", true);
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			set_read_only(kept[i], false);
	} else if (is_on(service, "ProtectSystem")) {
		make_read_only("/usr");
		make_read_only("/boot");
		if (strcmp(how, "full") == 0)
			make_read_only("/etc");
	}
	(void)each_made(service, keep_writable, NULL);
	each_path(service, "ReadWritePaths", leave_writable);
	each_path(service, "ReadOnlyPaths", make_read_only);
}

static void
protect_home(const struct service *service)
{
	const char *how = service_property(service, "ProtectHome");
	static const char *const homes[] = {"/home", "/root", "/run/user"};

	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++)
		if (strcmp(how, "read-only") == 0)
			make_read_only(homes[i]);
		else if (is_on(service, "ProtectHome"))
			make_inaccessible(homes[i]);
}

bool
service_enter_view(const struct service *service)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	protect_system(service);
	protect_home(service);
	each_path(service, "InaccessiblePaths", make_inaccessible);
	if (is_on(service, "PrivateTmp")) {
		hide("/tmp", "mode=1777");
		hide("/var/tmp", "mode=1777");
	}
	return true;
}

/* -- the user -- */

static uint64_t
capabilities_of(const char *list)
{
	uint64_t all = 0;
	char word[64];

	while (service_word(&list, word, sizeof(word))) {
		int number = strncmp(word, "cap_", 4) == 0
		                 ? capng_name_to_capability(word + 4)
		                 : -1;

		if (number >= 0)
			all |= UINT64_C(1) << number;
	}
	return all;
}

static void
limit_descriptors(const struct service *service)
{
	const char *text = service_property(service, "LimitNOFILE");
	char *end;
	rlim_t n = strtoull(text, &end, 10);
	struct rlimit limit = {.rlim_cur = n, .rlim_max = n};

	if (end != text && *end == '\0')
		(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static gid_t
group_named(const char *name, gid_t none)
{
	struct group *group = *name ? getgrnam(name) : NULL;
	char *end;
	gid_t gid = (gid_t)strtoul(name, &end, 10);

	return group ? group->gr_gid : *name && !*end ? gid : none;
}

/* Joins the user's groups and those of SupplementaryGroups=. */
static bool
join_groups(const struct service *service, const char *user, gid_t gid)
{
	const char *at = service_property(service, "SupplementaryGroups");
	gid_t groups[GROUPS_MAX];
	char name[256];
	int n;

	if (initgroups(user, gid) < 0)
		return false;
	n = getgroups(GROUPS_MAX - 1, groups);
	while (n >= 0 && n < GROUPS_MAX - 1 &&
	       service_word(&at, name, sizeof(name)))
		groups[n++] = group_named(name, gid);
	return n >= 0 && setgroups((size_t)n, groups) == 0 && setgid(gid) == 0;
}

bool
service_become(
    const struct service *service, uint64_t *ret_kept, struct err *err)
{
	const char *name = service_property(service, "User");
	const char *group = service_property(service, "Group");
	struct passwd *user = getpwnam(*name ? name : "root");
	uint64_t kept = capabilities_of(service_property(
	    service, user && user->pw_uid == 0 ? "CapabilityBoundingSet"
	                                       : "AmbientCapabilities"));

	if (!user)
		return err_set(err, "unknown user '%s' (User=)", name);
	limit_descriptors(service);
	(void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	if (!join_groups(
	        service, user->pw_name, group_named(group, user->pw_gid)) ||
	    setuid(user->pw_uid) < 0)
		return err_set(err, "cannot become the user '%s': %s",
		    user->pw_name, strerror(errno));
	*ret_kept = kept;
	return capabilities_keep(kept, err);
}
