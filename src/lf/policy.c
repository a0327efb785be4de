/* SPDX-License-Identifier: MIT
 * See policy.h.
 */
#include "lf/policy.h"

static const uint64_t assumed_ns[TURN_KINDS] = {
    [TURN_RELAY] = 5000, [TURN_ACCEPT] = 25000};

uint64_t
service_time_ns(const struct service_time *times, enum turn_kind kind)
{
	return times->average_ns[kind] > 0 ? times->average_ns[kind]
	                                   : assumed_ns[kind];
}

void
service_time_add(struct service_time *times, enum turn_kind kind, uint64_t ns)
{
	uint64_t average = service_time_ns(times, kind);

	times->average_ns[kind] = average - average / 16 + ns / 16;
}

bool
policy_promotes(enum policy_kind policy, const struct service_time *times,
    const struct backlog *backlog, unsigned parked, uint64_t wake_ns)
{
	uint64_t rest_ns;

	if (policy == POLICY_ALWAYS)
		return true;
	if (parked == 0)
		return false;
	rest_ns = backlog->relays * service_time_ns(times, TURN_RELAY) +
	          backlog->accepts * service_time_ns(times, TURN_ACCEPT);
	if (backlog->busy_ns > POLICY_BUSY_NS)
		return rest_ns > wake_ns;
	return rest_ns > wake_ns * POLICY_BURST;
}

const char *
policy_name(enum policy_kind policy)
{
	static const char *const names[] = {
	    [POLICY_ADAPTIVE] = "adaptive",
	    [POLICY_ALWAYS] = "always",
	    [POLICY_KERNEL] = "kernel",
	};
	_Static_assert(POLICY_KERNEL + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	return names[policy];
}
