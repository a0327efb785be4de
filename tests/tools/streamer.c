/* SPDX-License-Identifier: MIT
 * Verified streams through a proxy: bytes lost, doubled, changed or reordered
 * are found at the first wrong byte, and the close of each half is checked.
 */
#include <getopt.h>
#include <sys/epoll.h>

#include "tools/streamer/stream.h"

#define BATCH 64

/* -- the client -- */

static struct tool_addr server_addr, bind_addr;
static bool bound;

static void
client_open(struct stream *s)
{
	stream_open(
	    s, tool_connect_from(bound ? &bind_addr : NULL, &server_addr));
	s->started = true;
	s->mode = opt.mode;
	s->tx_total = opt.up;
	s->rx_total = opt.mode == MODE_ECHO ? opt.up : opt.down;
	s->tx_seed = opt.seed + random_below(1u << 30);
	s->rx_seed = s->tx_seed + (opt.mode == MODE_ECHO ? 0 : DOWN_SEED);
	stream_put_line(s, "LFS1 %s %llu %llu %llu\n", mode_names[s->mode],
	    (unsigned long long)s->tx_total, (unsigned long long)s->rx_total,
	    (unsigned long long)s->tx_seed);
	stream_set_interest(s);
}

/* Ends pauses that are over; returns epoll's timeout. */
static int
end_pauses(struct stream *streams, size_t n)
{
	uint64_t now = tool_now_ms();
	bool any = false;

	if (opt.pause_ms == 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct stream *s = &streams[i];

		if (s->fd < 0)
			continue;
		if (s->rx_at_ms <= now)
			s->rx_at_ms = 0;
		if (s->tx_at_ms <= now)
			s->tx_at_ms = 0;
		any = any || s->rx_at_ms || s->tx_at_ms;
		stream_set_interest(s);
	}
	return any ? 1 : -1;
}

static void
on_usr1(int sig)
{
	(void)sig;
	reading_allowed = 1;
}

/* Begins the streams of connections whose rest is over; returns epoll's
 * timeout. rest_end_ms: by id, 0 for a connection that does not rest. */
static int
end_rests(struct stream *streams, uint64_t *rest_end_ms)
{
	uint64_t now = tool_now_ms(), left = UINT64_MAX;

	for (size_t i = 0; opt.rest_ms > 0 && i < opt.connections; i++) {
		if (rest_end_ms[i] == 0)
			continue;
		if (rest_end_ms[i] > now) {
			if (rest_end_ms[i] - now < left)
				left = rest_end_ms[i] - now;
			continue;
		}
		rest_end_ms[i] = 0;
		client_open(&streams[i]);
	}
	return left == UINT64_MAX ? -1 : (int)left;
}

static void
report(uint64_t began_ms)
{
	printf("ok=%llu lost=%llu unnamed=%llu failed=%llu up=%llu down=%llu "
	       "ms=%llu\n",
	    (unsigned long long)sum.ok, (unsigned long long)sum.lost,
	    (unsigned long long)sum.unnamed, (unsigned long long)sum.failed,
	    (unsigned long long)sum.up, (unsigned long long)sum.down,
	    (unsigned long long)(tool_now_ms() - began_ms));
	fflush(stdout);
}

static int
run_client(const char *address)
{
	struct epoll_event events[BATCH];
	struct stream *streams = calloc(opt.connections, sizeof(*streams));
	uint64_t *rounds = calloc(opt.connections, sizeof(*rounds));
	uint64_t *rest_end_ms = calloc(opt.connections, sizeof(*rest_end_ms));
	uint64_t began = tool_now_ms(), running = 0;
	sigset_t mask = tool_catch_stop();
	bool held = !reading_allowed;
	int n, rest, pause;

	if (!streams || !rounds || !rest_end_ms)
		tool_die(TOOL_SYSTEM, "out of memory");
	server_addr = tool_addr(address);
	for (; running < opt.connections; running++) {
		streams[running].id = (unsigned)running;
		client_open(&streams[running]);
	}
	printf("established %llu\n", (unsigned long long)running);
	fflush(stdout);
	while (running > 0 && !tool_told_to_stop && sum.failed == 0) {
		rest = end_rests(streams, rest_end_ms);
		pause = end_pauses(streams, opt.connections);
		n = epoll_pwait(
		    epoll_fd, events, BATCH, pause < 0 ? rest : pause, &mask);
		for (int i = 0; i < n; i++) {
			struct stream *s = events[i].data.ptr;

			if (stream_serve(s, events[i].events))
				continue;
			if (opt.duration_ms
			        ? tool_now_ms() >= began + opt.duration_ms
			        : ++rounds[s->id] >= opt.repeat)
				running--;
			else if (opt.rest_ms > 0)
				rest_end_ms[s->id] =
				    tool_now_ms() + opt.rest_ms;
			else
				client_open(s);
		}
		for (size_t i = 0;
		     held && reading_allowed && i < opt.connections; i++)
			stream_set_interest(&streams[i]);
		held = held && !reading_allowed;
	}
	report(began);
	free(streams);
	free(rounds);
	free(rest_end_ms);
	return sum.failed || running ? TOOL_FAILED : TOOL_OK;
}

/* -- the server -- */

struct table {
	struct stream **streams;
	size_t n;
};

static void
accept_all(int listener, struct table *t)
{
	struct stream *s;
	int one = 1, fd;

	while ((fd = accept4(
	            listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		s = calloc(1, sizeof(*s));
		t->streams =
		    realloc(t->streams, (t->n + 1) * sizeof(struct stream *));
		if (!s || !t->streams)
			tool_die(TOOL_SYSTEM, "out of memory");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		s->id = (unsigned)t->n;
		stream_open(s, fd);
		t->streams[t->n++] = s;
	}
}

static int
end_server_pauses(struct table *t, bool held)
{
	int timeout = -1, one;

	for (size_t i = 0; i < t->n; i++) {
		one = end_pauses(t->streams[i], 1);
		timeout = one >= 0 ? one : timeout;
		if (held && reading_allowed)
			stream_set_interest(t->streams[i]);
	}
	return timeout;
}

static void
forget(struct table *t, struct stream *s)
{
	size_t i = 0;

	while (t->streams[i] != s)
		i++;
	t->streams[i] = t->streams[--t->n];
	free(s);
	report(tool_now_ms());
}

static int
run_server(const char *address)
{
	struct epoll_event events[BATCH], ev = {.events = EPOLLIN};
	uint64_t began = tool_now_ms();
	struct table t = {.streams = NULL};
	int listener = tool_listen(address, 4096), timeout, n;
	sigset_t mask = tool_catch_stop();
	bool held = !reading_allowed;

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
	while (!tool_told_to_stop) {
		timeout =
		    held || opt.pause_ms ? end_server_pauses(&t, held) : -1;
		held = held && !reading_allowed;
		n = epoll_pwait(epoll_fd, events, BATCH, timeout, &mask);
		for (int i = 0; i < n; i++) {
			struct stream *s = events[i].data.ptr;

			if (!s)
				accept_all(listener, &t);
			else if (!stream_serve(s, events[i].events))
				forget(&t, s);
		}
	}
	for (size_t i = 0; i < t.n; i++) {
		stream_close(t.streams[i], false);
		free(t.streams[i]);
	}
	free(t.streams);
	report(began);
	return sum.failed ? TOOL_FAILED : TOOL_OK;
}

/* The bytes of a stream to stdout, for other tools to carry. */
static int
run_generate(void)
{
	static unsigned char bytes[BUFFER];
	size_t n;

	for (uint64_t at = 0; at < opt.up; at += n) {
		n = opt.up - at < BUFFER ? (size_t)(opt.up - at) : BUFFER;
		stream_generate(opt.seed, at, bytes, n);
		if (fwrite(bytes, 1, n, stdout) != n)
			tool_die(TOOL_FAILED, "write: %s", strerror(errno));
	}
	return fflush(stdout) ? TOOL_FAILED : TOOL_OK;
}

static int
usage(FILE *out)
{
	fputs("usage: streamer server ADDRESS [--name NAME] [options]\n"
	      "       streamer client ADDRESS [--mode both|echo|first]\n"
	      "                [--bind ADDRESS:0] [--connections N]\n"
	      "                [--up BYTES] [--down BYTES]\n"
	      "                [--repeat N | --duration SECONDS] [--rest MS]\n"
	      "                [--allow-loss NAME] [options]\n"
	      "       streamer generate --up BYTES [--seed N]\n"
	      "options:\n"
	      "  --seed N           what the bytes are made from\n"
	      "  --chunk N          bytes per send, 0: random sizes\n"
	      "  --pause MS         now and then stop up to so long\n"
	      "  --rest MS          of a connection between its streams\n"
	      "  --hold-reading     do not read before SIGUSR1\n"
	      "  --deadline SECONDS\n"
	      "  --secure           TLS; a server needs --cert\n" TLS_USAGE,
	    out);
	return out == stdout ? TOOL_OK : TOOL_USAGE;
}

static void
set_mode(const char *s)
{
	while (opt.mode < MODES && strcmp(mode_names[opt.mode], s) != 0)
		opt.mode++;
	if (opt.mode == MODES)
		tool_die(TOOL_USAGE, "'%s' is no mode", s);
}

static bool
set_option(int option)
{
	switch (option) {
	case 'n':
		opt.name = optarg;
		return true;
	case 'm':
		set_mode(optarg);
		return true;
	case 'c':
		opt.connections = tool_number(optarg, 100000);
		return true;
	case 'u':
		opt.up = tool_number(optarg, UINT64_MAX / 2);
		return true;
	case 'd':
		opt.down = tool_number(optarg, UINT64_MAX / 2);
		return true;
	case 'r':
		opt.repeat = tool_number(optarg, UINT64_MAX / 2);
		return true;
	case 'D':
		opt.duration_ms = tool_number(optarg, 86400) * 1000;
		return true;
	case 'a':
		opt.allow_loss = optarg;
		return true;
	case 's':
		opt.seed = tool_number(optarg, UINT64_MAX / 2);
		return true;
	case 'k':
		opt.chunk = tool_number(optarg, BUFFER);
		return true;
	case 'p':
		opt.pause_ms = tool_number(optarg, 60000);
		return true;
	case 'R':
		opt.rest_ms = tool_number(optarg, 60000);
		return true;
	case 'H':
		reading_allowed = 0;
		return true;
	case 't':
		tool_set_deadline(tool_number(optarg, 86400));
		return true;
	case 'b':
		bind_addr = tool_addr(optarg);
		bound = true;
		return true;
	case 'S':
		opt.secure = true;
		return true;
	default:
		return tls_option(&opt.tls, option, optarg);
	}
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"name", required_argument, NULL, 'n'},
	    {"mode", required_argument, NULL, 'm'},
	    {"connections", required_argument, NULL, 'c'},
	    {"bind", required_argument, NULL, 'b'},
	    {"up", required_argument, NULL, 'u'},
	    {"down", required_argument, NULL, 'd'},
	    {"repeat", required_argument, NULL, 'r'},
	    {"duration", required_argument, NULL, 'D'},
	    {"allow-loss", required_argument, NULL, 'a'},
	    {"seed", required_argument, NULL, 's'},
	    {"chunk", required_argument, NULL, 'k'},
	    {"pause", required_argument, NULL, 'p'},
	    {"rest", required_argument, NULL, 'R'},
	    {"hold-reading", no_argument, NULL, 'H'},
	    {"deadline", required_argument, NULL, 't'},
	    {"secure", no_argument, NULL, 'S'},
	    {"help", no_argument, NULL, 'h'},
	    TLS_OPTIONS,
	    {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		if (!set_option(option))
			return usage(option == 'h' ? stdout : stderr);
	argc -= optind;
	argv += optind;
	signal(SIGUSR1, on_usr1);
	tool_raise_descriptors();
	random_state = opt.seed;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (argc == 1 && strcmp(argv[0], "generate") == 0)
		return run_generate();
	opt.server = argc == 2 && strcmp(argv[0], "server") == 0;
	if (opt.secure)
		context = tls_make_context(&opt.tls, opt.server);
	if (opt.server)
		return run_server(argv[1]);
	if (argc == 2 && strcmp(argv[0], "client") == 0)
		return run_client(argv[1]);
	return usage(stderr);
}
