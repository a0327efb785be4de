/* SPDX-License-Identifier: MIT
 * See drift.h.
 */
#include "live/drift.h"

#include "config/config.h"
#include "config/hint.h"
#include "live/control.h"

bool
control_drift(struct control *control, struct changes *changes,
    struct err_list *errors, struct spec **ret_file)
{
	const struct spec *loaded = control->instance.model->spec;
	struct spec *now;
	bool ok;

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
	ok = config_diff_files(loaded, now, changes) ||
	     control_refuse(errors, "out of memory");
	*ret_file = now;
	return ok;
}
