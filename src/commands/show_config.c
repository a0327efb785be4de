/* SPDX-License-Identifier: MIT
 * `show config`: the configuration that runs, as a file.
 */
#include "commands/commands.h"

#include "commands/listing.h"
#include "config/config.h"

struct config_listing {
	struct listing listing;
	size_t section; /* the next one */
};

/* An empty line would end the answer, so none separates the sections. */
static bool
put_section(void *arg, const struct command_env *env)
{
	struct config_listing *l = arg;

	return config_print_section(control_model(env->control)->spec,
	    l->section++, "", l->listing.report.out);
}

static const struct listing_kind config_kind = {
    .size = sizeof(struct config_listing), .step = put_section};

bool
run_show_config(struct call *call)
{
	struct config_listing *l = listing_new(call, &config_kind, false);

	return l && listing_answer(call, &l->listing, true);
}
