/* SPDX-License-Identifier: MIT
 * config_print: see config.h.
 */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/values.h"

static void
print_value(const char *name, const char *text, FILE *out)
{
	fprintf(out, "%s = ", name);
	expand_print(text, out);
	/* At the end of a line a backslash would continue it. */
	fputs(*text && text[strlen(text) - 1] == '\\' ? " ;\n" : "\n", out);
}

/* A key without a value is there as a comment, to show that it exists. */
static void
print_keys(const struct spec *spec, enum section_kind kind, const void *object,
    FILE *out)
{
	struct shown s = {.object = object, .spec = spec};

	while ((s.key = key_next(kind, s.key))) {
		char text[VALUE_TEXT_SIZE];

		for (s.nth = 0; value_print(&s, text); s.nth++)
			print_value(s.key->name, text, out);
		if (s.nth == 0)
			fprintf(out, "; %s is not set: %s\n", s.key->name,
			    s.key->default_note);
	}
}

static void
print_section(const struct spec *spec, enum section_kind kind, const char *name,
    const void *object, FILE *out)
{
	fprintf(out, "\n[%s%s%s]\n", sections[kind].name, name ? " " : "",
	    name ? name : "");
	print_keys(spec, kind, object, out);
}

void
config_print(const struct spec *spec, FILE *out)
{
	fputs("; lfproxy " LFPROXY_VERSION
	      ": the effective configuration, with every default\n",
	    out);
	print_section(spec, SECTION_GLOBAL, NULL, &spec->global, out);
	for (size_t i = 0; i < spec->pools_n; i++)
		print_section(spec, SECTION_POOL, spec->pools[i].name,
		    &spec->pools[i], out);
	for (size_t i = 0; i < spec->frontends_n; i++)
		print_section(spec, SECTION_FRONTEND, spec->frontends[i].name,
		    &spec->frontends[i], out);
	for (size_t i = 0; i < spec->backends_n; i++)
		print_section(spec, SECTION_BACKEND, spec->backends[i].name,
		    &spec->backends[i], out);
}
