/* SPDX-License-Identifier: MIT
 * Certificates in the words of HAProxy's `show ssl` commands.
 */
#ifndef COMMANDS_SSL_TEXT_H
#define COMMANDS_SSL_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "commands/report.h"
#include "tls/facts.h"

#define SSL_TIME_SIZE 40

/* Writes `Nov 23 20:54:12 2026 GMT`, as ASN1_TIME_print, for seconds since
 * 1970.  Returns out. */
const char *ssl_time_text(int64_t seconds, char out[SSL_TIME_SIZE]);

#define SSL_NAME_SIZE (TLS_SUBJECT_SIZE + 8)

/* Writes `/O=y/CN=x` for `CN=x,O=y`, which is RFC 2253's order.  Returns
 * out. */
const char *ssl_name_text(const char *name, char out[SSL_NAME_SIZE]);

/* Writes the text in capital letters.  Returns out. */
const char *ssl_upper_text(const char *text, char *out, size_t size);

/* Writes what is common to all certificates, from the serial number to the
 * issuer, each line with a newline before it. */
void ssl_put_facts(struct report *report, const struct tls_cert_facts *facts);

#endif
