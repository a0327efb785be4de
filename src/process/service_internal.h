/* SPDX-License-Identifier: MIT
 * Declarations that the parts of service.h share.
 */
#ifndef PROCESS_SERVICE_INTERNAL_H
#define PROCESS_SERVICE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "process/service.h"

#define SERVICE_UNIT "lfproxy.service"

/* Returns the value of the property, "" if the unit has none. */
const char *service_property(const struct service *service, const char *name);

/* Copies the next word of a list that blanks separate, and moves *list behind
 * it.  Returns false at the end.  Words that do not fit are cut. */
bool service_word(const char **list, char *out, size_t size);

/* Returns whether the path is the directory, or below it. */
bool service_is_below(const char *path, const char *dir);

/* Returns whether systemd makes the directory for the unit's user
 * (RuntimeDirectory= and such). */
bool service_makes(const struct service *service, const char *dir);

/* Gives this process the unit's view of the file system, as far as it can be
 * had: without CAP_SYS_ADMIN nothing changes.  Returns whether it has changed.
 */
bool service_enter_view(const struct service *service);

/* Gives this process the unit's limit of descriptors, user, groups and
 * capabilities; *ret_kept has the last.  Returns false with err set. */
bool service_become(const struct service *service, uint64_t *ret_kept,
    struct err *err) MUST_CHECK;

#endif
