/* SPDX-License-Identifier: MIT
 * The bytes of a client that is inspected: receiving them and waiting for more.
 */
#include <errno.h>
#include <sys/socket.h>

#include "proxy/inspect_internal.h"

ssize_t
inspect_receive(const struct session *s, uint8_t *data, size_t size, int flags)
{
	ssize_t n;

	do
		n = recv(s->side[HANDLE_CLIENT].fd, data, size, flags);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Sets how many unread bytes wake the session (SO_RCVLOWAT).  Has no effect on
 * a unix socket, where each write is an event.  Does not set the same value
 * twice: if the socket's buffer is too small for that many bytes, the kernel
 * wakes the session earlier by itself. */
static void
wait_for_bytes(struct session *s, size_t bytes)
{
	const struct side *client = &s->side[HANDLE_CLIENT];
	int value = (int)bytes;

	if (!client->tcp || s->inspection->low_water == bytes)
		return;
	(void)setsockopt(
	    client->fd, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof(value));
	s->inspection->low_water = (uint16_t)bytes;
}

void
inspect_wait_for_any_byte(struct session *s)
{
	if (s->inspection->low_water > 0)
		wait_for_bytes(s, 1);
}

enum look
inspect_result(struct session *s, ssize_t n)
{
	if (n < 0 && errno == EAGAIN) {
		s->side[HANDLE_CLIENT].readable = false;
		return LOOK_MORE;
	}
	if (n <= 0)
		return LOOK_GONE;
	s->inspection->spoke = true;
	return LOOK_DONE;
}

enum look
inspect_again(struct session *s, size_t bytes)
{
	wait_for_bytes(s, bytes);
	return s->inspection->ended ? LOOK_ENDED : LOOK_MORE;
}
