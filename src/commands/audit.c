/* SPDX-License-Identifier: MIT
 * See audit.h.
 */
#include "commands/audit.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "handover/later.h"

void
audit_init(struct audit *audit)
{
	*audit = (struct audit){.list = {.items = audit->changes,
	                            .item_size = sizeof(audit->changes[0]),
	                            .room = AUDIT_KEPT}};
}

void
audit_note(struct audit *audit, const struct peer *who, const char *what,
    const char *before, const char *after)
{
	struct audit_change *change;

	if (!audit || (before && after && strcmp(before, after) == 0))
		return;
	change = numbered_add(&audit->list);
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

size_t
audit_count(const struct audit *audit)
{
	return numbered_count(&audit->list);
}

const struct audit_change *
audit_at(const struct audit *audit, size_t i)
{
	return numbered_at(&audit->list, i);
}

void
audit_write(const struct audit *audit, FILE *out)
{
	for (size_t i = 0; i < audit_count(audit); i++) {
		const struct audit_change *c = audit_at(audit, i);

		fprintf(out,
		    AUDIT_LINE "id=%" PRIu64 "\tat=%" PRIu64
		               "\twho=%s\twhat=%s\tbefore=%s\tafter=%s\n",
		    c->id, c->wall_ms, c->who, c->what, c->before, c->after);
	}
}

void
audit_read(struct audit *audit, const char *line)
{
	struct audit_change *c =
	    numbered_restore(&audit->list, later_number(line, "id"));

	if (!c)
		return;
	*c = (struct audit_change){
	    .id = c->id, .wall_ms = later_number(line, "at")};
	(void)later_text(line, "who", c->who, sizeof(c->who));
	(void)later_text(line, "what", c->what, sizeof(c->what));
	(void)later_text(line, "before", c->before, sizeof(c->before));
	(void)later_text(line, "after", c->after, sizeof(c->after));
}
