/* SPDX-License-Identifier: MIT
 * The systemd unit that a configuration is for, and what would fail there.
 *
 * `lfproxy -t` usually runs as root, who may read every file, while the unit's
 * user, its sandbox and its limits apply at the start.  service_try therefore
 * makes a process with the unit's user, groups, capabilities, limit of
 * descriptors and view of the file system, which loads the configuration once
 * more and asks the kernel about each path that lfproxy will write.
 */
#ifndef PROCESS_SERVICE_H
#define PROCESS_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/spec.h"

/* Properties of lfproxy.service. */
struct service {
	char *
	    text; /* NUL-terminated `NAME=VALUE`s, one after another; or NULL */
	size_t len;
};

/* Asks systemd for the unit.  service->text is NULL if this process is not
 * root's, systemd does not run, or ExecStart= of the unit names none of the
 * files.  Otherwise sets CREDENTIALS_DIRECTORY, unless it is set, to the
 * credentials of the unit if they are mounted.  Blocks for systemd.  Called
 * before chroot(2) and before any thread starts. */
void service_find(
    const char *const *files, size_t n, struct service *ret_service);

void service_fini(struct service *service);

/* Prints to standard error a warning, with its place, for everything that would
 * fail in the unit; without a unit, for everything that the user of the spec,
 * whom root becomes, may not do once lfproxy runs.  load: loads the
 * configuration, see options_load.  spec: as this process has loaded it.
 * Blocks. */
void service_try(const struct service *service, const struct spec *spec,
    bool (*load)(
        const void *arg, struct spec **ret_spec, struct err_list *errors),
    const void *arg);

#endif
