/* SPDX-License-Identifier: MIT
 * See route.h.
 */
#include "proxy/route.h"

#include <string.h>

#include "lf/pool.h"
#include "model/rules.h"
#include "proxy/inspection.h"
#include "proxy/session_count.h"

/* Gathers the facts that the rules ask for.  The facts point to destination,
 * which is read only if rules ask for it, because that takes a system call. */
static struct rule_facts
session_rule_facts(
    const struct session *s, bool with_hello, struct endpoint *destination)
{
	const unsigned asked =
	    s->frontend->rules ? rules_facts(s->frontend->rules) : 0;
	const struct inspection *p = s->inspection;
	struct rule_facts facts = {
	    .known = FACT_DESTINATION | FACT_PORT,
	    .client = session_client(s),
	    .destination = destination,
	};

	*destination = (struct endpoint){.family = 0};
	if (asked & (FACT_DESTINATION | FACT_PORT))
		session_destination(s, destination);
	if (!with_hello)
		return facts;
	facts.known |= FACT_HELLO;
	facts.tls = s->side[HANDLE_CLIENT].tls || (p && p->tls);
	facts.name = inspect_name(s);
	facts.name_len = strlen(facts.name);
	facts.protocols = p ? p->protocols : 0;
	facts.versions = p ? p->versions : 0;
	return facts;
}

bool
route_needs_hello(const struct session *s)
{
	struct endpoint destination;
	struct rule_facts facts;

	if (!s->frontend->inspects)
		return false;
	facts = session_rule_facts(s, false, &destination);
	return frontend_needs_hello(s->frontend, &facts);
}

struct verdict
route_step(
    struct session *s, enum close_cause otherwise, struct pool_thread *self)
{
	struct endpoint destination;
	struct rule_facts facts = session_rule_facts(s, true, &destination);
	unsigned route = frontend_route_by(s->frontend, &facts);

	if (route < s->frontend->backends_n) {
		session_use_backend(s, route, self);
		return verdict_choose(CAUSE_NO_SERVER);
	}
	if (otherwise == CAUSE_DENIED)
		session_count(s, COUNT_FRONTEND, COUNTER_DENIED, 1, self);
	return verdict_close(otherwise);
}
