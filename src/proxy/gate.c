/* SPDX-License-Identifier: MIT
 * See gate.h.
 */
#include "proxy/gate.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "model/spec.h"
#include "net/sock.h"

/* At most one message a second: a flood of refused clients must not become a
 * flood of lines. */
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

struct gate_answer
gate_client(const struct frontend *frontend, const struct endpoint *client)
{
	const struct frontend_spec *spec = frontend->spec;
	const struct gate_reply *reply = &spec->on_deny;
	size_t rule = frontend->access ? access_find(frontend->access, client)
	                               : ACCESS_NO_RULE;

	if (access_admits(spec, rule))
		return (struct gate_answer){.action = GATE_ADMIT};
	log_denied(frontend, client, &spec->access[rule]);
	return (struct gate_answer){.action = reply->action,
	    .hold_ms = reply->hold_ms,
	    .cause = reply->action == GATE_TARPIT ? CAUSE_ACCESS_TARPIT
	                                          : CAUSE_ACCESS_DENIED};
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
