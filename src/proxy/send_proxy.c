/* SPDX-License-Identifier: MIT
 * See send_proxy.h.
 *
 * The header is made again for each server that is tried, and for the rest of
 * the header when a server has not taken it at once, which is rare.  So a
 * session stores only how much of it was written.
 */
#include "proxy/send_proxy.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "proxy/inspect.h"

static size_t
make(const struct session *s, uint8_t out[PROXY_MADE_MAX])
{
	struct proxy_header header = {.version = s->server->send_proxy,
	    .source = *session_client(s),
	    .authority = inspect_name(s)};

	header.authority_len = (uint8_t)strlen(header.authority);
	session_destination(s, &header.destination);
	return proxy_header_make(&header, out);
}

int
send_proxy_header(struct session *s)
{
	struct side *side = &s->side[HANDLE_SERVER];
	uint8_t bytes[PROXY_MADE_MAX];
	size_t size = make(s, bytes);

	while (s->header_sent < size) {
		ssize_t n = send(side->fd, bytes + s->header_sent,
		    size - s->header_sent, MSG_NOSIGNAL);

		if (n >= 0) {
			s->header_sent = (uint16_t)(s->header_sent + n);
		} else if (errno == EAGAIN || errno == EINPROGRESS) {
			/* In progress: Fast Open, and no cookie was left. */
			side->writable = false;
			return 0;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 1;
}
