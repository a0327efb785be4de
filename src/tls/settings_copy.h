/* SPDX-License-Identifier: MIT
 * Deep copies of settings, for contexts that read their files again.
 */
#ifndef TLS_SETTINGS_COPY_H
#define TLS_SETTINGS_COPY_H

#include "tls/settings.h"

/* Returns a copy with all strings and arrays, or NULL when memory is short. */
struct tls_settings *tls_settings_copy(const struct tls_settings *settings);

/* Frees a copy.  Accepts NULL. */
void tls_settings_free(struct tls_settings *copy);

#endif
