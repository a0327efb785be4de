/* SPDX-License-Identifier: MIT
 * See handover.h.
 */
#include "control/handover.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC "lfproxy"

/* The beginning of a message, in host order: both ends are on this host. */
struct head {
	char magic[8];
	uint32_t version, kind;
};

/* An address as it travels. */
struct wire_addr {
	uint32_t len;
	uint8_t bytes[sizeof(struct sockaddr_un)];
};

union control_data {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * HANDOVER_SOCKETS_MAX)];
};

int
handover_send(int channel, const struct handover *message)
{
	struct head head = {
	    .magic = MAGIC, .version = message->version, .kind = message->kind};
	struct wire_addr addrs[HANDOVER_SOCKETS_MAX];
	char text[HANDOVER_TEXT_MAX];
	union control_data control;
	struct iovec parts[] = {{&head, sizeof(head)},
	    {addrs, message->n * sizeof(*addrs)},
	    {text, message->n > 0 ? 0 : strlen(message->text)}};
	struct msghdr msg = {.msg_iov = parts, .msg_iovlen = 3};
	ssize_t rc;

	memcpy(text, message->text, sizeof(text));
	memset(addrs, 0, sizeof(addrs));
	for (size_t i = 0; i < message->n; i++) {
		addrs[i].len = message->asked[i].len;
		memcpy(addrs[i].bytes, &message->asked[i].sa,
		    message->asked[i].len);
	}
	if (message->n > 0) {
		size_t size = message->n * sizeof(int);

		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(size);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(&control.align), message->fds, size);
	}
	do
		rc = sendmsg(channel, &msg, MSG_NOSIGNAL);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}

/* Takes the descriptors of the message; returns their number. */
static size_t
take_descriptors(struct msghdr *msg, int fds[HANDOVER_SOCKETS_MAX])
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
	     c = CMSG_NXTHDR(msg, c)) {
		size_t size = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds, CMSG_DATA(c), size);
		n = size / sizeof(int);
	}
	return n;
}

/* Fills the message from what has come behind the head.  Returns whether that
 * is as it has to be. */
static bool
read_handover_body(struct handover *m, const uint8_t *body, size_t size)
{
	struct wire_addr wire;

	if (m->kind >= HANDOVER_KINDS)
		return false;
	if (m->kind != HANDOVER_SOCKETS) {
		if (m->n > 0 || size >= sizeof(m->text))
			return false;
		memcpy(m->text, body, size);
		m->text[size] = '\0';
		return true;
	}
	if (m->n == 0 || size != m->n * sizeof(wire))
		return false;
	for (size_t i = 0; i < m->n; i++) {
		memcpy(&wire, body + i * sizeof(wire), sizeof(wire));
		if (wire.len < sizeof(sa_family_t) ||
		    wire.len > sizeof(wire.bytes))
			return false;
		memset(&m->asked[i], 0, sizeof(m->asked[i]));
		memcpy(&m->asked[i].sa, wire.bytes, wire.len);
		m->asked[i].len = wire.len;
	}
	return true;
}

int
handover_receive(int channel, struct handover *ret_message)
{
	struct handover *m = ret_message;
	uint8_t body[sizeof(struct wire_addr) * HANDOVER_SOCKETS_MAX];
	union control_data control;
	struct head head;
	struct iovec parts[] = {{&head, sizeof(head)}, {body, sizeof(body)}};
	struct msghdr msg = {.msg_iov = parts,
	    .msg_iovlen = 2,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control)};
	ssize_t rc;

	do
		rc = recvmsg(channel, &msg, MSG_CMSG_CLOEXEC);
	while (rc < 0 && errno == EINTR);
	if (rc <= 0)
		return rc < 0 ? -errno : 0;
	m->version = 0;
	m->text[0] = 0;
	m->n = take_descriptors(&msg, m->fds);
	if (rc >= (ssize_t)sizeof(head) &&
	    memcmp(head.magic, MAGIC, sizeof(head.magic)) == 0 &&
	    !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		m->version = head.version;
		m->kind = head.kind;
		if (m->version == HANDOVER_VERSION &&
		    read_handover_body(m, body, (size_t)rc - sizeof(head)))
			return 1;
	}
	for (size_t i = 0; i < m->n; i++)
		close(m->fds[i]);
	m->n = 0;
	return -EBADMSG;
}
