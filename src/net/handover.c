/* SPDX-License-Identifier: MIT
 * See handover.h.
 */
#include "net/handover.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/fault.h"

#define MAGIC "lfproxy"

/* The beginning of a message, in host order: both ends are on this host. */
struct head {
	char magic[8];
	uint32_t version, kind;
};

/* An address in a message. */
struct wire_addr {
	uint32_t len;
	uint8_t bytes[sizeof(struct sockaddr_un)];
};

union control_data {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * HANDOVER_SOCKETS_MAX)];
};

size_t
handover_put_lines(struct handover *message, const char *lines)
{
	size_t n = strnlen(lines, sizeof(message->text) - 1);

	if (lines[n] != '\0')
		while (n > 0 && lines[n - 1] != '\n')
			n--;
	memcpy(message->text, lines, n);
	message->text[n] = '\0';
	return n;
}

/* Returns the value for an errno.  Without memory for the message, and with too
 * many descriptors on their way, the caller tries again, as with a full
 * socket. */
static int
refusal(int error)
{
	return error == ENOMEM || error == ENOBUFS || error == ETOOMANYREFS
	           ? -EAGAIN
	           : -error;
}

/* Sends a message of these parts.  fds: the descriptors that go with it. */
static int
send_parts(int channel, struct iovec *parts, size_t parts_n, const int *fds,
    size_t fds_n, int flags)
{
	union control_data control;
	struct msghdr msg = {.msg_iov = parts, .msg_iovlen = parts_n};
	ssize_t rc;

	if (fds_n > 0) {
		size_t size = fds_n * sizeof(int);

		memset(&control, 0, sizeof(control));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(size);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(&control.align), fds, size);
	}
	if (fault_fails(FAULT_HANDOVER))
		return refusal(errno);
	do
		rc = sendmsg(channel, &msg, MSG_NOSIGNAL | flags);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? refusal(errno) : 0;
}

int
handover_send(int channel, const struct handover *message)
{
	struct head head = {
	    .magic = MAGIC, .version = message->version, .kind = message->kind};
	struct wire_addr addrs[HANDOVER_SOCKETS_MAX];
	char text[HANDOVER_TEXT_MAX];
	struct iovec parts[] = {{&head, sizeof(head)},
	    {addrs, message->n * sizeof(*addrs)},
	    {text, message->n > 0 ? 0 : strlen(message->text)}};

	memcpy(text, message->text, sizeof(text));
	memset(addrs, 0, sizeof(addrs));
	for (size_t i = 0; i < message->n; i++) {
		addrs[i].len = message->asked[i].len;
		memcpy(addrs[i].bytes, &message->asked[i].sa,
		    message->asked[i].len);
	}
	return send_parts(channel, parts, 3, message->fds, message->n, 0);
}

int
handover_send_session(int channel, const struct iovec *parts, size_t parts_n,
    const int *fds, size_t fds_n)
{
	struct head head = {.magic = MAGIC,
	    .version = HANDOVER_VERSION,
	    .kind = HANDOVER_SESSION};
	struct iovec all[1 + HANDOVER_PARTS_MAX] = {{&head, sizeof(head)}};

	ENSURE(parts_n <= HANDOVER_PARTS_MAX && fds_n <= HANDOVER_SOCKETS_MAX);
	memcpy(all + 1, parts, parts_n * sizeof(*parts));
	return send_parts(channel, all, 1 + parts_n, fds, fds_n, MSG_DONTWAIT);
}

int
handover_send_data(
    int channel, enum handover_kind kind, const void *data, size_t size)
{
	struct head head = {
	    .magic = MAGIC, .version = HANDOVER_VERSION, .kind = kind};
	struct iovec parts[] = {
	    {&head, sizeof(head)}, {(void *)(uintptr_t)data, size}};

	return send_parts(channel, parts, 2, NULL, 0, MSG_DONTWAIT);
}

/* Takes the descriptors of the message.  Returns their number. */
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

static bool
read_addrs(struct handover *m)
{
	struct wire_addr wire;

	if (m->n == 0 || m->size != m->n * sizeof(wire))
		return false;
	for (size_t i = 0; i < m->n; i++) {
		memcpy(&wire, m->data + i * sizeof(wire), sizeof(wire));
		if (wire.len < sizeof(sa_family_t) ||
		    wire.len > sizeof(wire.bytes))
			return false;
		memset(&m->asked[i], 0, sizeof(m->asked[i]));
		memcpy(&m->asked[i].sa, wire.bytes, wire.len);
		m->asked[i].len = wire.len;
	}
	m->text[0] = '\0';
	m->size = 0;
	return true;
}

/* Reads what follows the head.  Returns whether it is valid for the kind of the
 * message. */
static bool
read_handover_body(struct handover *m)
{
	if (m->kind >= HANDOVER_KINDS)
		return false;
	if (m->kind == HANDOVER_SESSION)
		return m->n > 0;
	if (m->kind == HANDOVER_CLOSED || m->kind == HANDOVER_FAILURES)
		return m->n == 0;
	if (m->kind == HANDOVER_SOCKETS)
		return read_addrs(m);
	if (m->n > 0 || m->size >= sizeof(m->text))
		return false;
	m->text[m->size] = '\0';
	return true;
}

int
handover_receive(int channel, struct handover *ret_message)
{
	struct handover *m = ret_message;
	union control_data control;
	struct head head;
	struct iovec parts[] = {
	    {&head, sizeof(head)}, {m->data, sizeof(m->data)}};
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
	m->kind = HANDOVER_KINDS;
	m->n = take_descriptors(&msg, m->fds);
	if (rc >= (ssize_t)sizeof(head) &&
	    memcmp(head.magic, MAGIC, sizeof(head.magic)) == 0 &&
	    !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		m->version = head.version;
		m->kind = head.kind;
		m->size = (size_t)rc - sizeof(head);
		if (m->version == HANDOVER_VERSION && read_handover_body(m))
			return 1;
	}
	handover_drop(m);
	m->n = 0;
	return -EBADMSG;
}

void
handover_drop(const struct handover *message)
{
	for (size_t i = 0; i < message->n; i++)
		close(message->fds[i]);
}
