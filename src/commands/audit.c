/* SPDX-License-Identifier: MIT
 * See audit.h.
 */
#include "commands/audit.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "control/later.h"

#define KIND "change"

void
audit_note(struct audit *audit, const struct peer *who, const char *what,
    const char *before, const char *after)
{
	struct audit_change *change;

	if (!audit || (before && after && strcmp(before, after) == 0))
		return;
	change = &audit->changes[audit->n % AUDIT_KEPT];
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
	const struct audit_change *change;

	if (id == 0 || id > audit->n || audit->n - id >= AUDIT_KEPT)
		return NULL;
	change = &audit->changes[(id - 1) % AUDIT_KEPT];
	return change->id == id ? change : NULL;
}

void
audit_write(const struct audit *audit, FILE *out)
{
	uint64_t from = audit->n > AUDIT_KEPT ? audit->n - AUDIT_KEPT : 0;

	for (uint64_t i = from; i < audit->n; i++) {
		const struct audit_change *c = &audit->changes[i % AUDIT_KEPT];

		fprintf(out,
		    LATER KIND "\tid=%" PRIu64 "\tat=%" PRIu64
		               "\twho=%s\twhat=%s\tbefore=%s\tafter=%s\n",
		    c->id, c->wall_ms, c->who, c->what, c->before, c->after);
	}
}

bool
audit_reads(const char *line)
{
	return later_is(line, KIND);
}

void
audit_read(struct audit *audit, const char *line)
{
	struct audit_change c = {.id = later_number(line, "id"),
	    .wall_ms = later_number(line, "at")};
	uint64_t at;

	(void)later_text(line, "who", c.who, sizeof(c.who));
	(void)later_text(line, "what", c.what, sizeof(c.what));
	(void)later_text(line, "before", c.before, sizeof(c.before));
	(void)later_text(line, "after", c.after, sizeof(c.after));
	if (audit->n == 0 && c.id > 0)
		audit->n = c.id - 1;
	at = audit->n++;
	for (; at > 0 && audit->n - at < AUDIT_KEPT; at--) {
		struct audit_change *before =
		    &audit->changes[(at - 1) % AUDIT_KEPT];

		if (before->id == 0 || before->wall_ms <= c.wall_ms)
			break;
		audit->changes[at % AUDIT_KEPT] = *before;
		audit->changes[at % AUDIT_KEPT].id = at + 1;
	}
	c.id = at + 1;
	audit->changes[at % AUDIT_KEPT] = c;
}
