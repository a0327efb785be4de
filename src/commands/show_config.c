/* SPDX-License-Identifier: MIT
 * `show config`: the configuration that runs, as a file.
 */
#include "commands/commands.h"

#include <stdlib.h>

#include "base/text_out.h"
#include "commands/listing.h"
#include "config/config.h"

struct config_listing {
	struct listing listing;
	size_t section; /* the next one */
};

/* Writes the section as the text of an object. */
static bool
put_section_json(struct report *r, const struct spec *spec, size_t section)
{
	struct text_out out;
	bool any;

	if (!text_out_open(&out))
		return false;
	any = config_print_section(spec, section, "", out.stream);
	if (!text_out_close(&out))
		return false;
	if (any) {
		report_row(r);
		report_json_string(r, "section", out.text);
		report_row_end(r);
	}
	free(out.text);
	return any;
}

/* An empty line would end the answer, so none separates the sections. */
static bool
put_section(void *arg, const struct command_env *env)
{
	struct config_listing *l = arg;
	struct report *r = &l->listing.report;
	const struct spec *spec = env->instance->model->spec;
	size_t section = l->section++;

	return r->json ? put_section_json(r, spec, section)
	               : config_print_section(spec, section, "", r->out);
}

static const struct listing_kind config_kind = {
    .size = sizeof(struct config_listing), .head = "", .step = put_section};

bool
run_show_config(struct call *call)
{
	struct config_listing *l =
	    listing_new(call, &config_kind, call_take_json(call));

	return l && listing_answer(call, &l->listing, true);
}
