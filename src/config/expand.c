/* SPDX-License-Identifier: MIT
 * See expand.h.
 */
#include "config/expand.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS       " \t"
#define LETTERS      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define NAME_LETTERS LETTERS "0123456789"
#define OPENING      "${"
#define LITERAL_HINT "write $${ for a literal ${"

/* Counts on when there is no more room, for the error. */
struct result {
	char *text;
	size_t len;
	size_t written; /* as expand_length has it */
	char last;
};

static void
put(struct result *r, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (r->len < EXPAND_SIZE - 1)
			r->text[r->len++] = from[i];
		r->written += from[i] == '{' && r->last == '$' ? 2 : 1;
		r->last = from[i];
	}
}

static bool
put_variable(
    struct result *r, const char *name, const char *value, struct err *err)
{
	for (const char *c = value; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
			return err_set(err,
			    "the variable %s has the control character "
			    "0x%02x; only printable text is allowed",
			    name, (unsigned char)*c);
	put(r, value, strlen(value));
	return true;
}

/* What stands between the braces, len characters. */
static bool
put_braces(struct result *r, const char *inner, size_t len, struct err *err)
{
	size_t name_len = strspn(inner, NAME_LETTERS);
	const char *rest = inner + name_len, *value;
	char name[DRAFT_VALUE_MAX * 2];
	bool has_default = strncmp(rest, ":-", 2) == 0;

	if (len == 0)
		return err_set(
		    err, "'${}' has no name; write ${NAME}, or " LITERAL_HINT);
	if (name_len == 0 || strspn(inner, LETTERS) == 0 ||
	    (name_len < len && !has_default) || name_len >= sizeof(name))
		return err_set(err,
		    "'%.*s' is no variable; write ${NAME} or ${NAME:-TEXT} "
		    "with a name of letters, digits and _, or " LITERAL_HINT,
		    (int)len, inner);
	memcpy(name, inner, name_len);
	name[name_len] = '\0';
	rest += strlen(":-");
	if (has_default && memmem(rest, len - name_len - 2, OPENING, 2))
		return err_set(err,
		    "the text for a missing %s has a ${ of its own, which it "
		    "may not",
		    name);
	value = getenv(name);
	if (value && (*value || !has_default))
		return put_variable(r, name, value, err);
	if (!has_default)
		return err_set(err,
		    "the variable %s is not set; set it in the environment of "
		    "lfproxy, or write ${%s:-TEXT} for a TEXT without it",
		    name, name);
	put(r, rest, len - name_len - strlen(":-"));
	return true;
}

static bool
put_all(struct result *r, const char *text, struct err *err)
{
	while (*text) {
		const char *close;

		if (strncmp(text, "$" OPENING, 3) == 0) {
			put(r, OPENING, 2);
			text += 3;
			continue;
		}
		if (strncmp(text, OPENING, 2) != 0) {
			put(r, text++, 1);
			continue;
		}
		text += 2;
		close = strchr(text, '}');
		if (!close)
			return err_set(err,
			    "'${%s' has no '}'; write ${NAME}, "
			    "or " LITERAL_HINT,
			    text);
		if (!put_braces(r, text, (size_t)(close - text), err))
			return false;
		text = close + 1;
	}
	return true;
}

/* A file could not say it: the rest would be a comment. */
static bool
has_comment(const char *text)
{
	const char *at = text;

	while ((at = strchr(at, ';'))) {
		if (at == text || strchr(BLANKS, at[-1]))
			return true;
		at++;
	}
	return false;
}

const char *
expand_value(const char *text, char out[EXPAND_SIZE], struct err *err)
{
	struct result r = {.text = out};
	size_t blanks;

	if (!strstr(text, OPENING))
		return text;
	if (!put_all(&r, text, err))
		return NULL;
	if (r.written > DRAFT_VALUE_MAX) {
		err_set(err,
		    "the value has %zu characters with its variables filled "
		    "in; at most %d are allowed",
		    r.written, DRAFT_VALUE_MAX);
		return NULL;
	}
	while (r.len > 0 && strchr(BLANKS, out[r.len - 1]))
		r.len--;
	out[r.len] = '\0';
	blanks = strspn(out, BLANKS);
	memmove(out, out + blanks, r.len - blanks + 1);
	if (has_comment(out)) {
		err_set(err,
		    "'%s', with its variables filled in, has a ';' where a "
		    "comment begins; take it or the blank before it away",
		    out);
		return NULL;
	}
	return out;
}

size_t
expand_length(const char *value)
{
	size_t len = strlen(value);

	for (; (value = strstr(value, OPENING)); value += 2)
		len++;
	return len;
}

void
expand_print(const char *value, FILE *out)
{
	const char *at;

	for (; (at = strstr(value, OPENING)); value = at + 2)
		fprintf(out, "%.*s$" OPENING, (int)(at - value), value);
	fputs(value, out);
}
