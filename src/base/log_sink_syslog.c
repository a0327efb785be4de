/* SPDX-License-Identifier: MIT
 * A syslog daemon: a datagram for each line, to a local socket or by UDP; or a
 * stream by TCP, in which each line is preceded by its length (RFC 6587,
 * section 3.4.1, octet counting).
 *
 * RFC 3164: `<PRI>Nov 21 14:05:09 [HOST ]TAG[PID]: LINE`, the host by UDP
 * and TCP only, as local daemons expect it.  RFC 5424: `<PRI>1 TIME HOST TAG
 * PID - - LINE`.
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
#define HEADER_SIZE   (LOG_HEADER_SIZE - 8) /* without the length before it */

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
	fd = socket(sink->addr.ss_family,
	    (sink->options.tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK |
	        SOCK_CLOEXEC,
	    0);
	if (fd < 0)
		return -errno;
	/* The socket is connected so that poll(2) reports room in a local
	 * daemon's queue, and a host reports that no daemon listens. */
	if (connect(fd, (const void *)&sink->addr, sink->addr_len) < 0 &&
	    errno != EINPROGRESS) {
		error = errno;
		close(fd);
		return -error;
	}
	sink->fd = fd;
	return 0;
}

/* Takes the severity from the front of a line.  Lines of the access log have
 * none, and are information. */
static unsigned
take_severity(const struct log_sink_options *o, const char **line, size_t *len)
{
	unsigned severity;

	if (!o->severities || *len < 3)
		return SEVERITY_INFO;
	severity = (unsigned)((*line)[1] - '0');
	*line += 3;
	*len -= 3;
	return severity;
}

/* Writes the header that precedes a line.  Returns its length. */
static size_t
syslog_header(const struct log_sink_options *o, unsigned severity, char *out)
{
	unsigned priority = o->facility * 8 + severity;
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
	unsigned severity = take_severity(&sink->options, &line, &len);
	char header[HEADER_SIZE];
	struct iovec parts[2] = {
	    {.iov_base = header,
	        .iov_len = syslog_header(&sink->options, severity, header)},
	    {.iov_base = (void *)(uintptr_t)line, .iov_len = len}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	return sendmsg(sink->fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* -- TCP -- */

/* Returns 0, or -errno if the connection has failed or the daemon has closed
 * it.  A line that is sent after that is lost without an error. */
static int
look_at_connection(const struct log_sink *sink)
{
	char byte;
	ssize_t n = recv(sink->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n == 0)
		return -ECONNRESET;
	return n < 0 && errno != EAGAIN ? -errno : 0;
}

static void
begin_line(struct log_sink *sink, unsigned severity, size_t len)
{
	char header[HEADER_SIZE];
	size_t header_len = syslog_header(&sink->options, severity, header);

	sink->header_len = (size_t)snprintf(sink->header, sizeof(sink->header),
	    "%zu %s", header_len + len, header);
	sink->sent = 0;
}

/* Sends the rest of a line.  Returns 0 once all of it was sent, or -errno. */
static int
send_rest(struct log_sink *sink, const char *line, size_t len)
{
	while (sink->sent < sink->header_len + len) {
		bool in_header = sink->sent < sink->header_len;
		size_t at = in_header ? 0 : sink->sent - sink->header_len;
		struct iovec parts[2] = {
		    {.iov_base = sink->header + sink->sent,
		        .iov_len =
		            in_header ? sink->header_len - sink->sent : 0},
		    {.iov_base = (void *)(uintptr_t)(line + at),
		        .iov_len = len - at}};
		struct msghdr message = {.msg_iov = parts + !in_header,
		    .msg_iovlen = 1u + in_header};
		ssize_t n = sendmsg(sink->fd, &message, MSG_NOSIGNAL);

		if (n < 0)
			return -errno;
		sink->sent += (size_t)n;
	}
	sink->header_len = 0;
	return 0;
}

/* A line whose connection breaks is sent again, whole, by the next one. */
static int
send_by_tcp(struct log_sink *sink, const char *line, size_t len)
{
	unsigned severity = take_severity(&sink->options, &line, &len);
	int rc = look_at_connection(sink);

	if (rc == 0) {
		if (sink->header_len == 0)
			begin_line(sink, severity, len);
		rc = send_rest(sink, line, len);
	}
	if (rc < 0 && rc != -EAGAIN && rc != -EINTR) {
		close(sink->fd);
		sink->fd = -1;
		sink->header_len = 0;
	}
	return rc;
}

/* -- all -- */

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
	if (sink->options.tcp) {
		rc = send_by_tcp(sink, lines, len);
		return rc < 0 ? rc : taken;
	}
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
