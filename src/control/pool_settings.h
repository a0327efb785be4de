/* SPDX-License-Identifier: MIT
 * A pool that runs gets the settings of the configuration.
 */
#ifndef CONTROL_POOL_SETTINGS_H
#define CONTROL_POOL_SETTINGS_H

#include "config/diff.h"
#include "control/pools.h"

/* Control thread.  Compares with what is in force now, by the file or by hand,
 * and changes what differs, in an order in which every step is allowed; each is
 * told in changes as `pool main: threads: 4 -> 8`.  What cannot be changed, or
 * what the system refuses, is told as well. */
void pool_settings_apply(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct changes *changes);

#endif
