/* SPDX-License-Identifier: MIT
 * Short connections from many source addresses of 127.0.0.0/8, one after the
 * other: each sends a request, reads the answer to its end, and closes.  A
 * connection that ends without an answer was refused.  Prints one line of JSON.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sys/epoll.h>

#include "tools/tool.h"

#define NS          1000000000ull
#define FIRST       0x7f010000u /* 127.1.0.0 */
#define SOURCES_MAX 0x00f00000u

static struct {
	uint64_t sources, at_once, ms, rate;
} opt = {.sources = 1, .at_once = 64, .ms = 1000};

struct visit {
	int fd; /* -1: none */
	bool sent, answered;
};

static const char request[] =
    "GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n";
static struct tool_addr to;
static uint64_t begun, served, refused, failed;
static int set;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

/* The port is chosen when the connection is made, so that all ports are there
 * for each source. */
static int
connect_from(uint32_t source)
{
	struct sockaddr_in from = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(source)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 ||
	    setsockopt(
	        fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0)
		tool_die(TOOL_FAILED, "no socket: %s", strerror(errno));
	if (connect(fd, &to.sa, to.len) == 0 || errno == EINPROGRESS)
		return fd;
	close(fd);
	return -1;
}

static void
begin(struct visit *v)
{
	struct epoll_event e = {
	    .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = v};

	*v = (struct visit){
	    .fd = connect_from(FIRST + (uint32_t)(begun++ % opt.sources))};
	if (v->fd < 0)
		failed++;
	else if (epoll_ctl(set, EPOLL_CTL_ADD, v->fd, &e) < 0)
		tool_die(TOOL_FAILED, "epoll: %s", strerror(errno));
}

static void
end(struct visit *v)
{
	if (v->answered)
		served++;
	else
		refused++;
	close(v->fd);
	v->fd = -1;
}

/* Reads to the end. */
static void
read_answer(struct visit *v)
{
	char buffer[4096];
	ssize_t n;

	while ((n = recv(v->fd, buffer, sizeof(buffer), 0)) > 0)
		v->answered = true;
	if (n == 0 || errno != EAGAIN)
		end(v);
}

static void
go_on(struct visit *v, uint32_t events)
{
	if (v->fd >= 0 && !v->sent && events & EPOLLOUT &&
	    !(events & (EPOLLERR | EPOLLHUP))) {
		v->sent = true;
		if (send(v->fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
			end(v);
	}
	if (v->fd >= 0 && events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		read_answer(v);
}

/* Without a rate at once. */
static bool
is_due(uint64_t began_ns)
{
	return opt.rate == 0 || begun * NS < (now_ns() - began_ns) * opt.rate;
}

static void
run(struct visit *visits, uint64_t began_ns)
{
	uint64_t ends_ns = began_ns + opt.ms * 1000000u;

	while (now_ns() < ends_ns) {
		struct epoll_event events[256];
		int n;

		for (uint64_t i = 0; i < opt.at_once; i++)
			if (visits[i].fd < 0 && is_due(began_ns))
				begin(&visits[i]);
		n = epoll_wait(set, events, 256, 1);
		for (int i = 0; i < n; i++)
			go_on(events[i].data.ptr, events[i].events);
	}
}

static void
read_options(int argc, char **argv)
{
	static const struct option options[] = {
	    {"sources", required_argument, NULL, 's'},
	    {"at-once", required_argument, NULL, 'a'},
	    {"ms", required_argument, NULL, 'm'},
	    {"rate", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0)
		if (c == 's')
			opt.sources = tool_number(optarg, SOURCES_MAX);
		else if (c == 'a')
			opt.at_once = tool_number(optarg, 10000);
		else if (c == 'm')
			opt.ms = tool_number(optarg, 600000);
		else if (c == 'r')
			opt.rate = tool_number(optarg, 1000000);
		else
			tool_die(TOOL_USAGE, "unknown option");
	if (optind != argc - 1 || opt.sources == 0 || opt.at_once == 0)
		tool_die(TOOL_USAGE,
		    "usage: sources [--sources N] [--at-once N] [--ms N] "
		    "[--rate N] ADDRESS");
	to = tool_addr(argv[optind]);
}

int
main(int argc, char **argv)
{
	struct visit *visits;
	uint64_t began_ns;

	read_options(argc, argv);
	tool_raise_descriptors();
	visits = calloc(opt.at_once, sizeof(*visits));
	set = epoll_create1(EPOLL_CLOEXEC);
	if (!visits || set < 0)
		tool_die(TOOL_FAILED, "out of memory");
	for (uint64_t i = 0; i < opt.at_once; i++)
		visits[i].fd = -1;
	began_ns = now_ns();
	run(visits, began_ns);
	printf("{\"begun\":%" PRIu64 ",\"served\":%" PRIu64
	       ",\"refused\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"ns\":%" PRIu64
	       "}\n",
	    begun, served, refused, failed, now_ns() - began_ns);
	return 0;
}
