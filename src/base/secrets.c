/* SPDX-License-Identifier: MIT
 * See secrets.h.
 */
#include "base/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomics.h"

struct secret {
	/* Never change once the secret is in the list. */
	struct secret *next;
	char *text, *source;
	size_t len;
	/* Control thread only. */
	char *open_path;
	bool present; /* in the configuration that was read last */
};

/* Written by the control thread, read by any.  Secrets are only added, in
 * front. [P26] */
static struct secret *secrets;

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
			s->len = strlen(text);
		}
		if (!s || !s->text || !s->source) {
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

size_t
secret_at(const char *text, const char **ret_source)
{
	size_t len = 0;

	for (const struct secret *s = first_secret(); s; s = s->next) {
		if (s->len < SECRET_MIN_LEN || s->len <= len ||
		    strncmp(text, s->text, s->len) != 0)
			continue;
		len = s->len;
		*ret_source = s->source;
	}
	return len;
}

/* Does what secret_at does, and also finds the beginning of a secret at the end
 * of the text: the caller's buffer may have cut the rest off. */
static size_t
maybe_cut_at(const char *text, const char *end, const char **ret_source)
{
	size_t len = secret_at(text, ret_source), left = (size_t)(end - text);

	if (len > 0 || left < SECRET_MIN_LEN)
		return len;
	for (const struct secret *s = first_secret(); s; s = s->next)
		if (s->len > left && memcmp(text, s->text, left) == 0) {
			*ret_source = s->source;
			return left;
		}
	return 0;
}

static bool
has_secret(const char *text, const char *end)
{
	const char *source;

	for (; first_secret() && text < end; text++)
		if (maybe_cut_at(text, end, &source) > 0)
			return true;
	return false;
}

const char *
secrets_mask(const char *text, char **ret_copy)
{
	const char *source, *end = text + strlen(text);
	size_t size, len;
	FILE *out;

	*ret_copy = NULL;
	if (!has_secret(text, end))
		return text;
	out = open_memstream(ret_copy, &size);
	if (!out)
		return "(not shown: out of memory)";
	while (*text) {
		len = maybe_cut_at(text, end, &source);
		if (len > 0)
			fputs(source, out);
		else
			fputc(*text, out);
		text += len > 0 ? len : 1;
	}
	if (fclose(out) == 0)
		return *ret_copy;
	free(*ret_copy);
	*ret_copy = NULL;
	return "(not shown: out of memory)";
}

void
secrets_each_flawed(
    void (*report)(void *arg, const struct secret_flaws *flaws), void *arg)
{
	for (const struct secret *s = first_secret(); s; s = s->next) {
		struct secret_flaws flaws = {s->source, s->open_path,
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
}
