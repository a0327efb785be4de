/* SPDX-License-Identifier: MIT
 * Bulk downloads whose client costs next to nothing: what comes is counted and
 * thrown away in the kernel (MSG_TRUNC), so that the proxy is what is measured.
 * Every connection asks for so many bytes and must get all of them.  With a
 * rate all together take no more than that in a second.  Prints one line of
 * JSON.
 */
#include <getopt.h>
#include <inttypes.h>
#include <sys/epoll.h>

#include "tools/tool.h"

#define CHUNK   (1u << 20)
#define NS      1000000000ull
#define TICK_NS 1000000

static struct {
	uint64_t connections, bytes, rate;
} opt = {.connections = 1, .bytes = 1u << 30};

struct download {
	int fd;
	uint64_t left;
};

static uint64_t received;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

/* Reads the answer's head, byte by byte; it must be a success. */
static void
read_head(int fd)
{
	char head[512];
	size_t n = 0;

	do
		if (n == sizeof(head) - 1 || recv(fd, head + n, 1, 0) != 1)
			tool_die(TOOL_FAILED, "no answer");
		else
			head[++n] = '\0';
	while (!strstr(head, "\r\n\r\n"));
	if (strncmp(head, "HTTP/1.1 200", 12) != 0)
		tool_die(TOOL_FAILED, "not the answer expected: %s", head);
}

static void
start(struct download *d, const struct tool_addr *to)
{
	char request[128];
	int n = snprintf(request, sizeof(request),
	    "GET /bytes/%" PRIu64 " HTTP/1.1\r\nHost: sink\r\n\r\n", opt.bytes);

	d->fd = tool_connect(to);
	d->left = opt.bytes;
	fcntl(d->fd, F_SETFL, 0);
	if (send(d->fd, request, (size_t)n, MSG_NOSIGNAL) != n)
		tool_die(TOOL_FAILED, "send: %s", strerror(errno));
	read_head(d->fd);
	fcntl(d->fd, F_SETFL, O_NONBLOCK);
}

/* True when all of it has come. */
static bool
take(struct download *d, uint64_t allowed)
{
	uint64_t want = d->left < CHUNK ? d->left : CHUNK;
	ssize_t n;

	if (want > allowed)
		want = allowed;
	n = recv(d->fd, NULL, (size_t)want, MSG_TRUNC | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0)
		tool_die(TOOL_FAILED,
		    "the connection has ended, %" PRIu64 " bytes early: %s",
		    d->left, strerror(n < 0 ? errno : 0));
	d->left -= (uint64_t)n;
	received += (uint64_t)n;
	return d->left == 0;
}

static uint64_t
limits(uint64_t began_ns)
{
	uint64_t due;

	if (opt.rate == 0)
		return UINT64_MAX;
	due = (now_ns() - began_ns) / 1000 * opt.rate / 1000000;
	return due > received ? due - received : 0;
}

static void
run(int epoll_fd, uint64_t began_ns)
{
	const struct timespec tick = {.tv_nsec = TICK_NS};
	struct epoll_event events[64];
	uint64_t running = opt.connections;

	while (running > 0) {
		int n = epoll_wait(epoll_fd, events, 64, -1);

		for (int i = 0; i < n; i++) {
			struct download *d = events[i].data.ptr;
			uint64_t allowed = limits(began_ns);

			if (allowed == 0)
				break;
			if (!take(d, allowed))
				continue;
			close(d->fd);
			running--;
		}
		if (opt.rate > 0)
			nanosleep(&tick, NULL);
	}
}

_Noreturn static void
usage(void)
{
	fputs("usage: sink [--connections N] [--bytes N] [--rate BYTES/S] "
	      "HOST:PORT\n",
	    stderr);
	exit(TOOL_USAGE);
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"connections", required_argument, NULL, 'c'},
	    {"bytes", required_argument, NULL, 'b'},
	    {"rate", required_argument, NULL, 'r'},
	    {0},
	};
	int option, epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct download *downloads;
	struct tool_addr to;
	uint64_t began_ns;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'c')
			opt.connections = tool_number(optarg, 10000);
		else if (option == 'b')
			opt.bytes = tool_number(optarg, UINT64_MAX / 2);
		else if (option == 'r')
			opt.rate = tool_number(optarg, UINT32_MAX);
		else
			usage();
	}
	if (optind != argc - 1 || opt.connections == 0 || opt.bytes == 0)
		usage();
	tool_set_deadline(120);
	to = tool_addr(argv[optind]);
	downloads = calloc(opt.connections, sizeof(*downloads));
	if (!downloads)
		tool_die(TOOL_SYSTEM, "no memory");
	began_ns = now_ns();
	for (uint64_t i = 0; i < opt.connections; i++) {
		struct epoll_event e = {
		    .events = EPOLLIN, .data.ptr = &downloads[i]};

		start(&downloads[i], &to);
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, downloads[i].fd, &e);
	}
	run(epoll_fd, began_ns);
	printf("{\"bytes\": %" PRIu64 ", \"ns\": %" PRIu64 "}\n", received,
	    now_ns() - began_ns);
	free(downloads);
	return TOOL_OK;
}
