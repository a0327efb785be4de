/* SPDX-License-Identifier: MIT
 * Clients that misbehave: silent, deaf, slow, idle, or gone.
 */
#include <getopt.h>
#include <sys/epoll.h>

#include "pace.h"

#define BATCH  64
#define BUFFER 65536

enum mode { SILENT, NEVER_READ, SLOW, IDLE, LEAVE, MODES };
static const char *const mode_names[MODES] = {
    "silent", "never-read", "slow", "idle", "leave"};

/* When a leaving client leaves. */
enum stage {
	AT_CONNECT,
	AT_GREETING,
	AT_PARTIAL,
	AT_HALF_CLOSE,
	AT_RESPONSE,
	AT_END,
	STAGES
};
static const char *const stage_names[STAGES] = {
    "connect", "greeting", "partial", "half-close", "response", "end"};

struct client {
	int fd;
	uint64_t sent, received;
};

static struct {
	enum mode mode;
	enum stage stage;
	bool reset, verify;
	uint64_t count, rate, seconds, bytes;
	const char *send;
} opt = {.stage = STAGES,
    .count = 1,
    .send = "GET / HTTP/1.1\r\nHost: test\r\n\r\n"};

static struct client *clients;
static uint64_t open_clients, began_ms;
static int epoll_fd;
static char scratch[BUFFER];

static int
usage(FILE *out)
{
	fputs(
	    "usage: badclient MODE ADDRESS [--count N] [--send TEXT] ...\n"
	    "  silent      send nothing, wait for the end\n"
	    "  never-read  send TEXT again and again, read nothing\n"
	    "  slow        send TEXT, read --rate BYTES a second, to the end;\n"
	    "              --bytes N: fail unless N bytes came\n"
	    "  idle        hold until SIGTERM; --verify: then each connection\n"
	    "              must still answer TEXT with something\n"
	    "  leave       --at connect|greeting|partial|half-close|response|"
	    "end\n"
	    "              --how fin|rst, one after another, --rate "
	    "CONNECTIONS\n"
	    "              a second, or all of them over --seconds N;\n"
	    "              greeting: once the server has spoken; end: once it\n"
	    "              has ended the connection\n"
	    "TEXT is an HTTP request if not given.  --deadline SECONDS\n",
	    out);
	return out == stdout ? TOOL_OK : TOOL_USAGE;
}

static unsigned long long
since_start(void)
{
	return tool_now_ms() - began_ms;
}

static void
open_all(const struct tool_addr *addr)
{
	struct epoll_event ev;

	clients = calloc(opt.count, sizeof(*clients));
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!clients || epoll_fd < 0)
		tool_die(TOOL_SYSTEM, "%s", strerror(errno));
	for (uint64_t i = 0; i < opt.count; i++) {
		clients[i].fd = tool_connect(addr);
		ev.events = opt.mode == NEVER_READ ? EPOLLOUT : EPOLLIN;
		if (opt.mode == SLOW)
			ev.events = 0;
		ev.data.ptr = &clients[i];
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, clients[i].fd, &ev);
	}
	open_clients = opt.count;
	printf("established %llu\n", (unsigned long long)opt.count);
	fflush(stdout);
}

static void
closed(struct client *c, bool reset)
{
	printf("closed how=%s after_ms=%llu sent=%llu received=%llu\n",
	    reset ? "rst" : "fin", since_start(), (unsigned long long)c->sent,
	    (unsigned long long)c->received);
	fflush(stdout);
	close(c->fd);
	c->fd = -1;
	open_clients--;
}

/* Reads up to that many bytes; false when the connection ended. */
static bool
read_some(struct client *c, size_t max)
{
	ssize_t n = recv(c->fd, scratch, max < BUFFER ? max : BUFFER, 0);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0) {
		closed(c, n < 0);
		return false;
	}
	c->received += (size_t)n;
	return true;
}

static void
send_more(struct client *c)
{
	size_t len = strlen(opt.send), at = (size_t)(c->sent % len);
	ssize_t n = send(c->fd, opt.send + at, len - at, MSG_NOSIGNAL);

	if (n > 0)
		c->sent += (size_t)n;
	else if (n < 0 && errno != EAGAIN)
		closed(c, errno == ECONNRESET);
}

static void
on_event(struct client *c, uint32_t events)
{
	if (opt.mode != NEVER_READ)
		read_some(c, BUFFER);
	else if (events & (EPOLLERR | EPOLLHUP))
		closed(c, events & EPOLLERR);
	else
		send_more(c);
}

static void
run_events(void)
{
	struct epoll_event events[BATCH];
	sigset_t mask = tool_catch_stop();
	int n;

	while (tool_goes_on() && open_clients > 0) {
		n = epoll_pwait(epoll_fd, events, BATCH, -1, &mask);
		for (int i = 0; i < n; i++)
			on_event(events[i].data.ptr, events[i].events);
	}
	printf("open %llu\n", (unsigned long long)open_clients);
	fflush(stdout);
}

static void
send_all(struct client *c)
{
	size_t len = strlen(opt.send);

	if (send(c->fd, opt.send, len, MSG_NOSIGNAL) != (ssize_t)len)
		tool_die(TOOL_FAILED, "send: %s", strerror(errno));
	c->sent += len;
}

/* One tick of 20 ms after the other, so much of the rate in each. */
static int
run_slow(void)
{
	const struct timespec tick = {.tv_nsec = 20 * 1000 * 1000};
	uint64_t allowed;
	bool all = true;

	for (uint64_t i = 0; i < opt.count; i++)
		send_all(&clients[i]);
	while (open_clients > 0) {
		allowed = since_start() * opt.rate / 1000;
		for (uint64_t i = 0; i < opt.count; i++) {
			struct client *c = &clients[i];

			if (c->fd >= 0 && c->received < allowed)
				read_some(c, (size_t)(allowed - c->received));
		}
		nanosleep(&tick, NULL);
	}
	for (uint64_t i = 0; i < opt.count; i++)
		all = all && clients[i].received >= opt.bytes;
	return all ? TOOL_OK : TOOL_FAILED;
}

/* Every connection still carries a request and an answer. */
static int
verify_all(void)
{
	uint64_t answered = 0;

	for (uint64_t i = 0; i < opt.count; i++) {
		struct client *c = &clients[i];

		if (c->fd < 0)
			continue;
		fcntl(c->fd, F_SETFL, 0);
		send_all(c);
		if (recv(c->fd, scratch, BUFFER, 0) > 0)
			answered++;
	}
	printf("verified %llu\n", (unsigned long long)answered);
	return answered == opt.count ? TOOL_OK : TOOL_FAILED;
}

static void
read_to_the_end(int fd)
{
	while (recv(fd, scratch, BUFFER, 0) > 0)
		continue;
}

static void
leave_once(const struct tool_addr *addr)
{
	struct client c = {.fd = tool_connect(addr)};
	size_t half = strlen(opt.send) / 2;

	fcntl(c.fd, F_SETFL, 0);
	if (opt.stage == AT_PARTIAL &&
	    send(c.fd, opt.send, half, MSG_NOSIGNAL) != (ssize_t)half)
		tool_die(TOOL_FAILED, "send: %s", strerror(errno));
	if (opt.stage == AT_HALF_CLOSE || opt.stage == AT_RESPONSE)
		send_all(&c);
	if (opt.stage == AT_END) {
		/* Fails where the connection has ended by now. */
		(void)send(c.fd, opt.send, strlen(opt.send), MSG_NOSIGNAL);
		read_to_the_end(c.fd);
	}
	if (opt.stage == AT_HALF_CLOSE)
		shutdown(c.fd, SHUT_WR);
	if ((opt.stage == AT_RESPONSE || opt.stage == AT_GREETING) &&
	    recv(c.fd, scratch, 100, 0) <= 0)
		tool_die(TOOL_FAILED, "no answer came");
	if (opt.reset)
		tool_reset(c.fd);
	else
		close(c.fd);
}

static int
run_leave(const struct tool_addr *addr)
{
	const uint64_t step_ns = opt.seconds ? opt.seconds * PACE_NS / opt.count
	                         : opt.rate  ? PACE_NS / opt.rate
	                                     : 0;
	uint64_t due_ns = pace_now_ns();

	for (uint64_t i = 0; i < opt.count; i++) {
		struct timespec left = pace_left(due_ns += step_ns);

		nanosleep(&left, NULL);
		leave_once(addr);
	}
	printf("left %llu\n", (unsigned long long)opt.count);
	return TOOL_OK;
}

static unsigned
find(const char *const *names, unsigned n, const char *s)
{
	unsigned i = 0;

	while (i < n && strcmp(names[i], s) != 0)
		i++;
	if (i == n)
		tool_die(TOOL_USAGE, "'%s' is unknown; try --help", s);
	return i;
}

static bool
set_option(int option)
{
	switch (option) {
	case 'c':
		opt.count = tool_number(optarg, 1000000);
		return true;
	case 's':
		opt.send = optarg;
		return *optarg;
	case 'r':
		opt.rate = tool_number(optarg, 1000000000);
		return true;
	case 'd':
		opt.seconds = tool_number(optarg, 86400);
		return true;
	case 'b':
		opt.bytes = tool_number(optarg, UINT64_MAX / 2);
		return true;
	case 'a':
		opt.stage = find(stage_names, STAGES, optarg);
		return true;
	case 'w':
		opt.reset = strcmp(optarg, "rst") == 0;
		return opt.reset || strcmp(optarg, "fin") == 0;
	case 'v':
		opt.verify = true;
		return true;
	case 't':
		tool_set_deadline(tool_number(optarg, 86400));
		return true;
	default:
		return false;
	}
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"count", required_argument, NULL, 'c'},
	    {"send", required_argument, NULL, 's'},
	    {"rate", required_argument, NULL, 'r'},
	    {"seconds", required_argument, NULL, 'd'},
	    {"bytes", required_argument, NULL, 'b'},
	    {"at", required_argument, NULL, 'a'},
	    {"how", required_argument, NULL, 'w'},
	    {"verify", no_argument, NULL, 'v'},
	    {"deadline", required_argument, NULL, 't'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	struct tool_addr addr;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		if (!set_option(option))
			return usage(option == 'h' ? stdout : stderr);
	if (argc - optind != 2)
		return usage(stderr);
	opt.mode = find(mode_names, MODES, argv[optind]);
	if ((opt.mode == LEAVE && opt.stage == STAGES) ||
	    (opt.mode == SLOW && opt.rate == 0))
		return usage(stderr);
	addr = tool_addr(argv[optind + 1]);
	tool_raise_descriptors();
	if (opt.mode == LEAVE)
		return run_leave(&addr);
	began_ms = tool_now_ms();
	open_all(&addr);
	if (opt.mode == SLOW)
		return run_slow();
	run_events();
	return opt.verify ? verify_all() : TOOL_OK;
}
