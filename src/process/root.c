/* SPDX-License-Identifier: MIT
 * See root.h.
 */
#include "process/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/notify.h"
#include "config/peek.h"
#include "net/handover.h"

#define ROOT_ENV "LFPROXY_CHROOT"

/* No file of a configuration is larger (config/ini.h). */
#define CONTENT_MAX (16u << 20)

static char entered[ROOT_TEXT_MAX];

/* A file of the configuration as read outside. */
struct original {
	char *bytes;
	size_t n;
};

void
root_inherit(void)
{
	const char *text = getenv(ROOT_ENV);

	if (text && getenv(HANDOVER_ENV))
		snprintf(entered, sizeof(entered), "%s", text);
	(void)unsetenv(ROOT_ENV);
}

const char *
root_text(void)
{
	return entered;
}

bool
root_variable(char out[ROOT_VARIABLE_SIZE])
{
	if (!*entered)
		return false;
	snprintf(out, ROOT_VARIABLE_SIZE, ROOT_ENV "=%s", entered);
	return true;
}

/* Reads the whole file.  Returns false with errno set. */
static bool
read_original(const char *path, struct original *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct original o = {.n = 0};
	struct stat st;
	ssize_t n = 1;

	if (fd < 0)
		return false;
	errno = EFBIG;
	if (fstat(fd, &st) == 0 && st.st_size <= (off_t)CONTENT_MAX)
		o.bytes = malloc((size_t)st.st_size + 1);
	/* Reading one byte beyond the size shows whether the file has grown. */
	while (o.bytes && n > 0 && o.n <= (size_t)st.st_size) {
		n = read(fd, o.bytes + o.n, (size_t)st.st_size + 1 - o.n);
		o.n += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (!o.bytes || n < 0) {
		free(o.bytes);
		return false;
	}
	*ret = o;
	return true;
}

/* Checks that the file inside, which reloads read, is the same as the one that
 * was read outside.  Returns false with err set. */
static bool
compare_inside(
    const char *path, const struct original *outside, struct err *err)
{
	struct original inside;
	bool same;

	if (!read_original(path, &inside))
		return err_set(err,
		    "chroot = %.150s: %.150s is not inside, where reloads read "
		    "it (%s); copy it to %.150s%.150s",
		    entered, path, strerror(errno), entered, path);
	same = inside.n == outside->n &&
	       memcmp(inside.bytes, outside->bytes, inside.n) == 0;
	free(inside.bytes);
	return same ||
	       err_set(err,
	           "chroot = %.150s: %.150s is not the same inside, where "
	           "reloads read it; copy it to %.150s%.150s",
	           entered, path, entered, path);
}

static bool
change_root(const char *dir, struct err *err)
{
	/* Make the C library read the time zone now, from a file outside. */
	tzset();
	notify_connect();
	if (chroot(dir) < 0 || chdir("/") < 0)
		return err_set(err, "chroot = %s: %s", dir, strerror(errno));
	snprintf(entered, sizeof(entered), "%s", dir);
	return true;
}

static bool
enter_with_files(const struct peek *peek, struct original *outside,
    bool may_do_without, struct err *err)
{
	bool ok;

	for (size_t i = 0; i < peek->files_n; i++) {
		if (peek->files[i][0] != '/')
			return err_set(err,
			    "chroot = %s: %s is a relative path; name the file "
			    "by its path from /, which it has inside, too",
			    peek->chroot, peek->files[i]);
		if (!read_original(peek->files[i], &outside[i]))
			return err_set(err, "%s: cannot be read: %s",
			    peek->files[i], strerror(errno));
	}
	ok = change_root(peek->chroot, err);
	if (!ok && errno == EPERM && may_do_without) {
		fprintf(stderr,
		    "%slfproxy: warning: chroot = %s takes CAP_SYS_CHROOT: the "
		    "paths of the configuration were looked up outside; try it "
		    "as root\n",
		    log_severity(LOG_LEVEL_WARNING), peek->chroot);
		return true;
	}
	if (!ok && errno == EPERM)
		return err_set(err,
		    "chroot = %s takes CAP_SYS_CHROOT; start lfproxy as root, "
		    "or leave chroot out",
		    peek->chroot);
	for (size_t i = 0; ok && i < peek->files_n; i++)
		ok = compare_inside(peek->files[i], &outside[i], err);
	return ok;
}

static bool
enter_as_asked(const struct peek *peek, bool may_do_without, struct err *err)
{
	struct original *outside = calloc(peek->files_n + 1, sizeof(*outside));
	bool ok;

	if (!outside)
		return err_oom(err);
	ok = enter_with_files(peek, outside, may_do_without, err);
	for (size_t i = 0; i < peek->files_n; i++)
		free(outside[i].bytes);
	free(outside);
	return ok;
}

/* Returns whether all files can be read twice, unlike pipes. */
static bool
can_be_read_twice(const char *const *files, size_t n)
{
	struct stat st;

	for (size_t i = 0; i < n; i++)
		if (stat(files[i], &st) == 0 && !S_ISREG(st.st_mode) &&
		    !S_ISDIR(st.st_mode))
			return false;
	return true;
}

bool
root_is(const char *chroot, struct err *err)
{
	if (!chroot || strcmp(chroot, entered) == 0)
		return true;
	return err_set(err,
	    "chroot = %s: the configuration is not a regular file, so reloads "
	    "could not read it inside; name a file",
	    chroot);
}

bool
root_enter(
    const char *const *files, size_t n, bool may_do_without, struct err *err)
{
	struct peek peek;
	bool ok = true;

	if (!can_be_read_twice(files, n))
		return true;
	if (!config_peek(files, n, &peek, err))
		return false;
	if (*entered && (!peek.chroot || strcmp(entered, peek.chroot) != 0))
		ok = err_set(err,
		    "the process to take over from has chroot = %s, and the "
		    "file %s%s; that takes a restart",
		    entered, peek.chroot ? "has chroot = " : "has none",
		    peek.chroot ? peek.chroot : "");
	else if (!*entered && peek.chroot && peek.chroot[0] == '/')
		ok = enter_as_asked(&peek, may_do_without, err);
	config_peek_fini(&peek);
	return ok;
}
