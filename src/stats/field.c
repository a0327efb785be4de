/* SPDX-License-Identifier: MIT
 * See field.h.
 */
#include "stats/field.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/printable.h"

void
field_number(struct field *field, uint64_t number)
{
	field->present = true;
	snprintf(field->text, sizeof(field->text), "%" PRIu64, number);
}

void
field_text(struct field *field, const char *text)
{
	field->present = true;
	printable_copy(field->text, sizeof(field->text), text, ' ');
}

void
field_float(struct field *field, double number)
{
	char *end;

	field->present = true;
	snprintf(field->text, sizeof(field->text), "%f", number);
	end = field->text + strlen(field->text) - 1;
	while (*end == '0')
		*end-- = '\0';
	if (*end == '.')
		*end = '\0';
}

enum field_form
field_form_parse(const char *const *words)
{
	enum field_form form = FIELD_PLAIN;
	bool desc = false;

	for (; *words; words++) {
		if (strcmp(*words, "typed") == 0)
			form = FIELD_TYPED;
		else if (strcmp(*words, "json") == 0)
			form = FIELD_JSON;
		else if (strcmp(*words, "flat") == 0)
			form = FIELD_FLAT;
		desc |= strcmp(*words, "desc") == 0;
	}
	if (desc && form == FIELD_PLAIN)
		return FIELD_DESC;
	return desc && form == FIELD_TYPED ? FIELD_TYPED_DESC : form;
}

void
field_put_typed(FILE *out, const struct field_name *name,
    const struct field *field, bool desc)
{
	fprintf(out, "%u.%s.1:%s:%s", name->pos, name->name, name->tags,
	    field->text);
	if (desc)
		fprintf(out, ":\"%s\"", name->desc);
	putc('\n', out);
}

/* HAProxy's words for the letters of the tags. */
static const char *const origins[] = {
    "M:Metric", "S:Status", "K:Key", "C:Config", "P:Product", NULL};
static const char *const natures[] = {"A:Age", "a:Avg", "C:Counter",
    "D:Duration", "G:Gauge", "L:Limit", "M:Max", "m:Min", "N:Name", "O:Output",
    "R:Rate", "T:Time", NULL};
static const char *const scopes[] = {
    "C:Cluster", "P:Process", "S:Service", "s:System", NULL};

static const char *
tag_word(const char *const *words, char letter)
{
	for (; *words; words++)
		if (**words == letter)
			return *words + 2;
	return "Unknown";
}

void
field_put_json(
    FILE *out, const struct field_name *name, const struct field *field)
{
	const char *tags = name->tags, *type = tags + 4;

	fprintf(out,
	    "\"field\":{\"pos\":%u,\"name\":\"%s\"},\"processNum\":1,"
	    "\"tags\":{\"origin\":\"%s\",\"nature\":\"%s\",\"scope\":\"%s\"},"
	    "\"value\":{\"type\":\"%s\",\"value\":",
	    name->pos, name->name, tag_word(origins, tags[0]),
	    tag_word(natures, tags[1]), tag_word(scopes, tags[2]), type);
	if (strcmp(type, "str") == 0)
		escape_json_put(field->text, out);
	else
		fputs(field->text, out);
	fputs("}}", out);
}

void
field_put_flat(
    FILE *out, const struct field_name *name, const struct field *field)
{
	const char *type = strrchr(name->tags, ':') + 1;
	const char *text = field->text;

	fprintf(out, "\"%s\":", name->name);
	if (!field->present) {
		fputs("null", out);
	} else if (strcmp(type, "str") != 0 && *text &&
	           strspn(text, "-.0123456789") == strlen(text)) {
		fputs(text, out);
	} else {
		escape_json_put(text, out);
	}
}
