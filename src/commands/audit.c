/* SPDX-License-Identifier: MIT
 * See audit.h.
 */
#include "commands/audit.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"

void
audit_note(struct audit *audit, const struct peer *who, const char *what,
    const char *before, const char *after)
{
	struct audit_change *change = &audit->changes[audit->n % AUDIT_KEPT];

	if (before && after && strcmp(before, after) == 0)
		return;
	change->id = ++audit->n;
	change->wall_ms = clock_wall_us() / 1000;
	peer_text(who, change->who);
	printable_copy(change->what, sizeof(change->what), what, '?');
	printable_copy(
	    change->before, sizeof(change->before), before ? before : "", '?');
	printable_copy(
	    change->after, sizeof(change->after), after ? after : "", '?');
	if (change->before[0] || change->after[0])
		log_info("admin: %s: %s: %s -> %s", change->who, change->what,
		    change->before[0] ? change->before : "none",
		    change->after[0] ? change->after : "none");
	else
		log_info("admin: %s: %s", change->who, change->what);
}

const struct audit_change *
audit_at(const struct audit *audit, uint64_t id)
{
	if (id == 0 || id > audit->n || audit->n - id >= AUDIT_KEPT)
		return NULL;
	return &audit->changes[(id - 1) % AUDIT_KEPT];
}
