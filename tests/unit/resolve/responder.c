/* SPDX-License-Identifier: MIT
 * See responder.h.
 */
#include "responder.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static void
put_16(struct message *m, size_t at, unsigned n)
{
	m->bytes[at] = (uint8_t)(n >> 8);
	m->bytes[at + 1] = (uint8_t)n;
}

static void
append_16(struct message *m, unsigned n)
{
	put_16(m, m->len, n);
	m->len += 2;
}

static void
append_name(struct message *m, const char *name)
{
	while (*name) {
		size_t n = strcspn(name, ".");

		m->bytes[m->len++] = (uint8_t)n;
		memcpy(m->bytes + m->len, name, n);
		m->len += n;
		name += n + (name[n] == '.');
	}
	m->bytes[m->len++] = 0;
}

void
message_begin(struct message *m, unsigned id, const char *name, int type)
{
	memset(m, 0, 12);
	m->len = 12;
	put_16(m, 0, id);
	put_16(m, 2, 0x8180);
	put_16(m, 4, 1);
	append_name(m, name);
	append_16(m, (unsigned)type);
	append_16(m, 1);
}

void
message_rcode(struct message *m, unsigned rcode)
{
	put_16(m, 2, 0x8180 | rcode);
}

void
message_add(struct message *m, enum message_section section, const char *name,
    int type, uint32_t ttl_s, const void *data, size_t len)
{
	unsigned n = (unsigned)m->bytes[section] << 8 | m->bytes[section + 1];

	put_16(m, section, n + 1);
	append_name(m, name);
	append_16(m, (unsigned)type);
	append_16(m, 1);
	append_16(m, ttl_s >> 16);
	append_16(m, ttl_s & 0xffff);
	append_16(m, (unsigned)len);
	memcpy(m->bytes + m->len, data, len);
	m->len += len;
}

void
message_add_ip(struct message *m, enum message_section section,
    const char *name, uint32_t ttl_s, const char *ip)
{
	bool v6 = strchr(ip, ':') != NULL;
	uint8_t data[16];

	assert_int_equal(inet_pton(v6 ? AF_INET6 : AF_INET, ip, data), 1);
	message_add(m, section, name, v6 ? 28 : 1, ttl_s, data, v6 ? 16 : 4);
}

void
message_add_alias(
    struct message *m, const char *name, uint32_t ttl_s, const char *target)
{
	static struct message data;

	data.len = 0;
	append_name(&data, target);
	message_add(m, IN_ANSWER, name, 5, ttl_s, data.bytes, data.len);
}

void
message_add_srv(struct message *m, const char *name, uint32_t ttl_s,
    unsigned priority, unsigned weight, unsigned port, const char *target)
{
	static struct message data;

	data.len = 0;
	append_16(&data, priority);
	append_16(&data, weight);
	append_16(&data, port);
	append_name(&data, target);
	message_add(m, IN_ANSWER, name, 33, ttl_s, data.bytes, data.len);
}

/* Returns the type. */
static int
read_question(const uint8_t *bytes, ssize_t len, char name[256])
{
	ssize_t at = 12;
	size_t n = 0;

	while (at < len && bytes[at] > 0) {
		memcpy(name + n, bytes + at + 1, bytes[at]);
		n += bytes[at];
		name[n++] = '.';
		at += bytes[at] + 1;
	}
	name[n > 0 ? n - 1 : 0] = '\0';
	return bytes[at + 1] << 8 | bytes[at + 2];
}

static void
on_question(struct ev_loop *loop, ev_io *io, int events)
{
	struct responder *r = io->data;
	static struct message answer;
	uint8_t question[4096];
	struct addr from;
	char name[256];
	ssize_t n;
	int type;

	(void)loop;
	(void)events;
	from.len = sizeof(from.in6);
	n = recvfrom(
	    io->fd, question, sizeof(question), 0, &from.sa, &from.len);
	if (n < 17)
		return;
	type = read_question(question, n, name);
	r->questions++;
	message_begin(
	    &answer, (unsigned)question[0] << 8 | question[1], name, type);
	if (r->answer(r->arg, name, type, &answer))
		(void)sendto(
		    io->fd, answer.bytes, answer.len, 0, &from.sa, from.len);
}

void
responder_start(struct responder *responder, struct ev_loop *loop,
    bool (*answer)(void *arg, const char *name, int type, struct message *to),
    void *arg)
{
	struct responder *r = responder;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*r = (struct responder){.loop = loop, .answer = answer, .arg = arg};
	assert_true(fd >= 0);
	assert_true(addr_parse_ip("127.0.0.1", &r->addr));
	assert_int_equal(bind(fd, &r->addr.sa, r->addr.len), 0);
	assert_int_equal(getsockname(fd, &r->addr.sa, &r->addr.len), 0);
	ev_io_init(&r->io, on_question, fd, EV_READ);
	r->io.data = r;
	ev_io_start(loop, &r->io);
}

void
responder_stop(struct responder *responder)
{
	ev_io_stop(responder->loop, &responder->io);
	close(responder->io.fd);
}
