/* SPDX-License-Identifier: MIT
 * What a client of the HTTP port may send: any bytes, through libmicrohttpd and
 * our pages, on an lfproxy that has something to show.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/world.h"
#include "net/sock.h"

#define TURNS_MAX 100
/* Most clients go away after the beginning of a page, else pages, which are
 * always the same, would take most of the time. */
#define ANSWERS_MAX (256 * 1024)
#define ENOUGH      2048
#define PATIENT     16 /* one client in PATIENT reads it all */

static struct addr where;

/* In the place of http.c's port: a unix socket without a file, since a million
 * connections would use up the ports. */
int __wrap_sock_listen(const struct addr *addr, bool both_families,
    uint32_t mode, struct err *err);
int __real_sock_listen(const struct addr *addr, bool both_families,
    uint32_t mode, struct err *err);
int
__wrap_sock_listen(
    const struct addr *addr, bool both_families, uint32_t mode, struct err *err)
{
	int fd;

	if (addr->sa.sa_family == AF_UNIX) /* the world's */
		return __real_sock_listen(addr, both_families, mode, err);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	where.un.sun_family = AF_UNIX;
	where.len = sizeof(where.un.sun_family); /* the kernel names it */
	ENSURE(fd >= 0 && bind(fd, &where.sa, where.len) == 0);
	ENSURE(listen(fd, 16) == 0);
	where.len = sizeof(where.un);
	ENSURE(getsockname(fd, &where.sa, &where.len) == 0);
	return fd;
}

static char answer[ANSWERS_MAX + 1];

/* An answer is one of HTTP's, whatever was asked. */
static void
judge(size_t n)
{
	answer[n] = '\0';
	if (n > 0)
		ENSURE(strncmp(answer, "HTTP/1.", 7) == 0);
}

/* How many bytes came.  The end, or a bound. */
static size_t
listen_to(struct world *w, int fd, size_t taken)
{
	static unsigned heard;
	size_t enough = heard++ % PATIENT == 0 ? ANSWERS_MAX : ENOUGH;
	int quiet = 0;

	for (int i = 0; i < TURNS_MAX && quiet < 3; i++) {
		ssize_t n;

		world_turn(w);
		if (taken >= enough)
			break;
		n = recv(fd, answer + taken, enough - taken, MSG_DONTWAIT);
		if (n == 0)
			break;
		taken += n > 0 ? (size_t)n : 0;
		quiet = n > 0 ? 0 : quiet + 1;
	}
	return taken;
}

static void
say_and_hear(struct world *w, const uint8_t *data, size_t size)
{
	size_t first = size % 2 ? size / 2 : 0, taken = 0;
	bool connected;
	int fd = sock_connect(&where, &connected);

	ENSURE(fd >= 0 && connected);
	if (first > 0) {
		(void)send(fd, data, first, MSG_NOSIGNAL | MSG_DONTWAIT);
		taken = listen_to(w, fd, taken);
	}
	(void)send(fd, data + first, size - first, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(fd, SHUT_WR);
	taken = listen_to(w, fd, taken);
	judge(taken);
	close(fd);
	/* The library is to see that it has gone. */
	world_turn(w);
	world_turn(w);
}

static struct world *
start(void)
{
	struct world *w = world_get();
	static const char plain[] =
	    "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
	static bool tried;

	if (tried)
		return w;
	tried = true;
	say_and_hear(w, (const uint8_t *)plain, sizeof(plain) - 1);
	ENSURE(strncmp(answer, "HTTP/1.1 200 OK\r\n", 17) == 0);
	return w;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	say_and_hear(start(), data, size);
	return 0;
}
