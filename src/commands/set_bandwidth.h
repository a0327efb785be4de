/* SPDX-License-Identifier: MIT
 * `set bandwidth client`, as a setting: `off`, or `in=10MiB/s out=1MiB/s`.
 */
#ifndef COMMANDS_SET_BANDWIDTH_H
#define COMMANDS_SET_BANDWIDTH_H

#include "proxy/client_bands.h"
#include "settings/setting.h"

/* Describes the limits of the range, which may have none.  ret is zeroed. */
void describe_client_band(const struct client_band *band, struct setting *ret);

#endif
