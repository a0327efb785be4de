/* SPDX-License-Identifier: MIT
 * Servers that misbehave: refusing, silent, resetting, half-closing, slow, or
 * with a full backlog.
 */
#include <getopt.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "tool.h"

#define BATCH  64
#define BUFFER 65536

enum mode {
	REFUSE,      /* bound, not listening */
	FULL,        /* listening; the backlog is full, a SYN gets no answer */
	SILENT,      /* accepts, reads everything, never answers */
	NEVER_READ,  /* accepts, and no more */
	RESET,       /* accepts, then RST */
	CLOSE,       /* accepts, then FIN */
	REPLY_RESET, /* sends --bytes after the first byte came, then RST */
	HALF_CLOSE,  /* sends --bytes, ends its half, reads to the end */
	SLOW,        /* after the first byte came, --bytes at --rate */
	MODES
};
static const char *const mode_names[MODES] = {"refuse", "full", "silent",
    "never-read", "reset", "close", "reply-reset", "half-close", "slow"};

struct peer {
	int fd;
	bool asked;
	bool reset; /* a send has told; recv then tells an end */
	uint64_t began_ms, sent, received;
	struct peer *next;
};

static enum mode mode;
static uint64_t answer_bytes = 6, rate = 1000;
static struct peer *peers;
static uint64_t accepted;
static int epoll_fd;
static char scratch[BUFFER];

static int
usage(FILE *out)
{
	fputs("usage: badserver MODE ADDRESS [--bytes N] [--rate BYTES] "
	      "[--deadline SECONDS]\n"
	      "MODE: refuse full silent never-read reset close reply-reset\n"
	      "      half-close slow\n",
	    out);
	return out == stdout ? TOOL_OK : TOOL_USAGE;
}

static void
peer_closed(struct peer *p, const char *how)
{
	struct peer **at = &peers;

	printf("closed how=%s sent=%llu received=%llu\n", how,
	    (unsigned long long)p->sent, (unsigned long long)p->received);
	fflush(stdout);
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free(p);
}

static void
send_up_to(struct peer *p, uint64_t limit)
{
	size_t len;
	ssize_t n;

	if (limit > answer_bytes)
		limit = answer_bytes;
	while (p->sent < limit) {
		len = limit - p->sent < BUFFER ? (size_t)(limit - p->sent)
		                               : BUFFER;
		n = send(p->fd, scratch, len, MSG_NOSIGNAL);
		if (n <= 0) {
			p->reset |= n < 0 && errno == ECONNRESET;
			return;
		}
		p->sent += (size_t)n;
	}
}

/* A reset throws away what has not left; so it has to wait. */
static bool
all_has_left(const struct peer *p)
{
	int queued = 0;

	if (p->sent < answer_bytes)
		return false;
	return ioctl(p->fd, SIOCOUTQ, &queued) < 0 || queued == 0;
}

/* What time, not the peer, makes a server do; false when it is through. */
static bool
move_on(struct peer *p)
{
	uint64_t before = p->sent;

	if (mode == HALF_CLOSE && p->sent < answer_bytes) {
		send_up_to(p, answer_bytes);
		if (p->sent == answer_bytes)
			shutdown(p->fd, SHUT_WR);
	} else if (mode == SLOW && p->asked) {
		send_up_to(p, (tool_now_ms() - p->began_ms) * rate / 1000 + 1);
		if (p->sent == answer_bytes && before < answer_bytes)
			shutdown(p->fd, SHUT_WR);
	} else if (mode == REPLY_RESET && p->asked) {
		send_up_to(p, answer_bytes);
		if (all_has_left(p)) {
			tool_reset(p->fd);
			return false;
		}
	}
	return true;
}

static void
on_input(struct peer *p)
{
	ssize_t n = recv(p->fd, scratch + BUFFER / 2, BUFFER / 2, 0);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		close(p->fd);
		peer_closed(p, n < 0 || p->reset ? "rst" : "fin");
		return;
	}
	/* The second half is for reading, answers come from all of it. */
	memset(scratch + BUFFER / 2, 'x', (size_t)n);
	if (!p->asked)
		p->began_ms = tool_now_ms();
	p->asked = true;
	p->received += (size_t)n;
}

static void
welcome(int fd)
{
	struct epoll_event ev = {
	    .events = mode == NEVER_READ ? 0 : EPOLLIN,
	};
	struct peer *p;

	accepted++;
	if (mode == RESET) {
		tool_reset(fd);
		return;
	}
	if (mode == CLOSE) {
		close(fd);
		return;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		tool_die(TOOL_SYSTEM, "out of memory");
	p->fd = fd;
	p->next = peers;
	peers = p;
	ev.data.ptr = p;
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

static void
on_event(struct peer *p, uint32_t events, int listener)
{
	int fd;

	if (p && mode == NEVER_READ && (events & (EPOLLERR | EPOLLHUP))) {
		close(p->fd);
		peer_closed(p, events & EPOLLERR ? "rst" : "fin");
	} else if (p) {
		on_input(p);
	} else {
		while ((fd = accept4(listener, NULL, NULL,
		            SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
			welcome(fd);
	}
}

/* Whether some peer waits for time to pass. */
static bool
move_all_on(void)
{
	struct peer *p, *next;
	bool waiting = false;

	for (p = peers; p; p = next) {
		next = p->next;
		if (!move_on(p))
			peer_closed(p, "sent-rst");
		else if (p->sent < answer_bytes || mode == REPLY_RESET)
			waiting = true;
	}
	return waiting;
}

static void
run(int listener)
{
	struct epoll_event events[BATCH], ev = {.events = EPOLLIN};
	sigset_t mask = tool_catch_stop();
	bool timed = mode == HALF_CLOSE || mode == SLOW || mode == REPLY_RESET;
	int n, timeout;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 ||
	    (mode != REFUSE && mode != FULL &&
	        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &ev) < 0))
		tool_die(TOOL_SYSTEM, "epoll: %s", strerror(errno));
	while (tool_goes_on()) {
		timeout = timed && move_all_on() ? 5 : -1;
		n = epoll_pwait(epoll_fd, events, BATCH, timeout, &mask);
		for (int i = 0; i < n; i++)
			on_event(
			    events[i].data.ptr, events[i].events, listener);
	}
}

/* Connects to the listener until a connection is not answered any more. */
static void
fill_backlog(int listener)
{
	struct tool_addr a = {.len = sizeof(a.storage)};
	struct timespec wait = {.tv_nsec = 100 * 1000 * 1000};
	struct tcp_info info;
	socklen_t len;
	int fd;

	getsockname(listener, &a.sa, &a.len);
	for (int i = 0; i < 64; i++) {
		fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (fd < 0)
			break;
		if (connect(fd, &a.sa, a.len) < 0 && errno != EINPROGRESS)
			tool_die(TOOL_SYSTEM, "connect: %s", strerror(errno));
		nanosleep(&wait, NULL);
		len = sizeof(info);
		getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
		if (info.tcpi_state == TCP_SYN_SENT)
			return;
	}
	tool_die(TOOL_SYSTEM, "the backlog does not fill");
}

static int
open_listener(const char *address)
{
	int fd;

	if (mode == REFUSE) {
		fd = tool_bind(address);
		tool_print_listening(fd);
	} else if (mode == FULL) {
		fd = tool_bind(address);
		if (listen(fd, 0) < 0)
			tool_die(TOOL_SYSTEM, "listen: %s", strerror(errno));
		fill_backlog(fd);
		tool_print_listening(fd);
	} else {
		fd = tool_listen(address, 1024);
	}
	return fd;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"bytes", required_argument, NULL, 'b'},
	    {"rate", required_argument, NULL, 'r'},
	    {"deadline", required_argument, NULL, 't'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'b')
			answer_bytes = tool_number(optarg, UINT64_MAX / 2);
		else if (option == 'r')
			rate = tool_number(optarg, 1000000000);
		else if (option == 't')
			tool_set_deadline(tool_number(optarg, 86400));
		else
			return usage(option == 'h' ? stdout : stderr);
	}
	if (argc - optind != 2)
		return usage(stderr);
	while (mode < MODES && strcmp(mode_names[mode], argv[optind]) != 0)
		mode++;
	if (mode == MODES)
		return usage(stderr);
	memset(scratch, 'x', sizeof(scratch));
	tool_raise_descriptors();
	run(open_listener(argv[optind + 1]));
	printf("accepted %llu\n", (unsigned long long)accepted);
	return TOOL_OK;
}
