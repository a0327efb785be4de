/* SPDX-License-Identifier: MIT
 * Edits a running configuration: adds and deletes servers at run time.
 *
 * The caller edits a copy (spec_copy), which becomes the next model.  An added
 * server is read by the parser of the file and checked against the same rules.
 */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/diff.h"
#include "config/draft.h"
#include "model/spec.h"

/* Appends a server.  value is the text behind `server =` in the file; its
 * address must not be a name.  Returns false after errors, which begin with
 * BACKEND/SERVER if they are about an option; the spec may then only be passed
 * to spec_free.  Runs on the control thread. */
bool config_add_server(struct spec *spec, struct backend_spec *backend,
    const char *value, struct err_list *errors) MUST_CHECK;

#define CONFIG_SERVER_TEXT_SIZE (DRAFT_VALUE_MAX + 1024)

/* Writes the text behind `server =` in the file for that server, without
 * options that are at their default, from server_defaults or else the table. */
void config_server_text(const struct spec *spec,
    const struct backend_spec *backend, const struct server_spec *server,
    char out[CONFIG_SERVER_TEXT_SIZE]);

/* Removes a server that no other server tracks.  Returns false when memory is
 * short; the spec may then only be passed to spec_free. */
bool config_del_server(struct spec *spec, struct backend_spec *backend,
    const char *name, struct err_list *errors) MUST_CHECK;

/* Adds one sentence that says what a reload with the spec of a file does to
 * servers that were added or deleted at run time, if there are any.  The
 * sentence is lost when memory is short. */
void config_tell_edits(const struct spec *running, const struct spec *file,
    struct changes *changes);

#endif
