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
	bool json = false, typed = false, desc = false, flat = false;

	for (; *words; words++) {
		if (strcmp(*words, "typed") == 0)
			typed = true, json = flat = false;
		else if (strcmp(*words, "json") == 0)
			json = true, typed = flat = false;
		else if (strcmp(*words, "flat") == 0)
			flat = true, json = typed = false;
		else if (strcmp(*words, "desc") == 0)
			desc = true;
	}
	if (flat)
		return FIELD_FLAT;
	if (json)
		return FIELD_JSON;
	if (typed)
		return desc ? FIELD_TYPED_DESC : FIELD_TYPED;
	return desc ? FIELD_DESC : FIELD_PLAIN;
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

/* The words for the letters of the tags. */
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
	char text[ESCAPE_JSON_MAX * sizeof(field->text)];
	size_t n;

	fprintf(out,
	    "\"field\":{\"pos\":%u,\"name\":\"%s\"},\"processNum\":1,"
	    "\"tags\":{\"origin\":\"%s\",\"nature\":\"%s\",\"scope\":\"%s\"},"
	    "\"value\":{\"type\":\"%s\",\"value\":",
	    name->pos, name->name, tag_word(origins, tags[0]),
	    tag_word(natures, tags[1]), tag_word(scopes, tags[2]), type);
	if (strcmp(type, "str") != 0) {
		fprintf(out, "%s}}", field->text);
		return;
	}
	n = escape_json(field->text, text, sizeof(text));
	fprintf(out, "\"%.*s\"}}", (int)n, text);
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
