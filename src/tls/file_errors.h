/* SPDX-License-Identifier: MIT
 * All errors in the files of a section; a context reports only the first one.
 */
#ifndef TLS_FILE_ERRORS_H
#define TLS_FILE_ERRORS_H

#include "tls/settings.h"

/* Calls error for each file of the settings that cannot be used in this role,
 * with a sentence that names the file; the CRL is read once the authorities
 * are good.  Control thread; blocks for the files. */
void tls_file_errors(const struct tls_settings *settings, enum tls_role role,
    void (*error)(void *arg, const char *text), void *arg);

#endif
