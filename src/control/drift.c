/* SPDX-License-Identifier: MIT
 * See drift.h.
 */
#include "control/drift.h"

#include "config/config.h"
#include "config/edit.h"
#include "config/hint.h"
#include "control/control_internal.h"

/* Deletes from the spec the servers that commands have added. */
static bool
drop_added(struct spec *spec, struct err_list *errors)
{
	for (size_t i = 0; i < spec->backends_n; i++) {
		struct backend_spec *b = &spec->backends[i];

		for (size_t j = b->singles_n; j-- > 0;)
			if (b->servers[j]->added &&
			    !config_del_server(
			        spec, b, b->servers[j]->name, errors))
				return false;
	}
	return true;
}

/* Deletes from the spec the servers that commands have deleted. */
static bool
drop_deleted(
    struct spec *spec, const struct spec *loaded, struct err_list *errors)
{
	for (size_t i = 0; i < loaded->backends_n; i++) {
		const struct backend_spec *had = &loaded->backends[i];
		size_t at, server;

		if (!name_table_find(
		        INDEXED_TABLE(spec, backends), had->name, &at))
			continue;
		for (size_t j = 0; j < had->deleted_n; j++) {
			struct backend_spec *b = &spec->backends[at];

			if (name_table_find(
			        SERVER_TABLE(b), had->deleted[j], &server) &&
			    server < b->singles_n &&
			    !config_del_server(
			        spec, b, had->deleted[j], errors))
				return false;
		}
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
	if (!then || !drop_added(then, errors) ||
	    !drop_deleted(now, loaded, errors) ||
	    !config_diff_all(then, now, changes))
		control_refuse(errors, "out of memory");
	else
		ok = true;
	spec_free(then);
	*ret_file = now;
	return ok;
}
