/* SPDX-License-Identifier: MIT
 * See log_sink.h: standard output and error, and files.
 */
#include "base/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/sandbox.h"

/* O_NONBLOCK is for a FIFO without a reader; a regular file ignores it. */
#define FILE_FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* Opens the directory of the path with O_PATH, and finds the name in it.
 * Returns the descriptor, or -errno. */
static int
open_directory(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char dir[LOG_PATH_MAX + 2];
	int fd;

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - path), path);
	else
		strcpy(dir, ".");
	*ret_name = slash ? slash + 1 : path;
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Returns whether others than root and this user can put a link into the
 * directory.  For root, whose files matter more, a group counts as others. */
static bool
others_can_write(int dir)
{
	mode_t others = S_IWOTH | (geteuid() == 0 ? S_IWGRP : 0);
	struct stat st;

	return fstat(dir, &st) < 0 ||
	       (st.st_uid != 0 && st.st_uid != geteuid()) ||
	       (st.st_mode & others) != 0;
}

/* Closes the file if it has further hard links, which are another way to the
 * files of others.  Returns fd, or -1 with errno set. */
static int
refuse_linked(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_nlink < 2)
		return fd;
	close(fd);
	errno = EMLINK;
	return -1;
}

/* Opens the file, or makes it with exactly this mode, whatever the umask is.
 * Returns the descriptor, or -errno. */
static int
open_in(int dir, const char *name, mode_t mode)
{
	bool guarded = others_can_write(dir), made = true;
	int flags = FILE_FLAGS | (guarded ? O_NOFOLLOW : 0);
	int fd = openat(dir, name, FILE_FLAGS | O_CREAT | O_EXCL, 0600);

	if (fd < 0 && errno == EEXIST) {
		fd = openat(dir, name, flags);
		made = false;
	}
	/* The file is to be where a link leads to, or a rotation has removed it
	 * in between. */
	if (fd < 0 && errno == ENOENT) {
		fd = openat(dir, name, flags | O_CREAT, 0600);
		made = true;
	}
	if (fd >= 0 && made)
		(void)fchmod(fd, mode);
	if (guarded)
		fd = refuse_linked(fd);
	return fd < 0 ? -errno : fd;
}

/* Returns a copy of standard output or error if the path leads to it, else -1.
 * A pipe or socket of another user's, as container engines pass, cannot be
 * opened again by /dev/stdout, or by a link to that. */
static int
copy_stream(const char *path)
{
	struct stat there, here;

	if (stat(path, &there) < 0)
		return -1;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &here) == 0 && here.st_dev == there.st_dev &&
		    here.st_ino == there.st_ino)
			return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return -1;
}

static int
log_sink_open_file(const struct log_sink_options *o)
{
	const char *name;
	int dir = open_directory(o->path, &name), fd, copy;

	if (dir < 0)
		return dir;
	fd = open_in(dir, name, atomic_load_relaxed(&o->mode));
	close(dir);
	if (fd != -EACCES && fd != -ENXIO)
		return fd;
	copy = copy_stream(o->path);
	return copy < 0 ? fd : copy;
}

static bool
is_stream(enum log_sink_kind kind)
{
	return kind == LOG_SINK_STDOUT || kind == LOG_SINK_STDERR;
}

bool
log_sink_is_stream(const struct log_sink *sink)
{
	return is_stream(sink->options.kind);
}

bool
log_sink_open(struct log_sink *sink, const struct log_sink_options *options,
    struct err *err)
{
	char hint[SANDBOX_HINT_SIZE];

	*sink = (struct log_sink){.options = *options,
	    .fd = -1,
	    .addr = options->addr,
	    .addr_len = options->addr_len};
	if (is_stream(options->kind))
		sink->fd = options->kind == LOG_SINK_STDOUT ? STDOUT_FILENO
		                                            : STDERR_FILENO;
	if (options->kind != LOG_SINK_FILE)
		return true;
	sink->fd = log_sink_open_file(options);
	if (sink->fd >= 0)
		return true;
	return err_set(err, "the log file %s cannot be opened: %s%s%s",
	    options->path, strerror(-sink->fd),
	    sink->fd == -EACCES
	        ? "; the user that lfproxy runs as must be able to write it"
	    : sink->fd == -ENXIO ? "; it is a FIFO without a reader"
	    : sink->fd == -ELOOP || sink->fd == -EMLINK
	        ? "; it is a link in a directory that others can write: name "
	          "the file itself, or choose another directory"
	        : "",
	    sandbox_hint(-sink->fd, options->path, "LogsDirectory", hint));
}

void
log_sink_close(struct log_sink *sink)
{
	if (!log_sink_is_stream(sink) && sink->fd >= 0)
		close(sink->fd);
	sink->fd = -1;
}

int
log_sink_reopen(struct log_sink *sink)
{
	int fd;

	if (sink->options.kind != LOG_SINK_FILE)
		return 0;
	fd = log_sink_open_file(&sink->options);
	if (fd < 0)
		return fd;
	close(sink->fd);
	sink->fd = fd;
	return 0;
}

ssize_t
log_sink_write(struct log_sink *sink, const char *lines, size_t size)
{
	ssize_t n;

	if (sink->options.kind == LOG_SINK_SYSLOG)
		return log_sink_syslog_write(sink, lines, size);
	n = write(sink->fd, lines, size);
	/* A write of 0 bytes without an error is reported as EIO. */
	return n > 0 ? n : n == 0 ? -EIO : -errno;
}

const char *
log_sink_error(const struct log_sink *sink, int error)
{
	return sink->unknown ? sink->options.look_up_error(sink->unknown)
	                     : strerror(error);
}

static void
log_sink_address(const struct log_sink_options *o, char *out, size_t size)
{
	const struct sockaddr_un *un = (const void *)&o->addr;
	char host[64] = "", port[8] = "";
	bool v6 = o->addr.ss_family == AF_INET6;

	if (o->daemon[0]) {
		snprintf(out, size, "%s:%u", o->daemon, o->daemon_port);
	} else if (o->addr.ss_family == AF_UNIX) {
		snprintf(out, size, "unix:%s", un->sun_path);
	} else {
		(void)getnameinfo((const void *)&o->addr, o->addr_len, host,
		    sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV | NI_DGRAM);
		snprintf(out, size, v6 ? "[%s]:%s" : "%s:%s", host, port);
	}
}

const char *
log_sink_name(
    const struct log_sink_options *options, char out[LOG_SINK_NAME_SIZE])
{
	char address[LOG_SINK_NAME_SIZE - sizeof("syslog tcp:")];

	if (options->kind == LOG_SINK_STDERR)
		return strcpy(out, "standard error");
	if (options->kind == LOG_SINK_STDOUT)
		return strcpy(out, "standard output");
	if (options->kind == LOG_SINK_FILE) {
		snprintf(out, LOG_SINK_NAME_SIZE, "log file %s", options->path);
		return out;
	}
	log_sink_address(options, address, sizeof(address));
	snprintf(out, LOG_SINK_NAME_SIZE, "syslog %s%s",
	    options->tcp ? "tcp:" : "", address);
	return out;
}

void
log_sink_set_mode(struct log_sink *sink, uint32_t mode)
{
	atomic_store_relaxed(&sink->options.mode, mode);
}

bool
log_sink_same(
    const struct log_sink_options *a, const struct log_sink_options *b)
{
	if (a->kind != b->kind || is_stream(a->kind))
		return a->kind == b->kind;
	/* The mode matters only when the file is made. */
	if (a->kind == LOG_SINK_FILE)
		return strcmp(a->path, b->path) == 0;
	return a->addr_len == b->addr_len &&
	       memcmp(&a->addr, &b->addr, a->addr_len) == 0 &&
	       a->daemon_port == b->daemon_port &&
	       strcmp(a->daemon, b->daemon) == 0 &&
	       a->facility == b->facility && a->rfc5424 == b->rfc5424 &&
	       a->tcp == b->tcp && a->severities == b->severities &&
	       strcmp(a->tag, b->tag) == 0 && strcmp(a->host, b->host) == 0;
}
