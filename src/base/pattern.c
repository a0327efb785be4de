/* SPDX-License-Identifier: MIT
 * See pattern.h.
 */
#include "base/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Limits of one match: about ten milliseconds at worst. */
#define MATCH_STEPS_MAX 500000
#define MATCH_HEAP_KIB  1024

#define BLANKS " \t"

/* Returns the text behind its first word if that is `word`, or NULL. */
static const char *
after_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(text, word, n) != 0 || !text[n] || !strchr(BLANKS, text[n]))
		return NULL;
	return text + n + strspn(text + n, BLANKS);
}

/* Reads two hexadecimal digits.  Returns false if text does not begin with two.
 */
static bool
hex_byte(const char *text, uint8_t *ret_byte)
{
	char digits[3] = {text[0], text[0] ? text[1] : '\0'};

	if (!isxdigit((unsigned char)digits[0]) ||
	    !isxdigit((unsigned char)digits[1]))
		return false;
	*ret_byte = (uint8_t)strtoul(digits, NULL, 16);
	return true;
}

static bool
take_hex(const char *text, struct pattern *p, struct err *err)
{
	const char *whole = text;

	for (; *text; text++) {
		if (strchr(BLANKS, *text))
			continue;
		if (!hex_byte(text, &p->bytes[p->n++]))
			return err_set(err,
			    "'%s' is not hexadecimal; write two digits for "
			    "each byte, as in hex 00 1f",
			    whole);
		text++;
	}
	return true;
}

/* Reads an escape; text begins behind the backslash.  Returns how many
 * characters it takes, or 0 if the escape is unknown. */
static size_t
take_escape(const char *text, uint8_t *ret_byte)
{
	static const char letters[] = "rnt0\\\"", bytes[] = "\r\n\t\0\\\"";
	const char *at = *text ? strchr(letters, *text) : NULL;

	if (at) {
		*ret_byte = (uint8_t)bytes[at - letters];
		return 1;
	}
	return *text == 'x' && hex_byte(text + 1, ret_byte) ? 3 : 0;
}

/* Takes `"text"` or `text`.  raw: the text is a regular expression, which has
 * escapes of its own, so only that of the quote is taken.  Errors show either
 * the whole text, in which a password can be masked, or two characters. */
static bool
take_text(const char *text, bool raw, struct pattern *p, struct err *err)
{
	bool quoted = *text == '"';
	const char *at = text + quoted;

	while (*at && !(quoted && *at == '"')) {
		size_t n;

		if (*at != '\\' || (raw && at[1] != '"')) {
			p->bytes[p->n++] = (uint8_t)*at;
			if (raw && *at == '\\' && at[1])
				p->bytes[p->n++] = (uint8_t) * ++at;
			at++;
			continue;
		}
		n = take_escape(at + 1, &p->bytes[p->n++]);
		if (n == 0)
			return err_set(err,
			    "'%.2s': unknown escape; there are \\r \\n \\t "
			    "\\0 \\\\ \\\" and \\xHH",
			    at);
		at += 1 + n;
	}
	if (quoted && *at != '"')
		return err_set(err, "%s has no closing quote", text);
	if (quoted && at[1])
		return err_set(err,
		    "%s has a quote that closes it before the end; write \\\" "
		    "for a quote inside",
		    text);
	return true;
}

static bool
compile(struct pattern *p, struct err *err)
{
	PCRE2_UCHAR why[120];
	PCRE2_SIZE offset;
	int error;

	p->code = pcre2_compile(
	    p->bytes, p->n, PCRE2_MULTILINE, &error, &offset, NULL);
	if (p->code)
		return true;
	pcre2_get_error_message(error, why, sizeof(why));
	return err_set(err,
	    "'%s' is not a regular expression: %s at character %zu",
	    (const char *)p->bytes, (const char *)why, (size_t)offset + 1);
}

static bool
pattern_read(const char *text, struct pattern *p, struct err *err)
{
	const char *rest;
	bool ok;

	p->text = strdup(text);
	p->bytes = calloc(1, strlen(text) + 1);
	if (!p->text || !p->bytes)
		return err_oom(err);
	if ((rest = after_word(text, "regex"))) {
		p->kind = PATTERN_REGEX;
		ok = take_text(rest, true, p, err);
	} else if ((rest = after_word(text, "hex"))) {
		ok = take_hex(rest, p, err);
	} else {
		ok = take_text(text, false, p, err);
	}
	if (!ok)
		return false;
	if (p->n == 0)
		return err_set(err,
		    "the pattern is empty; write \"TEXT\", hex 00 1f, or regex "
		    "\"EXPRESSION\"");
	return p->kind != PATTERN_REGEX || compile(p, err);
}

bool
pattern_parse(const char *text, struct pattern *ret_pattern, struct err *err)
{
	struct pattern p = {.kind = PATTERN_BYTES};
	bool ok = pattern_read(text, &p, err);

	if (!ok)
		pattern_fini(&p);
	*ret_pattern = p;
	return ok;
}

bool
pattern_copy(const struct pattern *pattern, struct pattern *ret_copy)
{
	*ret_copy = (struct pattern){.kind = PATTERN_BYTES};
	return !pattern->text || pattern_parse(pattern->text, ret_copy, NULL);
}

void
pattern_fini(struct pattern *pattern)
{
	free(pattern->text);
	free(pattern->bytes);
	pcre2_code_free(pattern->code);
	*pattern = (struct pattern){.kind = PATTERN_BYTES};
}

static bool
regex_found(const struct pattern *pattern, const void *data, size_t n)
{
	pcre2_match_context *limits = pcre2_match_context_create(NULL);
	pcre2_match_data *match =
	    pcre2_match_data_create_from_pattern(pattern->code, NULL);
	int rc = PCRE2_ERROR_NOMEMORY;

	if (limits && match) {
		pcre2_set_match_limit(limits, MATCH_STEPS_MAX);
		pcre2_set_heap_limit(limits, MATCH_HEAP_KIB);
		rc = pcre2_match(
		    pattern->code, n > 0 ? data : "", n, 0, 0, match, limits);
	}
	pcre2_match_data_free(match);
	pcre2_match_context_free(limits);
	return rc >= 0;
}

bool
pattern_found(const struct pattern *pattern, const void *data, size_t n)
{
	if (pattern->kind == PATTERN_REGEX)
		return regex_found(pattern, data, n);
	return n >= pattern->n &&
	       memmem(data, n, pattern->bytes, pattern->n) != NULL;
}
