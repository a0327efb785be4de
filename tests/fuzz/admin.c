/* SPDX-License-Identifier: MIT
 * What an admin client may send: any bytes, through the connection's own code
 * and the commands, on an lfproxy that has something to be changed.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/client.h"
#include "fuzz/fuzz.h"
#include "fuzz/world.h"

#define TURNS_MAX 2000
#define WAITS_MAX 20
/* Most clients go away when they have heard so much, one of PATIENT later. */
#define ENOUGH      (16 * 1024)
#define ANSWERS_MAX (512 * 1024)
#define PATIENT     16

static struct client *client;

static void
on_gone(struct client *c)
{
	ENSURE(c == client);
	client = NULL;
}

/* Bytes that came; 0 at the end, or -1: nothing so far. */
static ssize_t
take_answer(int peer)
{
	static char buffer[64 * 1024];
	ssize_t n = recv(peer, buffer, sizeof(buffer), MSG_DONTWAIT);

	ENSURE(n >= 0 || errno == EAGAIN || errno == ECONNRESET);
	return n < 0 && errno != EAGAIN ? 0 : n;
}

/* Pauses are over at once; some end with the next turn of the loop. */
static bool
is_waiting(unsigned *waits)
{
	if (!ev_is_active(&client->pause))
		return false;
	if (ev_timer_remaining(client->loop, &client->pause) <= 0.)
		return true;
	fuzz_pass_ms(500);
	return ++*waits < WAITS_MAX;
}

/* Until the client has said all, or has said enough, or waits for more. */
static void
listen_to(struct world *w, int peer)
{
	static unsigned heard;
	size_t enough = heard++ % PATIENT == 0 ? ANSWERS_MAX : ENOUGH;
	unsigned waits = 0;
	size_t taken = 0;
	int quiet = 0;

	for (int i = 0; client && i < TURNS_MAX && quiet < 3; i++) {
		ssize_t n;

		world_turn(w);
		n = take_answer(peer);
		if (n == 0 || taken > enough)
			return;
		taken += n > 0 ? (size_t)n : 0;
		quiet = n > 0 || (client && is_waiting(&waits)) ? 0 : quiet + 1;
	}
}

static void
say(int peer, const uint8_t *data, size_t size)
{
	while (client && size > 0) {
		ssize_t n = send(peer, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return; /* it does not listen any more */
		data += n;
		size -= (size_t)n;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char shut[] = "shutdown frontend";
	const struct command_mode mode = {
	    .level = LEVEL_ADMIN, .timeout_s = 10};
	struct world *w = world_get();
	size_t first = size % 2 ? size / 2 : 0;
	int pair[2];

	ENSURE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	           0, pair) == 0);
	client = client_new(w->loop, pair[0], &w->env, &mode, NULL, on_gone);
	ENSURE(client);
	/* Half a line, or what comes while an answer is given. */
	if (first > 0) {
		say(pair[1], data, first);
		listen_to(w, pair[1]);
	}
	say(pair[1], data + first, size - first);
	shutdown(pair[1], SHUT_WR);
	if (client)
		listen_to(w, pair[1]);
	if (client)
		client_close(client);
	close(pair[1]);
	world_heal(w, memmem(data, size, shut, sizeof(shut) - 1) != NULL);
	return 0;
}
