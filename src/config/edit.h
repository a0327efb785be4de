/* SPDX-License-Identifier: MIT
 * A running configuration, changed by hand: servers that come and go without
 * the file.
 *
 * To be done with a copy (spec_copy), which is then made the next model.  A
 * server that comes is read by the parser of the file, and held against the
 * same rules.
 */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/diff.h"
#include "model/spec.h"

/* Appends a server; value is what would stand in the file behind `server =`.
 * Control thread; no name may be in its address.  False after errors, which
 * begin with BACKEND/SERVER where they are about an option; the spec is fit for
 * spec_free alone then. */
bool config_add_server(struct spec *spec, struct backend_spec *backend,
    const char *value, struct err_list *errors);

/* Takes a server out, which no other tracks.  False when memory is short, and
 * then as above. */
bool config_del_server(struct spec *spec, struct backend_spec *backend,
    const char *name, struct err_list *errors);

/* What becomes, with the spec of a file, of servers that were added or deleted
 * while lfproxy ran: one sentence that names them all; none when there are
 * none.  When memory is short it is lost. */
void config_tell_edits(const struct spec *running, const struct spec *file,
    struct changes *changes);

#endif
