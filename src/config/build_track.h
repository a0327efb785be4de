/* SPDX-License-Identifier: MIT
 * Resolves the `track` of servers, once all servers are known.
 */
#ifndef CONFIG_BUILD_TRACK_H
#define CONFIG_BUILD_TRACK_H

#include "base/err.h"
#include "model/spec.h"

/* Finds the server that each `track` names and adds what is wrong with it to
 * errors: there is none, it has no health of its own to be followed, or the
 * server has further settings that would be without effect. */
void build_track(struct spec *spec, struct err_list *errors);

#endif
