/* SPDX-License-Identifier: MIT
 * See unsent.h.
 */
#include "http/unsent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Sends what the socket takes.  Returns the number of bytes, or -1 when the
 * socket is broken. */
static ssize_t
send_some(int fd, const uint8_t *data, size_t n)
{
	size_t sent = 0;

	while (sent < n) {
		ssize_t rc = send(fd, data + sent, n - sent, MSG_NOSIGNAL);

		if (rc < 0 && errno == EINTR)
			continue;
		if (rc < 0)
			return errno == EAGAIN ? (ssize_t)sent : -1;
		sent += (size_t)rc;
	}
	return (ssize_t)sent;
}

bool
unsent_send(struct unsent *unsent, int fd)
{
	ssize_t n = send_some(
	    fd, unsent->data + unsent->sent, unsent->n - unsent->sent);

	if (n < 0)
		return false;
	unsent->sent += (size_t)n;
	if (unsent->sent < unsent->n)
		return true;
	free(unsent->data);
	*unsent = (struct unsent){.data = NULL};
	return true;
}

bool
unsent_add(struct unsent *unsent, int fd, const uint8_t *data, size_t size)
{
	ssize_t n = send_some(fd, data, size);

	if (n < 0 || (size_t)n == size)
		return n >= 0;
	unsent->data = malloc(size - (size_t)n);
	if (!unsent->data)
		return false;
	unsent->n = size - (size_t)n;
	memcpy(unsent->data, data + n, unsent->n);
	return true;
}
