/* SPDX-License-Identifier: MIT
 * See gate.h.
 */
#include "proxy/gate.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "model/limit.h"
#include "model/spec.h"
#include "net/sock.h"
#include "proxy/proxy.h"

/* Logs a refused client, with at most one message a second of each kind: a
 * flood of clients must not become a flood of lines. */
static void
log_denied(const struct frontend *f, const struct endpoint *client,
    const struct access_spec *rule)
{
	static struct log_limit limit;
	char host[INET6_ADDRSTRLEN], text[ACCESS_TEXT_SIZE];

	log_limited(&limit, LOG_LEVEL_INFO,
	    "frontend %s: a client from %s is denied by '%s', %s:%u",
	    f->spec->name, endpoint_host(client, host),
	    access_spec_text(rule, text), rule->place.file, rule->place.line);
}

static void
log_limited_client(const struct frontend *f, const struct endpoint *client,
    const struct limit_answer *answer)
{
	static struct log_limit limit;
	const struct limit_spec *spec = answer->by->spec;
	char host[INET6_ADDRSTRLEN], text[LIMIT_TEXT_SIZE];

	log_limited(&limit, LOG_LEVEL_INFO,
	    "frontend %s: a client from %s is beyond the limit '%s' for its "
	    "%s, %s:%u",
	    f->spec->name, endpoint_host(client, host),
	    limit_spec_text(spec, text), limit_what(answer->what),
	    spec->place.file, spec->place.line);
}

static enum close_cause
limit_cause(const struct limit_answer *answer, enum gate_action action)
{
	if (action == GATE_TARPIT)
		return CAUSE_LIMIT_TARPIT;
	return answer->what == SOURCE_RATE    ? CAUSE_LIMIT_RATE
	       : answer->what == SOURCE_BYTES ? CAUSE_LIMIT_BYTES
	                                      : CAUSE_LIMIT_SESSIONS;
}

static bool
has_room(struct proxy *proxy, const struct frontend *f,
    const struct endpoint *client)
{
	static struct log_limit limit;
	char host[INET6_ADDRSTRLEN];

	if (held_room_take(proxy, f, client))
		return true;
	log_limited(&limit, LOG_LEVEL_INFO,
	    "frontend %s: a client from %s is reset instead of held: held "
	    "clients, or held clients of its address, have reached their part "
	    "of maxconn",
	    f->spec->name, endpoint_host(client, host));
	return false;
}

/* Returns the reply, or that of a client that cannot be held. */
static struct gate_reply
reply_within_room(struct gate_reply reply, struct proxy *proxy,
    const struct frontend *f, const struct endpoint *client)
{
	if (reply.action == GATE_TARPIT && !has_room(proxy, f, client))
		return (struct gate_reply){.action = GATE_RESET};
	return reply;
}

/* Answers a client whose session the limits admit at once or after wait_ms. */
static struct gate_answer
admit_or_delay(struct proxy *proxy, const struct frontend *f,
    const struct endpoint *client, const struct limit_answer *a)
{
	if (a->wait_ms == 0 || has_room(proxy, f, client))
		return (struct gate_answer){
		    .action = a->wait_ms > 0 ? GATE_DELAY : GATE_ADMIT,
		    .hold_ms = a->wait_ms,
		    .limits = a->counted};
	limits_cancel(f->limits, a->counted, client);
	return (struct gate_answer){
	    .action = GATE_RESET, .cause = CAUSE_LIMIT_RATE, .by_limit = true};
}

static struct gate_answer
ask_limits(struct proxy *proxy, const struct frontend *f,
    const struct endpoint *client, uint64_t now_ns)
{
	struct limit_answer a = limits_enter(f->limits, client, now_ns);
	struct gate_reply reply;

	if (!a.by)
		return admit_or_delay(proxy, f, client, &a);
	log_limited_client(f, client, &a);
	reply = reply_within_room(limit_reply(a.by->spec), proxy, f, client);
	return (struct gate_answer){.action = reply.action,
	    .hold_ms = reply.hold_ms,
	    .cause = limit_cause(&a, reply.action),
	    .by_limit = true};
}

struct gate_answer
gate_client(struct proxy *proxy, const struct frontend *frontend,
    const struct endpoint *client, uint64_t now_ns)
{
	const struct frontend_spec *spec = frontend->spec;
	size_t rule = frontend->access ? access_find(frontend->access, client)
	                               : ACCESS_NO_RULE;
	struct gate_reply reply;

	if (frontend->access)
		access_count(frontend->access, rule);
	if (access_admits(spec, rule))
		return frontend->limits
		           ? ask_limits(proxy, frontend, client, now_ns)
		           : (struct gate_answer){.action = GATE_ADMIT};
	log_denied(frontend, client, &spec->access[rule]);
	reply = reply_within_room(spec->on_deny, proxy, frontend, client);
	return (struct gate_answer){.action = reply.action,
	    .hold_ms = reply.hold_ms,
	    .cause = reply.action == GATE_TARPIT ? CAUSE_ACCESS_TARPIT
	                                         : CAUSE_ACCESS_DENIED};
}

void
gate_leave(const struct frontend *frontend, uint16_t limits,
    const struct endpoint *client)
{
	if (limits != 0)
		limits_leave(frontend->limits, limits, client);
}

void
gate_cancel(const struct frontend *frontend, uint16_t limits,
    const struct endpoint *client)
{
	if (limits != 0)
		limits_cancel(frontend->limits, limits, client);
}

void
gate_count(const struct frontend *frontend, const struct gate_answer *answer,
    enum counter denied, unsigned thread)
{
	struct counters *c = frontend->counters;

	if (gate_refuses(answer->action))
		counters_add(c, thread, denied, 1);
	if (answer->by_limit)
		counters_add(c, thread, COUNTER_LIMITED, 1);
	if (answer->action == GATE_DELAY)
		counters_add(c, thread, COUNTER_DELAYED, 1);
}

void
gate_end(int fd, bool tcp, enum gate_action action)
{
	if (!tcp || action == GATE_CLOSE)
		close(fd);
	else if (action == GATE_DROP)
		sock_close_silent(fd);
	else
		sock_close_reset(fd);
}
