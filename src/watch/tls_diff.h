/* SPDX-License-Identifier: MIT
 * How a reload changes the contents of the files of [tls] sections.
 */
#ifndef WATCH_TLS_DIFF_H
#define WATCH_TLS_DIFF_H

#include "config/diff.h"
#include "model/spec.h"

/* Adds a change for each certificate, authority, CRL or ticket key whose
 * content differs between the sections of the same name and role in the two
 * specs.  config_diff compares the keys of the sections.  Runs on the control
 * thread. */
void tls_diff(const struct spec *before, const struct spec *spec,
    struct changes *changes);

#endif
