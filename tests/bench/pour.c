/* SPDX-License-Identifier: MIT
 * A server of bulk downloads at a rate, for one client after the other: what
 * is due is sent every millisecond.  It answers GET /bytes/N, as appserver
 * does.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>

#include "tools/tool.h"

#define CHUNK   (64u << 10)
#define NS      1000000000ull
#define TICK_NS 1000000

static uint64_t rate;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

/* Returns false if the client is gone. */
static bool
send_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return true;
}

/* Returns the number of bytes that the client asks for, 0: no request came. */
static uint64_t
read_request(int fd)
{
	char request[1024];
	uint64_t bytes;
	size_t n = 0;

	do {
		ssize_t got = recv(fd, request + n, sizeof(request) - 1 - n, 0);

		if (got <= 0)
			return 0;
		n += (size_t)got;
		request[n] = '\0';
	} while (!strstr(request, "\r\n\r\n") && n < sizeof(request) - 1);
	return sscanf(request, "GET /bytes/%" SCNu64, &bytes) == 1 ? bytes : 0;
}

static void
pour(int fd, uint64_t bytes)
{
	static const char chunk[CHUNK];
	const struct timespec tick = {.tv_nsec = TICK_NS};
	uint64_t began_ns = now_ns(), sent = 0;

	while (sent < bytes) {
		uint64_t due = (now_ns() - began_ns) / 1000 * rate / 1000000;

		if (due > bytes)
			due = bytes;
		while (sent < due) {
			uint64_t n = due - sent < CHUNK ? due - sent : CHUNK;

			if (!send_all(fd, chunk, (size_t)n))
				return;
			sent += n;
		}
		if (sent < bytes)
			nanosleep(&tick, NULL);
	}
}

static void
serve(int fd)
{
	uint64_t bytes = read_request(fd);
	char head[128];
	int n = snprintf(head, sizeof(head),
	    "HTTP/1.1 200 OK\r\nContent-Length: %" PRIu64
	    "\r\nConnection: close\r\n\r\n",
	    bytes);

	if (bytes > 0 && send_all(fd, head, (size_t)n))
		pour(fd, bytes);
	close(fd);
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"rate", required_argument, NULL, 'r'},
	    {0},
	};
	struct pollfd listener = {.events = POLLIN};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (option == 'r')
			rate = tool_number(optarg, UINT32_MAX);
	if (optind != argc - 1 || rate == 0)
		tool_die(TOOL_USAGE, "usage: pour --rate BYTES/S ADDRESS");
	tool_set_deadline(120);
	listener.fd = tool_listen(argv[optind], 16);
	for (;;) {
		int fd;

		(void)poll(&listener, 1, -1);
		fd = accept(listener.fd, NULL, NULL);
		if (fd >= 0)
			serve(fd);
	}
}
