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

static const char *
origin_name(char c)
{
	switch (c) {
	case 'M':
		return "Metric";
	case 'S':
		return "Status";
	case 'K':
		return "Key";
	case 'C':
		return "Config";
	case 'P':
		return "Product";
	default:
		return "Unknown";
	}
}

static const char *
nature_name(char c)
{
	switch (c) {
	case 'A':
		return "Age";
	case 'a':
		return "Avg";
	case 'C':
		return "Counter";
	case 'D':
		return "Duration";
	case 'G':
		return "Gauge";
	case 'L':
		return "Limit";
	case 'M':
		return "Max";
	case 'm':
		return "Min";
	case 'N':
		return "Name";
	case 'O':
		return "Output";
	case 'R':
		return "Rate";
	case 'T':
		return "Time";
	default:
		return "Unknown";
	}
}

static const char *
scope_name(char c)
{
	switch (c) {
	case 'C':
		return "Cluster";
	case 'P':
		return "Process";
	case 'S':
		return "Service";
	case 's':
		return "System";
	default:
		return "Unknown";
	}
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
	    name->pos, name->name, origin_name(tags[0]), nature_name(tags[1]),
	    scope_name(tags[2]), type);
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
