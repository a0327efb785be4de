/* SPDX-License-Identifier: MIT
 * The contents of the files of [tls] sections at a reload.
 */
#ifndef CONTROL_TLS_DIFF_H
#define CONTROL_TLS_DIFF_H

#include "config/diff.h"
#include "model/spec.h"

/* Adds a change for each certificate, authority, CRL or ticket key whose
 * content is another than under before, in a section of the same name and role.
 * Keys of the configuration are config_diff's.  Control thread. */
void tls_diff(const struct spec *before, const struct spec *spec,
    struct changes *changes);

#endif
