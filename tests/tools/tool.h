/* SPDX-License-Identifier: MIT
 * What the test tools share: addresses, sockets, time, and how they end.
 *
 * Every tool is one single-threaded program.  It prints results as lines on
 * stdout, each flushed, and says what went wrong on stderr.  Nothing here is
 * part of lfproxy; the tools must not share its mistakes.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum tool_exit {
	TOOL_OK = 0,
	TOOL_FAILED = 1, /* what was tested is not as it should be */
	TOOL_USAGE = 2,
	TOOL_SYSTEM = 3,   /* could not bind, connect, allocate ... */
	TOOL_DEADLINE = 4, /* --deadline passed */
};

_Noreturn static inline void tool_die(enum tool_exit code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* `NAME: sentence` on stderr, and the end. */
_Noreturn static inline void
tool_die(enum tool_exit code, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

static inline uint64_t
tool_number(const char *s, uint64_t max)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno || n > max)
		tool_die(TOOL_USAGE, "'%s' is not a number from 0 to %llu", s,
		    (unsigned long long)max);
	return n;
}

/* A number that looks random and follows from x (splitmix64). */
static inline uint64_t
tool_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline uint64_t
tool_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static inline void
tool_deadline_passed(int sig)
{
	static const char text[] = "deadline passed\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(TOOL_SYSTEM);
	_exit(TOOL_DEADLINE);
}

/* Ends the program with TOOL_DEADLINE after that many seconds; 0: never. */
static inline void
tool_set_deadline(uint64_t seconds)
{
	signal(SIGALRM, tool_deadline_passed);
	alarm((unsigned)seconds);
}

/* As many descriptors as the hard limit allows. */
static inline void
tool_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

struct tool_addr {
	union {
		struct sockaddr sa;
		struct sockaddr_un un;
		struct sockaddr_storage storage;
	};
	socklen_t len;
};

/* HOST:PORT, [V6]:PORT or unix:/path. */
static inline struct tool_addr
tool_addr(const char *s)
{
	struct tool_addr a = {.len = sizeof(struct sockaddr_un)};
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	const char *colon = strrchr(s, ':');
	char host[256];
	int rc;

	if (strncmp(s, "unix:", 5) == 0) {
		if (strlen(s + 5) >= sizeof(a.un.sun_path))
			tool_die(TOOL_USAGE, "the path in '%s' is too long", s);
		a.un.sun_family = AF_UNIX;
		strcpy(a.un.sun_path, s + 5);
		return a;
	}
	if (!colon || (size_t)(colon - s) >= sizeof(host))
		tool_die(TOOL_USAGE, "'%s' is not HOST:PORT or unix:/path", s);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - s), s);
	if (host[0] == '[') {
		memmove(host, host + 1, strlen(host));
		host[strcspn(host, "]")] = '\0';
	}
	rc = getaddrinfo(host, colon + 1, &hints, &found);
	if (rc != 0)
		tool_die(TOOL_USAGE, "'%s': %s", s, gai_strerror(rc));
	memcpy(&a.storage, found->ai_addr, found->ai_addrlen);
	a.len = found->ai_addrlen;
	freeaddrinfo(found);
	return a;
}

/* A socket that is bound, and non-blocking; a unix path is taken over. */
static inline int
tool_bind(const char *text)
{
	struct tool_addr a = tool_addr(text);
	int one = 1, fd;

	fd = socket(
	    a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		tool_die(TOOL_SYSTEM, "socket: %s", strerror(errno));
	if (a.sa.sa_family == AF_UNIX)
		unlink(a.un.sun_path);
	else
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &a.sa, a.len) < 0)
		tool_die(
		    TOOL_SYSTEM, "cannot bind %s: %s", text, strerror(errno));
	return fd;
}

/* `listening on ADDRESS`, with the port that the kernel chose. */
static inline void
tool_print_listening(int fd)
{
	struct tool_addr a = {.len = sizeof(a.storage)};
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getsockname(fd, &a.sa, &a.len) < 0)
		tool_die(TOOL_SYSTEM, "getsockname: %s", strerror(errno));
	if (a.sa.sa_family == AF_UNIX) {
		printf("listening on unix:%s\n", a.un.sun_path);
	} else {
		getnameinfo(&a.sa, a.len, host, sizeof(host), port,
		    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
		printf(a.sa.sa_family == AF_INET6 ? "listening on [%s]:%s\n"
		                                  : "listening on %s:%s\n",
		    host, port);
	}
	fflush(stdout);
}

static inline int
tool_listen(const char *text, int backlog)
{
	int fd = tool_bind(text);

	if (listen(fd, backlog) < 0)
		tool_die(TOOL_SYSTEM, "cannot listen on %s: %s", text,
		    strerror(errno));
	tool_print_listening(fd);
	return fd;
}

/* A connection that is established, and non-blocking.  from: the address it
 * comes from; NULL: the kernel chooses it. */
static inline int
tool_connect_from(const struct tool_addr *from, const struct tool_addr *a)
{
	int one = 1, fd;

	fd = socket(a->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		tool_die(TOOL_SYSTEM, "socket: %s", strerror(errno));
	if (from && bind(fd, &from->sa, from->len) < 0)
		tool_die(TOOL_SYSTEM, "bind: %s", strerror(errno));
	if (connect(fd, &a->sa, a->len) < 0)
		tool_die(TOOL_SYSTEM, "connect: %s", strerror(errno));
	if (a->sa.sa_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static inline int
tool_connect(const struct tool_addr *a)
{
	return tool_connect_from(NULL, a);
}

/* Closes with RST instead of FIN; on a unix socket it is a plain close. */
static inline void
tool_reset(int fd)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

/* Weak: the files of one tool share it. */
__attribute__((weak)) volatile sig_atomic_t tool_told_to_stop;

static inline void
tool_note_stop(int sig)
{
	(void)sig;
	tool_told_to_stop = 1;
}

/* SIGTERM and SIGINT set tool_told_to_stop.  They stay blocked outside
 * epoll_pwait, which is to be called with the returned mask, so that none can
 * slip in between the check of the flag and the wait. */
static inline sigset_t
tool_catch_stop(void)
{
	struct sigaction sa = {.sa_handler = tool_note_stop};
	sigset_t stop, before;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGUSR1);
	sigprocmask(SIG_BLOCK, &stop, &before);
	/* Whoever started the tool may have blocked or ignored them. */
	sigdelset(&before, SIGTERM);
	sigdelset(&before, SIGINT);
	sigdelset(&before, SIGUSR1);
	return before;
}

/* epoll_pwait delivers no signal as long as something is ready at once: a loop
 * that may always find something asks here whether it is to go on. */
static inline bool
tool_goes_on(void)
{
	sigset_t pending;

	sigpending(&pending);
	return !tool_told_to_stop && !sigismember(&pending, SIGTERM) &&
	       !sigismember(&pending, SIGINT);
}

#endif
