/* SPDX-License-Identifier: MIT
 * A member as the value of a key describes it:
 *
 *   10.0.0.1:80 weight=5 backup
 *   {"address": "10.0.0.1", "port": 80, "weight": 5, "backup": true}
 *
 * that is, what may stand behind `server = NAME`, or a JSON object.  Its
 * members are
 *
 *   address, or Addr    the address, with its port or without
 *   port                the port: a number, or a string
 *   note, or Metadata   for people
 *   any other           an option: a number or a string is its value, true and
 *                       false are `on` and `off`, null is as if it was missing
 *
 * A value that is neither is handed on as an address, whole: the check of the
 * address shows the operator what the key has.
 */
#ifndef RESOLVE_MEMBER_TEXT_H
#define RESOLVE_MEMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "resolve/discovery.h"

/* Bytes of a value beyond these are not read. */
#define MEMBER_TEXT_MAX 2048

struct member_text {
	struct discovered member; /* but its key, which is "" */
	char address[MEMBER_TEXT_MAX + 1];
	char options[MEMBER_TEXT_MAX + 1];
	char note[MEMBER_TEXT_MAX + 1];
};

/* Reads a value of any bytes.  Texts have no characters that are not
 * printable. */
void member_text_read(
    const char *value, size_t n, struct member_text *ret_member);

#endif
