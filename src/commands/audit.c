/* SPDX-License-Identifier: MIT
 * See audit.h.
 */
#include "commands/audit.h"

#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/printable.h"

static void
copy_printable(char *to, size_t size, const char *text)
{
	printable_copy(to, size, text ? text : "", '?');
}

static uint64_t
wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void
audit_note(struct audit *audit, const struct peer *who, const char *what,
    const char *before, const char *after)
{
	struct audit_change *change = &audit->changes[audit->n % AUDIT_KEPT];

	if (before && after && strcmp(before, after) == 0)
		return;
	change->id = ++audit->n;
	change->wall_ms = wall_ms();
	peer_text(who, change->who);
	copy_printable(change->what, sizeof(change->what), what);
	copy_printable(change->before, sizeof(change->before), before);
	copy_printable(change->after, sizeof(change->after), after);
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
