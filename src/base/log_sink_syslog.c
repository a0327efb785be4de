/* SPDX-License-Identifier: MIT
 * A syslog daemon: a datagram for each line, to a local socket or by UDP.
 *
 * RFC 3164: `<PRI>Nov 21 14:05:09 [HOST ]TAG[PID]: LINE`, the host by UDP only,
 * as local daemons expect it.  RFC 5424: `<PRI>1 TIME HOST TAG PID - - LINE`.
 */
#include "base/log_sink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/time_text.h"

#define SEVERITY_INFO 6
#define HEADER_SIZE   256

/* The pause before a name without an address is looked up again, which doubles
 * each time. */
#define PAUSE_MIN_MS 1000
#define PAUSE_MAX_MS 30000

/* Finds the address of the daemon.  Returns 0 or -errno.  Blocks for a look-up
 * if the daemon is given by name. */
static int
find_daemon(struct log_sink *sink)
{
	uint64_t now_ms = clock_now_ms();

	if (sink->addr_len > 0)
		return 0;
	if (now_ms < sink->look_up_ms)
		return -EDESTADDRREQ;
	sink->unknown =
	    sink->options.look_up(&sink->options, &sink->addr, &sink->addr_len);
	if (sink->unknown == 0)
		return 0;
	sink->pause_ms =
	    sink->pause_ms == 0 ? PAUSE_MIN_MS : 2 * sink->pause_ms;
	if (sink->pause_ms > PAUSE_MAX_MS)
		sink->pause_ms = PAUSE_MAX_MS;
	sink->look_up_ms = clock_now_ms() + sink->pause_ms;
	return -EDESTADDRREQ;
}

static int
open_socket(struct log_sink *sink)
{
	int rc = find_daemon(sink), error, fd;

	if (rc < 0)
		return rc;
	fd = socket(
	    sink->addr.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* The socket is connected so that poll(2) reports room in a local
	 * daemon's queue, and a host reports that no daemon listens. */
	if (connect(fd, (const void *)&sink->addr, sink->addr_len) < 0) {
		error = errno;
		close(fd);
		return -error;
	}
	sink->fd = fd;
	return 0;
}

/* Writes the header that precedes a line.  Returns its length. */
static size_t
syslog_header(const struct log_sink_options *o, char out[HEADER_SIZE])
{
	unsigned priority = o->facility * 8 + SEVERITY_INFO;
	bool local = o->addr.ss_family == AF_UNIX;
	uint64_t now_us = clock_wall_us();
	char time[TIME_TEXT_SIZE];

	if (o->rfc5424)
		return (size_t)snprintf(out, HEADER_SIZE,
		    "<%u>1 %s %s %s %d - - ", priority,
		    time_text(TIME_RFC3339, now_us, 6, time), o->host, o->tag,
		    getpid());
	return (size_t)snprintf(out, HEADER_SIZE,
	    "<%u>%s %s%s%s[%d]: ", priority,
	    time_text(TIME_RFC3164, now_us, 0, time), local ? "" : o->host,
	    local ? "" : " ", o->tag, getpid());
}

static int
send_line(struct log_sink *sink, const char *line, size_t len)
{
	char header[HEADER_SIZE];
	struct iovec parts[2] = {
	    {.iov_base = header,
	        .iov_len = syslog_header(&sink->options, header)},
	    {.iov_base = (void *)(uintptr_t)line, .iov_len = len}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	return sendmsg(sink->fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Returns whether the daemon was stopped or restarted: then it has a new
 * socket. */
static bool
is_gone(int error)
{
	return error == ECONNREFUSED || error == ECONNRESET ||
	       error == ENOTCONN || error == EPIPE || error == EDESTADDRREQ;
}

ssize_t
log_sink_syslog_write(struct log_sink *sink, const char *lines, size_t size)
{
	const char *end = memchr(lines, '\n', size);
	size_t len = end ? (size_t)(end - lines) : size;
	ssize_t taken = (ssize_t)(end ? len + 1 : len);
	bool local = sink->options.addr.ss_family == AF_UNIX;
	int rc = sink->fd < 0 ? open_socket(sink) : 0;

	if (rc < 0)
		return rc;
	rc = send_line(sink, lines, len);
	if (rc == -ECONNREFUSED && !local) {
		/* ECONNREFUSED reports that an earlier datagram was lost;
		 * the present line was not sent. */
		sink->lost++;
		rc = send_line(sink, lines, len);
	}
	if (rc == -EMSGSIZE) {
		sink->lost++;
		return taken;
	}
	if (rc < 0 && local && is_gone(-rc)) {
		close(sink->fd);
		sink->fd = -1;
	}
	return rc < 0 ? rc : taken;
}
