/* SPDX-License-Identifier: MIT
 * See sock_options.h.
 */
#include "net/sock_options.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ensure.h"

/* A call of setsockopt(2). */
struct setting {
	const char *option;
	int level, name;
	const void *value;
	socklen_t size;
	bool essential;
};

#define SETTINGS_MAX 20

struct settings {
	struct setting all[SETTINGS_MAX];
	size_t n;
	int numbers[SETTINGS_MAX]; /* what value points to */
};

static struct setting *
add_bytes(struct settings *s, const char *option, int level, int name,
    const void *value, size_t size)
{
	struct setting *one = &s->all[s->n];

	ENSURE(s->n < SETTINGS_MAX);
	*one = (struct setting){.option = option,
	    .level = level,
	    .name = name,
	    .value = value,
	    .size = (socklen_t)size};
	s->n++;
	return one;
}

static struct setting *
add(struct settings *s, const char *option, int level, int name, uint64_t n)
{
	s->numbers[s->n] = (int)n;
	return add_bytes(
	    s, option, level, name, &s->numbers[s->n], sizeof(int));
}

static void
add_keepalive(struct settings *s, const struct sock_keepalive *k)
{
	static const char option[] = "keepalive";

	if (k->on == SWITCH_DEFAULT)
		return;
	add(s, option, SOL_SOCKET, SO_KEEPALIVE, k->on == SWITCH_ON);
	if (k->idle_s > 0)
		add(s, option, IPPROTO_TCP, TCP_KEEPIDLE, k->idle_s);
	if (k->interval_s > 0)
		add(s, option, IPPROTO_TCP, TCP_KEEPINTVL, k->interval_s);
	if (k->count > 0)
		add(s, option, IPPROTO_TCP, TCP_KEEPCNT, k->count);
}

/* An IPv6 socket may carry IPv4 as well, which has its own field. */
static void
add_dscp(struct settings *s, int family, unsigned dscp)
{
	if (dscp == 0)
		return;
	if (family == AF_INET6)
		add(s, "dscp", IPPROTO_IPV6, IPV6_TCLASS, dscp << 2);
	add(s, "dscp", IPPROTO_IP, IP_TOS, dscp << 2);
}

static void
add_common(struct settings *s, int family, const struct sock_options *o)
{
	add_keepalive(s, &o->keepalive);
	if (o->user_timeout_ms > 0)
		add(s, "user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT,
		    o->user_timeout_ms);
	if (o->mss > 0)
		add(s, "mss", IPPROTO_TCP, TCP_MAXSEG, o->mss);
	if (o->sndbuf > 0)
		add(s, "sndbuf", SOL_SOCKET, SO_SNDBUF, o->sndbuf);
	if (o->rcvbuf > 0)
		add(s, "rcvbuf", SOL_SOCKET, SO_RCVBUF, o->rcvbuf);
	if (o->congestion[0])
		add_bytes(s, "congestion", IPPROTO_TCP, TCP_CONGESTION,
		    o->congestion, strlen(o->congestion));
	add_dscp(s, family, o->dscp);
	if (o->mark > 0)
		add(s, "mark", SOL_SOCKET, SO_MARK, o->mark)->essential = true;
	if (o->interface[0])
		add_bytes(s, "interface", SOL_SOCKET, SO_BINDTODEVICE,
		    o->interface, strlen(o->interface) + 1)
		    ->essential = true;
}

static bool
apply(int fd, const struct settings *settings, struct sock_refusal *ret_refusal)
{
	bool refused = false;

	for (size_t i = 0; i < settings->n; i++) {
		const struct setting *s = &settings->all[i];
		bool worse =
		    !refused || (s->essential && !ret_refusal->essential);

		if (setsockopt(fd, s->level, s->name, s->value, s->size) == 0 ||
		    !worse)
			continue;
		*ret_refusal = (struct sock_refusal){.option = s->option,
		    .error = errno,
		    .essential = s->essential};
		refused = true;
	}
	return !refused;
}

bool
sock_options_listen(int fd, int family, const struct sock_options *options,
    struct sock_refusal *ret_refusal)
{
	const struct sock_options *o = options;
	struct settings s;

	s.n = 0;
	add_common(&s, family, o);
	if (o->fast_open > 0)
		add(&s, "tfo", IPPROTO_TCP, TCP_FASTOPEN, o->fast_open);
	if (o->defer_accept_s > 0)
		add(&s, "defer_accept", IPPROTO_TCP, TCP_DEFER_ACCEPT,
		    o->defer_accept_s);
	if (o->reuseport == SWITCH_ON)
		add(&s, "reuseport", SOL_SOCKET, SO_REUSEPORT, 1);
	if (!apply(fd, &s, ret_refusal))
		return false;
	if (o->transparent != SWITCH_ON || sock_options_transparent(fd, family))
		return true;
	*ret_refusal = (struct sock_refusal){
	    .option = "transparent", .error = errno, .essential = true};
	return false;
}

bool
sock_options_connect(int fd, int family, const struct sock_options *options,
    struct sock_refusal *ret_refusal)
{
	struct settings s;

	s.n = 0;
	add_common(&s, family, options);
	return s.n == 0 || apply(fd, &s, ret_refusal);
}

bool
sock_options_fast_open(int fd)
{
	int on = 1;

	return setsockopt(
	           fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) == 0;
}

bool
sock_options_transparent(int fd, int family)
{
	int on = 1;

	return family == AF_INET6 ? setsockopt(fd, IPPROTO_IPV6,
	                                IPV6_TRANSPARENT, &on, sizeof(on)) == 0
	                          : setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT,
	                                &on, sizeof(on)) == 0;
}

const char *
sock_refusal_hint(const struct sock_refusal *refusal)
{
	const char *option = refusal->option;

	if (refusal->error == ENODEV)
		return "; there is no such interface";
	if (refusal->error != EPERM)
		return "";
	if (strcmp(option, "congestion") == 0)
		return "; without CAP_NET_ADMIN it must be one of "
		       "net.ipv4.tcp_allowed_congestion_control";
	if (strcmp(option, "interface") == 0)
		return "; it takes CAP_NET_RAW";
	return "; it takes CAP_NET_RAW or CAP_NET_ADMIN";
}

static long
read_sysctl(const char *path)
{
	FILE *file = fopen(path, "re");
	long n = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &n) != 1)
		n = -1;
	fclose(file);
	return n;
}

struct teller {
	void (*tell)(const char *sentence, void *arg);
	void *arg;
};

/* The kernel reports twice of what it took. */
static void
check_buffer(int fd, const struct teller *t, const char *option, int name,
    const char *sysctl, uint64_t wanted)
{
	char sentence[200];
	socklen_t len = sizeof(int);
	int got = 0;

	if (wanted == 0 || getsockopt(fd, SOL_SOCKET, name, &got, &len) < 0 ||
	    (uint64_t)got / 2 >= wanted)
		return;
	snprintf(sentence, sizeof(sentence),
	    "the kernel cuts %s to %d bytes; raise %s or ask for less", option,
	    got / 2, sysctl);
	t->tell(sentence, t->arg);
}

static void
check_fast_open(const struct teller *t, bool listener)
{
	const long bit = listener ? 2 : 1;
	char sentence[200];
	long have = read_sysctl("/proc/sys/net/ipv4/tcp_fastopen");

	if (have < 0 || have & bit)
		return;
	snprintf(sentence, sizeof(sentence),
	    "tfo has no effect as long as net.ipv4.tcp_fastopen, which is %ld, "
	    "lacks the bit %ld (%s)",
	    have, bit, listener ? "server" : "client");
	t->tell(sentence, t->arg);
}

static void
check_backlog(const struct teller *t, unsigned wanted)
{
	char sentence[200];
	long have;

	if (wanted == 0)
		return;
	have = read_sysctl("/proc/sys/net/core/somaxconn");
	if (have < 0 || wanted <= (unsigned long)have)
		return;
	snprintf(sentence, sizeof(sentence),
	    "the kernel cuts backlog to %ld; raise net.core.somaxconn or ask "
	    "for less",
	    have);
	t->tell(sentence, t->arg);
}

void
sock_options_curtailed(int fd, const struct sock_options *options,
    bool listener, void (*tell)(const char *sentence, void *arg), void *arg)
{
	const struct teller t = {tell, arg};

	check_buffer(
	    fd, &t, "sndbuf", SO_SNDBUF, "net.core.wmem_max", options->sndbuf);
	check_buffer(
	    fd, &t, "rcvbuf", SO_RCVBUF, "net.core.rmem_max", options->rcvbuf);
	if (options->fast_open > 0)
		check_fast_open(&t, listener);
	check_backlog(&t, options->backlog);
}

bool
sock_options_any(const struct sock_options *options)
{
	struct settings s;

	s.n = 0;
	add_common(&s, AF_INET, options);
	return s.n > 0 || options->fast_open > 0;
}

bool
sock_congestion_exists(const char *name)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool exists;

	/* Without a socket the answer is unknown; the listener will report an
	 * error. */
	if (fd < 0)
		return true;
	exists = setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name,
	             (socklen_t)strlen(name)) == 0 ||
	         errno != ENOENT;
	close(fd);
	return exists;
}

const char *
sock_congestions(char out[SOCK_CONGESTIONS_SIZE])
{
	FILE *file =
	    fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");

	out[0] = '\0';
	if (!file)
		return out;
	if (!fgets(out, SOCK_CONGESTIONS_SIZE, file))
		out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(file);
	return out;
}
