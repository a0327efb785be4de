/* SPDX-License-Identifier: MIT
 * See hshr_request.h.
 */
#include "hshr_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/atomics.h"
#include "base/ensure.h"
#include "lab.h"
#include "net/sock.h"
#include "proxy/proxy.h"
#include "proxy/session.h"

#define SLOTS 65536u

struct request {
	uint32_t slot;
	int fd;
	ssize_t result; /* of recv: bytes, 0, or -errno */
	uint8_t data[];
};

/* By slot of the handler: an event was posted, and its bytes were not read by
 * the I/O thread.  Only a hint to look once more, so slots may share a cell. */
static uint8_t expected[SLOTS];
static __thread struct request *mine;
static __thread uint8_t buffer[RELAY_BUFFER];

ssize_t __real_recv(int fd, void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);

void
request_expect(const struct event_handler *handler)
{
	atomic_store_relaxed(&expected[handler->slot % SLOTS], (uint8_t)1);
}

/* The turn that follows reads this side by recv (flow in proxy/relay.c). */
static bool
will_be_read(const struct session *s, enum handle_side which)
{
	const struct side *side = &s->side[which], *other = &s->side[!which];

	return s->state == SESSION_RELAYING && side->tcp && !side->splicing &&
	       !side_at_eof(side) && !side_is_broken(side) &&
	       !side_is_broken(other) && !session_has_pending(s, !which);
}

struct request *
request_read(
    struct event_handler *handler, enum handle_side which, uint32_t ready)
{
	const struct session *s =
	    container_of(handler, struct session, handler);
	struct request *r;
	ssize_t n;

	if (lab_faults.no_copy || which == HANDLE_LISTENER ||
	    handler->first_side == HANDLE_LISTENER ||
	    !(ready & HANDLE_READABLE) || !will_be_read(s, which))
		return NULL;
	atomic_store_relaxed(&expected[handler->slot % SLOTS], (uint8_t)0);
	n = __real_recv(s->side[which].fd, buffer, sizeof(buffer), 0);
	if (n < 0)
		n = -errno;
	r = malloc(sizeof(*r) + (n > 0 ? (size_t)n : 0));
	if (!r)
		abort();
	r->slot = handler->slot;
	r->fd = s->side[which].fd;
	r->result = n;
	if (n > 0)
		memcpy(r->data, buffer, (size_t)n);
	return r;
}

void
request_free(struct request *request)
{
	free(request);
}

void
request_begin(struct request *request)
{
	mine = request;
}

void
request_end(void)
{
	free(mine);
	mine = NULL;
}

/* Bytes that have come behind those of the request have made their event while
 * the handler was owned.  A short read would say that there are none. */
static ssize_t
look_again(const struct request *r, uint8_t *data, size_t size)
{
	ssize_t n;

	if (size == 0 || !atomic_load_relaxed(&expected[r->slot % SLOTS]))
		return 0;
	atomic_store_relaxed(&expected[r->slot % SLOTS], (uint8_t)0);
	if (sock_unread(r->fd) == 0)
		return 0;
	n = __real_recv(r->fd, data, size, 0);
	return n > 0 ? n : 0;
}

ssize_t
__wrap_recv(int fd, void *data, size_t size, int flags)
{
	struct request *r = mine;
	ssize_t n;

	if (!r || r->fd != fd || flags != 0)
		return __real_recv(fd, data, size, flags);
	n = r->result;
	if (n > 0) {
		ENSURE((size_t)n <= size);
		memcpy(data, r->data, (size_t)n);
		n += look_again(r, (uint8_t *)data + n, size - (size_t)n);
	} else if (n < 0) {
		errno = (int)-n;
		n = -1;
	}
	request_end();
	return n;
}
