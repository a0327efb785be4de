/* SPDX-License-Identifier: MIT
 * Messages of all kinds, as a process sends them to the one that takes over:
 * records of a letter, a length of 16 bits and that many bytes; for a
 * session the first of these is the number of descriptors.  A record of an
 * ended session that is accepted is written as one that is read as the same.
 * Counts of sessions at servers have few digits: the receiver reserves a place
 * at the server for each session that is counted.
 */
#include <ctype.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/world.h"
#include "handover/session_receiver.h"
#include "net/handover.h"
#include "proxy/closed_image.h"
#include "proxy/failures_image.h"

#define PARTS_MAX  200
#define DIGITS_MAX 4
#define FDS_MAX    6

static const struct {
	char letter;
	enum handover_kind kind;
} kinds[] = {
    {'n', HANDOVER_COUNTS},
    {'c', HANDOVER_COUNTERS},
    {'l', HANDOVER_LATER},
    {'p', HANDOVER_PASSED},
    {'s', HANDOVER_SOURCES},
    {'e', HANDOVER_CLOSED},
    {'f', HANDOVER_FAILURES},
    {'i', HANDOVER_SESSION},
    {'o', HANDOVER_SOCKETS},
    {'u', HANDOVER_KINDS},
};

struct record {
	enum handover_kind kind;
	const uint8_t *data;
	size_t size;
};

/* Returns the number of bytes that it takes, 0: there is no further one. */
static size_t
read_record(const uint8_t *data, size_t size, struct record *ret_record)
{
	struct record *r = ret_record;
	size_t n = size < 3 ? 0 : data[1] | (size_t)data[2] << 8;

	if (size < 3)
		return 0;
	*r = (struct record){HANDOVER_KINDS, data + 3, n};
	if (r->size > size - 3)
		r->size = size - 3;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].letter == (char)data[0])
			r->kind = kinds[i].kind;
	return 3 + r->size;
}

static bool
has_long_number(const struct record *r)
{
	unsigned digits = 0;

	for (size_t i = 0; i < r->size; i++) {
		digits = isdigit(r->data[i]) ? digits + 1 : 0;
		if (digits > DIGITS_MAX)
			return true;
	}
	return false;
}

/* -- records of ended sessions -- */

static void
check_closed(const struct record *r)
{
	static uint8_t bytes[CLOSED_IMAGE_MAX];
	static struct closed_session c, again;
	size_t n;

	if (!closed_image_decode(r->data, r->size, &c))
		return;
	n = closed_image_encode(&c, bytes);
	ENSURE(n <= sizeof(bytes));
	ENSURE(closed_image_decode(bytes, n, &again));
	ENSURE(again.id == c.id && again.ended_ns == c.ended_ns &&
	       again.first == c.first && again.names_len == c.names_len &&
	       memcmp(again.names, c.names, c.names_len) == 0);
	ENSURE(again.session.reason == c.session.reason &&
	       again.session.total_ms == c.session.total_ms &&
	       again.session.tls.version == c.session.tls.version &&
	       strcmp(again.session.server_tls.alpn,
	           c.session.server_tls.alpn) == 0);
}

/* -- sending -- */

/* Both ends of as many connections as it takes. */
static size_t
make_fds(size_t n, int fds[FDS_MAX], int others[FDS_MAX])
{
	if (n > FDS_MAX)
		n = FDS_MAX;
	for (size_t i = 0; i < n; i++) {
		int pair[2];

		ENSURE(socketpair(AF_UNIX,
		           SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		           pair) == 0);
		fds[i] = pair[0];
		others[i] = pair[1];
	}
	return n;
}

static void
send_record(int channel, const struct record *r)
{
	struct {
		char magic[8];
		uint32_t version, kind;
	} head = {"lfproxy", HANDOVER_VERSION, r->kind};
	struct iovec parts[] = {
	    {&head, sizeof(head)}, {(uint8_t *)(uintptr_t)r->data, r->size}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	(void)sendmsg(channel, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
send_session(int channel, const struct record *r)
{
	int fds[FDS_MAX], others[FDS_MAX];
	struct iovec part;
	size_t n;

	if (r->size == 0)
		return;
	part = (struct iovec){(uint8_t *)(uintptr_t)(r->data + 1), r->size - 1};
	n = make_fds(r->data[0], fds, others);
	(void)handover_send_session(channel, &part, 1, fds, n);
	for (size_t i = 0; i < n; i++) {
		close(fds[i]);
		close(others[i]);
	}
}

static void
run_command(struct world *w, const char *text)
{
	struct command_mode mode = {.level = LEVEL_ADMIN};
	char *line = strdup(text), *answer = NULL;
	struct answer_rest *rest;
	size_t n;
	FILE *out = open_memstream(&answer, &n);

	ENSURE(line && out);
	rest = command_run(&w->env, &mode, line, NULL, out);
	for (int i = 0; rest && i < PARTS_MAX; i++)
		if (!rest->more(rest, &w->env, out))
			break;
	if (rest)
		rest->free(rest);
	ENSURE(fclose(out) == 0 && answer);
	free(answer);
	free(line);
}

/* -- failures -- */

static void
check_failures(const struct record *r)
{
	static uint8_t bytes[FAILURES_IMAGE_MAX];
	static struct failure_kind kind, again;
	struct time_slot slots[TIME_COUNTS_SLOTS];
	struct time_slot again_slots[TIME_COUNTS_SLOTS];
	size_t n, slots_n;

	if (!failures_image_decode(r->data, r->size, &kind))
		return;
	n = failures_image_encode(&kind, bytes);
	ENSURE(n <= sizeof(bytes));
	ENSURE(failures_image_decode(bytes, n, &again));
	ENSURE(again.reason == kind.reason && again.key_len == kind.key_len &&
	       memcmp(again.key, kind.key, kind.key_len) == 0 &&
	       again.examples_n == kind.examples_n);
	slots_n = time_counts_list(&kind.counts, slots);
	ENSURE(again.counts.total == kind.counts.total &&
	       time_counts_list(&again.counts, again_slots) == slots_n &&
	       memcmp(again_slots, slots, slots_n * sizeof(slots[0])) == 0);
}

static void
hand_over(struct world *w, int channel, const uint8_t *data, size_t size)
{
	struct record r;
	size_t n;

	while ((n = read_record(data, size, &r)) > 0) {
		data += n;
		size -= n;
		if (r.kind == HANDOVER_CLOSED)
			check_closed(&r);
		if (r.kind == HANDOVER_FAILURES)
			check_failures(&r);
		if (r.kind == HANDOVER_SESSION)
			send_session(channel, &r);
		else if (r.kind != HANDOVER_COUNTS || !has_long_number(&r))
			send_record(channel, &r);
		world_turn(w);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = world_get();
	struct session_receiver *receiver;
	int pair[2];

	ENSURE(
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
	        0, pair) == 0);
	receiver = control_receive(w->control, pair[0]);
	ENSURE(receiver);
	hand_over(w, pair[1], data, size);
	run_command(w, "show closed json");
	run_command(w, "show failures json");
	run_command(w, "show table");
	run_command(w, "show expiring");
	run_command(w, "show events");
	run_command(w, "show changes");
	close(pair[1]);
	world_turn(w);
	session_receiver_free(receiver);
	world_heal(w, false);
	return 0;
}
