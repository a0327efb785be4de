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

static struct gate_answer
ask_limits(
    const struct frontend *f, const struct endpoint *client, uint64_t now_ns)
{
	struct limit_answer a = limits_enter(f->limits, client, now_ns);
	struct gate_reply reply;

	if (!a.by)
		return (struct gate_answer){
		    .action = a.wait_ms > 0 ? GATE_DELAY : GATE_ADMIT,
		    .hold_ms = a.wait_ms,
		    .limits = a.counted};
	log_limited_client(f, client, &a);
	reply = limit_reply(a.by->spec);
	return (struct gate_answer){.action = reply.action,
	    .hold_ms = reply.hold_ms,
	    .cause = limit_cause(&a, reply.action),
	    .by_limit = true};
}

struct gate_answer
gate_client(const struct frontend *frontend, const struct endpoint *client,
    uint64_t now_ns)
{
	const struct frontend_spec *spec = frontend->spec;
	const struct gate_reply *reply = &spec->on_deny;
	size_t rule = frontend->access ? access_find(frontend->access, client)
	                               : ACCESS_NO_RULE;

	if (frontend->access)
		access_count(frontend->access, rule);
	if (access_admits(spec, rule))
		return frontend->limits
		           ? ask_limits(frontend, client, now_ns)
		           : (struct gate_answer){.action = GATE_ADMIT};
	log_denied(frontend, client, &spec->access[rule]);
	return (struct gate_answer){.action = reply->action,
	    .hold_ms = reply->hold_ms,
	    .cause = reply->action == GATE_TARPIT ? CAUSE_ACCESS_TARPIT
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
