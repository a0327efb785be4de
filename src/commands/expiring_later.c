/* SPDX-License-Identifier: MIT
 * The lines by which another process, or a later one, goes on with changes that
 * expire (handover/later.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/expiring_internal.h"
#include "handover/later.h"

static void
write_change(const struct expiring_change *c, FILE *out)
{
	fprintf(out,
	    EXPIRING_LINE "ends=%" PRIu64 "\tfor=%" PRIu64
	                  "\tcommand=%s\tnames=%s\tvalue=%s\tformer=%s"
	                  "\tconfigured=%s\tbase=%s",
	    c->ends_wall_ms, c->for_ms, c->command->words, c->names,
	    setting_own(&c->setting), c->former, c->setting.configured,
	    c->setting.base);
	if (c->who.known)
		fprintf(out, "\tpid=%d\tuid=%u\tgid=%u", (int)c->who.pid,
		    (unsigned)c->who.uid, (unsigned)c->who.gid);
	fprintf(out, "\taddress=%s\n", c->who.address);
}

void
expiring_write(const struct expiring *expiring, FILE *out)
{
	list_for_each (node, &expiring->changes) {
		const struct expiring_change *c = expiring_at(node);

		/* A change that was overruled is not undone at its end. */
		if (!c->is_changed)
			write_change(c, out);
	}
}

static void
read_peer(const char *line, struct peer *ret_peer)
{
	char pid[24];
	struct peer *who = ret_peer;

	*who =
	    (struct peer){.known = later_text(line, "pid", pid, sizeof(pid))};
	who->pid = (pid_t)later_number(line, "pid");
	who->uid = (uid_t)later_number(line, "uid");
	who->gid = (gid_t)later_number(line, "gid");
	(void)later_text(line, "address", who->address, sizeof(who->address));
}

/* Reads what write_change writes.  Returns false if something is missing. */
static bool
read_change(const char *line, struct expiring_change *c)
{
	struct setting *s = &c->setting;

	if (!later_text(line, "names", c->names, sizeof(c->names)) ||
	    !later_text(line, "value", s->value, sizeof(s->value)) ||
	    !later_text(line, "former", c->former, sizeof(c->former)))
		return false;
	(void)later_text(
	    line, "configured", s->configured, sizeof(s->configured));
	(void)later_text(line, "base", s->base, sizeof(s->base));
	c->for_ms = later_number(line, "for");
	c->ends_wall_ms = later_number(line, "ends");
	read_peer(line, &c->who);
	return c->ends_wall_ms > 0;
}

/* Sets a base that the line does not have: lines of former versions, and of
 * entries that no file of their list had, have none. */
static void
take_base(struct setting *read, const struct setting *now)
{
	bool is_configured = strcmp(now->base, now->configured) == 0;

	memcpy(read->base, is_configured ? read->configured : now->base,
	    sizeof(read->base));
}

bool
expiring_read(struct expiring *expiring, const struct command *command,
    const char *line, struct err *err)
{
	struct expiring_change read = {.expiring = expiring,
	                           .command = command},
	                       *c;
	struct setting now;
	const char *why;

	if (!command || !command->setting.describe || !read_change(line, &read))
		return err_set(err, "it is not understood");
	if (!expiring_read_setting(&read, &now))
		return err_set(err, "it no longer exists");
	if (!read.setting.base[0])
		take_base(&read.setting, &now);
	why = expiring_follow(&read, &now);
	if (why)
		return err_set(err, "%s stays %.40s: %s", now.subject,
		    setting_shown(&now, now.value), why);
	c = expiring_find(expiring, now.subject);
	if (!c && expiring->n < EXPIRING_MAX)
		c = expiring_add(expiring, read.former);
	if (!c)
		return err_oom(err);
	c->command = command;
	memcpy(c->names, read.names, sizeof(c->names));
	memcpy(c->former, read.former, sizeof(c->former));
	if (expiring_read_setting(c, &now))
		expiring_set(c, &now);
	c->for_ms = read.for_ms;
	c->ends_wall_ms = read.ends_wall_ms;
	c->ends_ms = later_from_wall_ms(read.ends_wall_ms);
	c->who = read.who;
	c->is_changed = false;
	timed_task_schedule(&c->task, c->ends_ms);
	return true;
}
