/* SPDX-License-Identifier: MIT
 * Servers that are added to a running configuration, or deleted from it.  An
 * added server is read by the parser of the file and checked against the same
 * rules.  All functions run on the control thread.
 */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/diff.h"
#include "config/draft.h"
#include "model/spec.h"

/* Reads a server to add to the backend, which is one of the spec.  value is the
 * text behind `server =` in the file.  The spec stays as it is, except that a
 * [tls] section gets a context for connections to servers if the server is the
 * first that needs it.  Returns NULL after errors, which begin with
 * BACKEND/SERVER if they are about an option.  Caller owns the server. */
struct server_spec *config_read_server(struct spec *spec,
    const struct backend_spec *backend, const char *value,
    struct err_list *errors) MUST_CHECK;

/* Reads the line of a server as it stands in the backend's section, with its
 * server_defaults.  Otherwise as config_read_server; the name may be that of a
 * server of the backend. */
struct server_spec *config_read_line(struct spec *spec,
    const struct backend_spec *backend, const char *value,
    struct err_list *errors) MUST_CHECK;

#define CONFIG_SERVER_TEXT_SIZE (DRAFT_VALUE_MAX + 1024)

/* Writes the text behind `server =` in the file for that server, without
 * options that are at their default, from server_defaults or else the table. */
void config_server_text(const struct spec *spec,
    const struct backend_spec *backend, const struct server_spec *server,
    char out[CONFIG_SERVER_TEXT_SIZE]);

/* Notes in the backend that a command deletes the server, if it is one of the
 * file, so that a reload can say that it brings it back.  Returns false when
 * memory is short. */
bool config_note_deleted(
    struct backend_spec *backend, const struct server_spec *server) MUST_CHECK;

/* Finds out again what depends on whether the spec has servers with TLS: the
 * automatic threads of pools. */
void config_follow_servers(struct spec *spec);

/* Adds one sentence that says what a reload with the spec of a file does to
 * servers that were added or deleted at run time, if there are any.  The
 * sentence is lost when memory is short. */
void config_tell_edits(const struct spec *running, const struct spec *file,
    struct changes *changes);

#endif
