/* SPDX-License-Identifier: MIT
 * See fit.h.
 */
#include "config/fit.h"

#include <stdio.h>
#include <string.h>

#include "config/build.h"
#include "config/edit.h"
#include "config/values.h"

/* Copies the first error that was added. */
static bool
first_error(const struct err_list *errors, struct err *err)
{
	return errors->n == 0 || err_set(err, "%s", errors->entries[0].text);
}

/* -- sections -- */

/* Parses the values into the object, a copy. */
static void
parse_into(struct spec *spec, enum section_kind kind, void *object,
    const struct config_change *changes, size_t n, struct err_list *errors)
{
	char head[] = "";
	struct draft_section section = {.head = head, .kind = kind};
	struct draft_entry entry = {.label = head};

	for (size_t i = 0; i < n; i++) {
		struct value v = {.text = changes[i].text,
		    .object = object,
		    .spec = spec,
		    .section = &section,
		    .entry = &entry,
		    .errors = errors};

		v.key = key_find(kind, changes[i].key);
		/* An error has been added. */
		if (changes[i].tried && v.key && !value_parse(&v))
			return;
	}
}

/* The values of these sections are numbers and the like: a copy of their struct
 * can be thrown away. */
static bool
section_fits(struct spec *spec, const char *section,
    const struct config_change *changes, size_t n, struct err_list *errors,
    struct err *err)
{
	struct global_spec global = spec->global;
	const char *space = strchr(section, ' '),
	           *name = space ? space + 1 : "";
	struct frontend_spec frontend;
	struct pool_spec pool;
	size_t at;

	if (strcmp(section, "global") == 0) {
		parse_into(spec, SECTION_GLOBAL, &global, changes, n, errors);
	} else if (strncmp(section, "frontend ", 9) == 0 &&
	           name_table_find(INDEXED_TABLE(spec, frontends), name, &at)) {
		frontend = spec->frontends[at];
		parse_into(
		    spec, SECTION_FRONTEND, &frontend, changes, n, errors);
	} else if (strncmp(section, "pool ", 5) == 0 &&
	           name_table_find(INDEXED_TABLE(spec, pools), name, &at)) {
		pool = spec->pools[at];
		parse_into(spec, SECTION_POOL, &pool, changes, n, errors);
		if (errors->n == 0 && !build_complete_pool(&pool, err))
			return false;
	}
	return first_error(errors, err);
}

/* -- servers -- */

/* Returns the length of the first word, whose value may be in quotes. */
static size_t
word_length(const char *text)
{
	bool quoted = false;
	const char *p = text;

	for (; *p && (quoted || *p != ' '); p++) {
		if (*p == '\\' && quoted && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
	}
	return (size_t)(p - text);
}

static bool
is_changed(
    const char *word, size_t len, const struct config_change *changes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t key = strlen(changes[i].key);

		if (changes[i].tried && key <= len &&
		    strncmp(word, changes[i].key, key) == 0 &&
		    (key == len || word[key] == '='))
			return true;
	}
	return false;
}

/* Writes the server's line with the changes.  Texts that are too long are
 * cut. */
static void
change_line(const char *line, const struct config_change *changes, size_t n,
    char *out, size_t size)
{
	size_t len = word_length(line);
	const char *address = line + len + (line[len] == ' ');
	const char *rest = address + word_length(address);
	FILE *to = fmemopen(out, size, "w");

	out[0] = '\0';
	if (!to)
		return;
	fprintf(to, "%.*s", (int)len, line);
	for (size_t i = 0; i < n; i++)
		if (changes[i].tried && strcmp(changes[i].key, "address") == 0)
			address = changes[i].text;
	fprintf(to, " %.*s", (int)word_length(address), address);
	for (; *rest; rest += len) {
		rest += strspn(rest, " ");
		len = word_length(rest);
		if (len > 0 && !is_changed(rest, len, changes, n))
			fprintf(to, " %.*s", (int)len, rest);
	}
	for (size_t i = 0; i < n; i++)
		if (changes[i].tried && strcmp(changes[i].key, "address") != 0)
			fprintf(to, " %s=%s", changes[i].key, changes[i].text);
	(void)fclose(to);
	out[size - 1] = '\0';
}

static bool
server_fits(struct spec *spec, const char *backend, const char *server,
    const struct config_change *changes, size_t n, struct err_list *errors,
    struct err *err)
{
	char line[CONFIG_SERVER_TEXT_SIZE], changed[CONFIG_SERVER_TEXT_SIZE];
	const struct backend_spec *b;
	size_t at, of;

	if (!name_table_find(INDEXED_TABLE(spec, backends), backend, &at))
		return true;
	b = &spec->backends[at];
	/* The server was deleted, and maybe another one of that name added. */
	while (n > 1 && changes[0].tried &&
	       strcmp(changes[0].key, "server") == 0 && !changes[0].text) {
		changes++;
		n--;
	}
	if (n > 0 && changes[0].tried &&
	    strcmp(changes[0].key, "server") == 0) {
		if (!changes[0].text)
			return true;
		snprintf(line, sizeof(line), "%s", changes[0].text);
		changes++;
		n--;
	} else if (name_table_find(SERVER_TABLE(b), server, &of)) {
		config_server_text(spec, b, b->servers[of], line);
	} else {
		return err_set(err, "the file has no such server");
	}
	change_line(line, changes, n, changed, sizeof(changed));
	server_spec_free(config_read_line(spec, b, changed, errors));
	return first_error(errors, err);
}

bool
config_fits(struct spec *spec, const char *section, const char *server,
    const struct config_change *changes, size_t n, struct err *err)
{
	struct err_list errors;
	bool ok;

	err_list_init(&errors);
	ok = server ? server_fits(spec, section + strlen("backend "), server,
	                  changes, n, &errors, err)
	            : section_fits(spec, section, changes, n, &errors, err);
	err_list_fini(&errors);
	return ok;
}
