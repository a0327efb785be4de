/* SPDX-License-Identifier: MIT
 * See secrets.h.
 */
#include "base/secrets.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"

#define NOT_SHOWN     "(not shown: out of memory)"
#define FILE_SOURCE   "${file:"
#define VARIABLES_ENV "LFPROXY_SECRETS"

struct secret {
	/* Never change once the secret is in the list. */
	struct secret *next;
	char *text, *source, *shown;
	size_t len;
	/* Control thread only. */
	char *open_path;
	bool present; /* in the configuration that was read last */
};

/* A variable whose value is a secret. */
struct variable {
	struct variable *next;
	char name[];
};

/* Written by the control thread, read by any.  Secrets are only added, in
 * front. [P26] */
static struct secret *secrets;
static struct variable *variables; /* control thread only */

static struct secret *
first_secret(void)
{
	return atomic_load_acquire(&secrets); /* [P26] */
}

static void
secret_free(struct secret *s)
{
	if (!s)
		return;
	free(s->text);
	free(s->source);
	free(s->shown);
	free(s->open_path);
	free(s);
}

void
secrets_begin(void)
{
	for (struct secret *s = first_secret(); s; s = s->next)
		s->present = false;
}

static struct secret *
secret_find(const char *text)
{
	struct secret *s = first_secret();

	while (s && strcmp(s->text, text) != 0)
		s = s->next;
	return s;
}

/* Returns a copy of the source without the text for a missing variable, which
 * may be a password as well; or NULL when memory is short. */
static char *
copy_shown(const char *source)
{
	bool is_file = strncmp(source, FILE_SOURCE, strlen(FILE_SOURCE)) == 0;
	char *copy = strdup(source), *rest;

	rest = copy && !is_file ? strstr(copy, ":-") : NULL;
	if (rest)
		strcpy(rest, "}");
	return copy;
}

bool
secrets_add(const char *text, const char *source, const char *open_path)
{
	struct secret *s = secret_find(text);
	char *path = open_path ? strdup(open_path) : NULL;

	if (open_path && !path)
		return false;
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (s) {
			s->text = strdup(text);
			s->source = strdup(source);
			s->shown = copy_shown(source);
			s->len = strlen(text);
		}
		if (!s || !s->text || !s->source || !s->shown) {
			secret_free(s);
			free(path);
			return false;
		}
		s->next = first_secret();
		atomic_store_release(&secrets, s); /* [P26] */
	}
	free(s->open_path);
	s->open_path = path;
	s->present = true;
	return true;
}

static struct variable *
variable_find(const char *name)
{
	struct variable *v = variables;

	while (v && strcmp(v->name, name) != 0)
		v = v->next;
	return v;
}

bool
secrets_add_variable(const char *name)
{
	size_t size = strlen(name) + 1;
	struct variable *v;

	if (variable_find(name))
		return true;
	v = malloc(offsetof(struct variable, name) + size);
	if (!v)
		return false;
	memcpy(v->name, name, size);
	v->next = variables;
	variables = v;
	return true;
}

/* Returns the longest secret that the text begins with, or NULL. */
static const struct secret *
longest_at(const char *text)
{
	const struct secret *found = NULL;

	for (const struct secret *s = first_secret(); s; s = s->next)
		if (s->len >= SECRET_MIN_LEN &&
		    (!found || s->len > found->len) &&
		    strncmp(text, s->text, s->len) == 0)
			found = s;
	return found;
}

size_t
secret_at(const char *text, const char **ret_source)
{
	const struct secret *s = longest_at(text);

	if (!s)
		return 0;
	*ret_source = s->source;
	return s->len;
}

/* Does what secret_at does, and also finds the beginning of a secret at the end
 * of the text: the caller's buffer may have cut the rest off. */
static size_t
maybe_cut_at(const char *text, const char *end, const char **ret_shown)
{
	const struct secret *s = longest_at(text);
	size_t left = (size_t)(end - text), len = s ? s->len : left;

	if (!s && left >= SECRET_MIN_LEN) {
		s = first_secret();
		while (s && (s->len <= left || memcmp(text, s->text, left)))
			s = s->next;
	}
	if (!s)
		return 0;
	*ret_shown = s->shown;
	return len;
}

static bool
has_secret(const char *text, const char *end)
{
	const char *shown;

	for (; first_secret() && text < end; text++)
		if (maybe_cut_at(text, end, &shown) > 0)
			return true;
	return false;
}

const char *
secrets_mask(const char *text, char **ret_copy)
{
	const char *shown, *end = text + strlen(text);
	size_t size, len;
	FILE *out;

	*ret_copy = NULL;
	if (!has_secret(text, end))
		return text;
	out = open_memstream(ret_copy, &size);
	if (!out)
		return NOT_SHOWN;
	while (*text) {
		len = maybe_cut_at(text, end, &shown);
		if (len > 0)
			fputs(shown, out);
		else
			fputc(*text, out);
		text += len > 0 ? len : 1;
	}
	if (fclose(out) == 0)
		return *ret_copy;
	free(*ret_copy);
	*ret_copy = NULL;
	return NOT_SHOWN;
}

static bool
is_within_secret(const char *text)
{
	const struct secret *s = first_secret();

	if (strlen(text) < SECRET_MIN_LEN)
		return false;
	while (s && !strstr(s->text, text))
		s = s->next;
	return s;
}

const char *
secrets_mask_variable(const char *name, const char *value, char **ret_copy)
{
	if (!*value || (!variable_find(name) && !is_within_secret(value)))
		return secrets_mask(value, ret_copy);
	if (asprintf(ret_copy, "${%s}", name) >= 0)
		return *ret_copy;
	*ret_copy = NULL;
	return NOT_SHOWN;
}

static bool
add_inherited(const char *name)
{
	const char *value = getenv(name);
	char *source;
	bool ok;

	if (!secrets_add_variable(name) || asprintf(&source, "${%s}", name) < 0)
		return false;
	ok = !value || !*value || secrets_add(value, source, NULL);
	free(source);
	return ok;
}

void
secrets_inherit(void)
{
	const char *text = getenv(VARIABLES_ENV);
	char *copy = text ? strdup(text) : NULL, *rest = copy, *name;

	while ((name = strsep(&rest, " ")))
		if (*name && !add_inherited(name))
			break;
	free(copy);
	(void)unsetenv(VARIABLES_ENV);
}

bool
secrets_variable(char **ret_variable)
{
	size_t size = sizeof(VARIABLES_ENV "=");
	char *end;

	for (const struct variable *v = variables; v; v = v->next)
		size += strlen(v->name) + 1;
	*ret_variable = malloc(size);
	if (!*ret_variable)
		return false;
	end = stpcpy(*ret_variable, VARIABLES_ENV "=");
	for (const struct variable *v = variables; v; v = v->next)
		end = stpcpy(stpcpy(end, v->name), v->next ? " " : "");
	return true;
}

void
secrets_each_flawed(
    void (*report)(void *arg, const struct secret_flaws *flaws), void *arg)
{
	for (const struct secret *s = first_secret(); s; s = s->next) {
		struct secret_flaws flaws = {s->shown, s->open_path,
		    .too_short = s->len < SECRET_MIN_LEN};

		if (s->present && (flaws.open_path || flaws.too_short))
			report(arg, &flaws);
	}
}

void
secrets_forget(void)
{
	struct secret *s = first_secret(), *next;

	atomic_store_release(&secrets, (struct secret *)NULL);
	for (; s; s = next) {
		next = s->next;
		secret_free(s);
	}
	while (variables) {
		struct variable *v = variables;

		variables = v->next;
		free(v);
	}
}
