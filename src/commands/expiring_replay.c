/* SPDX-License-Identifier: MIT
 * Reads and sets the setting of a change that expires, by the functions of its
 * command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/events.h"
#include "base/text.h"
#include "commands/expiring_internal.h"

/* A call whose arguments are the names of the setting and a value. */
struct replay {
	char text[EXPIRING_NAMES_SIZE + SETTING_VALUE_SIZE];
	char *args[WORDS_MAX + 1];
	struct command_mode mode;
	struct err err;
	struct call call;
};

static void
replay_init(struct replay *r, const struct expiring_change *c,
    const char *value, const struct command_env *env)
{
	*r = (struct replay){.mode = {.level = LEVEL_ADMIN, .peer = c->who}};
	snprintf(r->text, sizeof(r->text), "%s%s", c->names, value);
	(void)words_cut(r->text, r->args);
	r->call = (struct call){.env = env,
	    .mode = &r->mode,
	    .args = r->args,
	    .err = &r->err,
	    .audit_prefix = "expired: "};
}

bool
expiring_restore(const struct expiring_change *c, const char *value,
    const struct command_env *env, struct err *err)
{
	char *answer = NULL;
	struct replay r;
	size_t size;
	bool ok;

	replay_init(&r, c, value, env);
	r.call.out = open_memstream(&answer, &size);
	/* The audit's line of the change is the only one in the log. */
	events_skip_next(true);
	ok =
	    r.call.out ? c->command->setting.restore(&r.call) : err_oom(&r.err);
	model_update(env->instance->model);
	events_skip_next(false);
	if (r.call.out)
		(void)fclose(r.call.out);
	free(answer);
	*err = r.err;
	return ok;
}

enum setting_answer
expiring_describe(const struct expiring_change *c, struct setting *ret_now)
{
	struct replay r;

	replay_init(&r, c, c->setting.value, c->expiring->env);
	memset(ret_now, 0, sizeof(*ret_now));
	return c->command->setting.describe(&r.call, ret_now);
}

bool
expiring_read_setting(const struct expiring_change *c, struct setting *ret_now)
{
	return expiring_describe(c, ret_now) == SETTING_KNOWN;
}
