/* SPDX-License-Identifier: MIT
 * The destinations of log lines: standard output or error, a file, a syslog
 * daemon.
 *
 * A sink belongs to one writer thread (base/log_target.h).  It takes lines or
 * says why it does not; the writer waits, retries and gives up.  Files and
 * sockets never block the writer.  Standard output and error may, because their
 * open files are shared with other processes, which would not expect them to be
 * non-blocking.
 */
#ifndef BASE_LOG_SINK_H
#define BASE_LOG_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/err.h"

enum log_sink_kind {
	LOG_SINK_OFF, /* for the configuration: no sink */
	LOG_SINK_STDOUT,
	LOG_SINK_STDERR,
	LOG_SINK_FILE,
	LOG_SINK_SYSLOG,
};

/* Limits of the options' texts, so that they fit into a configuration line. */
#define LOG_PATH_MAX   180
#define LOG_TAG_MAX    32
#define LOG_HOST_MAX   64
#define LOG_DAEMON_MAX 253

/* The options of a sink, see log_sink_same. */
struct log_sink_options {
	enum log_sink_kind kind;
	/* The file to append to, which is made with the mode if it does not
	 * exist; or a FIFO, if a process reads it; or whatever this process
	 * has as standard output or error (/dev/stdout).  A link is not
	 * followed in a directory to which others than root and this user can
	 * write. */
	char path[LOG_PATH_MAX + 1];
	uint32_t mode; /* shared, relaxed: see log_sink_set_mode */
	/* A syslog daemon: AF_UNIX (datagrams), AF_INET or AF_INET6 (UDP, or
	 * TCP with tcp). */
	struct sockaddr_storage addr;
	socklen_t addr_len;
	/* The daemon's name in place of addr, or "".  The writer looks the name
	 * up with look_up, which may block, and returns 0 or an error for
	 * look_up_error. */
	char daemon[LOG_DAEMON_MAX + 1];
	uint16_t daemon_port; /* host order */
	int (*look_up)(const struct log_sink_options *options,
	    struct sockaddr_storage *ret_addr, socklen_t *ret_len);
	const char *(*look_up_error)(int error);
	unsigned facility; /* 0 to 23, RFC 5424 section 6.2.1 */
	bool rfc5424;      /* else RFC 3164 */
	bool tcp;
	bool severities; /* lines begin with theirs, as `<4>` */
	char tag[LOG_TAG_MAX + 1];
	char host[LOG_HOST_MAX + 1]; /* this host's name */
};

/* The most bytes of the header before a line for a syslog daemon. */
#define LOG_HEADER_SIZE 256

struct log_sink {
	struct log_sink_options options;
	int fd;        /* -1: none now */
	uint64_t lost; /* lines that it took and knows to be lost */
	/* For a daemon that is given by name: its address, addr_len 0: not
	 * known.  While it is not known: why, and when to look the name up
	 * again. */
	struct sockaddr_storage addr;
	socklen_t addr_len;
	int unknown;         /* an error for look_up_error, 0: none */
	uint64_t look_up_ms; /* clock_now_ms */
	uint64_t pause_ms;
	/* For a daemon by TCP: the header of the line under way, and how much
	 * of both was sent.  header_len 0: none is. */
	char header[LOG_HEADER_SIZE];
	size_t header_len, sent;
};

/* Opens the sink.  Returns false with err set when it cannot be opened.  A
 * syslog daemon that is not there yet is no error: it is tried again with each
 * line. */
bool log_sink_open(struct log_sink *sink,
    const struct log_sink_options *options, struct err *err) MUST_CHECK;
/* Returns whether the sink is standard output or error, which cannot be opened
 * again. */
bool log_sink_is_stream(const struct log_sink *sink);
/* Closes the sink's descriptor. */
void log_sink_close(struct log_sink *sink);

/* Takes lines from the front, each with its newline.  Returns the number of
 * bytes taken, which need not end with a line, or -errno.  -EAGAIN: poll fd for
 * room. */
ssize_t log_sink_write(struct log_sink *sink, const char *lines, size_t size);

/* Sets the mode that a file is made with from now on.  Any thread. */
void log_sink_set_mode(struct log_sink *sink, uint32_t mode);

/* Reopens the path of a file, for log rotation; on failure the old file stays
 * open.  Returns 0 or -errno.  Other sinks: returns 0. */
int log_sink_reopen(struct log_sink *sink);

/* Returns why the sink took no line, as a text.  error: the errno that
 * log_sink_write returned, without its sign. */
const char *log_sink_error(const struct log_sink *sink, int error);

#define LOG_SINK_NAME_SIZE 320

/* Writes `log file /var/log/x`, for messages.  Returns out. */
const char *log_sink_name(
    const struct log_sink_options *options, char out[LOG_SINK_NAME_SIZE]);

/* Returns whether both options describe the same sink; the mode of a file does
 * not count. */
bool log_sink_same(
    const struct log_sink_options *a, const struct log_sink_options *b);

/* Does what log_sink_write does, for LOG_SINK_SYSLOG.  See log_sink_syslog.c.
 */
ssize_t log_sink_syslog_write(
    struct log_sink *sink, const char *lines, size_t size);

#endif
