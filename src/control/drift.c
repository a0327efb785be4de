/* SPDX-License-Identifier: MIT
 * See drift.h.
 */
#include "control/drift.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/edit.h"
#include "config/hint.h"
#include "control/control_internal.h"

/* Tells whether the file has a server that a command has added, or lacks one
 * that a command has deleted: then there is nothing to compare. */
static bool
runs_already(const struct changes *changes, const char *backend,
    const char *server, const char *text)
{
	char label[2 * NAME_MAX_LEN + 32];

	snprintf(
	    label, sizeof(label), "backend %s: server %s", backend, server);
	return changes->runs &&
	       changes->runs(changes->arg, label, "server", NULL, text);
}

/* Returns whether the file's spec has the server with the same options. */
static bool
has_same_server(const struct spec *file, const struct spec *spec,
    const struct backend_spec *b, const struct server_spec *s,
    const struct changes *changes)
{
	char here[CONFIG_SERVER_TEXT_SIZE], there[CONFIG_SERVER_TEXT_SIZE];
	size_t at, server;

	if (!name_table_find(INDEXED_TABLE(file, backends), b->name, &at) ||
	    !name_table_find(
	        INDEXED_TABLE(&file->backends[at], servers), s->name, &server))
		return false;
	config_server_text(spec, b, s, here);
	config_server_text(file, &file->backends[at],
	    &file->backends[at].servers[server], there);
	return strcmp(here, there) == 0 &&
	       runs_already(changes, b->name, s->name, here);
}

/* Deletes from the spec the servers that commands have added and the file does
 * not have. */
static bool
drop_added(struct spec *spec, const struct spec *file,
    const struct changes *changes, struct err_list *errors)
{
	for (size_t i = 0; i < spec->backends_n; i++) {
		struct backend_spec *b = &spec->backends[i];

		for (size_t j = b->singles_n; j-- > 0;)
			if (b->servers[j].added &&
			    !has_same_server(
			        file, spec, b, &b->servers[j], changes) &&
			    !config_del_server(
			        spec, b, b->servers[j].name, errors))
				return false;
	}
	return true;
}

/* Deletes from the spec a server that a command has deleted. */
static bool
drop_server(struct spec *spec, struct backend_spec *b, const char *name,
    const struct changes *changes, struct err_list *errors)
{
	size_t server;

	if (!name_table_find(INDEXED_TABLE(b, servers), name, &server)) {
		(void)runs_already(changes, b->name, name, NULL);
		return true;
	}
	return server >= b->singles_n ||
	       config_del_server(spec, b, name, errors);
}

/* Deletes from the spec the servers that commands have deleted. */
static bool
drop_deleted(struct spec *spec, const struct spec *loaded,
    const struct changes *changes, struct err_list *errors)
{
	for (size_t i = 0; i < loaded->backends_n; i++) {
		const struct backend_spec *had = &loaded->backends[i];
		size_t at;

		if (!name_table_find(
		        INDEXED_TABLE(spec, backends), had->name, &at))
			continue;
		for (size_t j = 0; j < had->deleted_n; j++)
			if (!drop_server(spec, &spec->backends[at],
			        had->deleted[j], changes, errors))
				return false;
	}
	return true;
}

bool
control_drift(struct control *control, struct changes *changes,
    struct err_list *errors, struct spec **ret_file)
{
	const struct spec *loaded = control_model(control)->spec;
	struct spec *now = NULL, *then = NULL;
	bool ok = false;

	*ret_file = NULL;
	if (control->files_n == 0) {
		control_refuse(errors,
		    "this lfproxy was started without a file; start it with -c "
		    "FILE");
		return false;
	}
	if (!config_load_all((const char *const *)control->files,
	        control->files_n, loaded, &now, errors))
		return false;
	then = spec_copy(loaded);
	if (!then || !drop_added(then, now, changes, errors) ||
	    !drop_deleted(now, loaded, changes, errors) ||
	    !config_diff_all(then, now, changes))
		control_refuse(errors, "out of memory");
	else
		ok = true;
	spec_free(then);
	*ret_file = now;
	return ok;
}
