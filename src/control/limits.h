/* SPDX-License-Identifier: MIT
 * What the system allows this process: descriptors, and its user.
 */
#ifndef CONTROL_LIMITS_H
#define CONTROL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec.h"

/* With fewer the process could not serve a single session. */
#define LIMITS_DESCRIPTORS_MIN 32

/* Raises the soft limit of open descriptors to the hard one; the result. */
size_t limits_raise_descriptors(void);

/* Sessions that so many descriptors are enough for: two each, after what the
 * process itself needs for listeners, checks, the admin socket and the log. */
uint32_t limits_sessions(size_t descriptors, const struct spec *spec);

/* Becomes the user and group of the spec, for good; nothing if none is named.
 * Call before threads are started. */
bool limits_become_user(const struct global_spec *global, struct err *err);

#endif
