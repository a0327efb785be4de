/* SPDX-License-Identifier: MIT
 * A member, as the value of a key describes it:
 *
 *   10.0.0.1:80 weight=5 backup
 *   {"address": "10.0.0.1", "port": 80, "weight": 5, "backup": true}
 *
 * A value is either the text that may stand behind `server = NAME`, or a JSON
 * object.  The members of the object are
 *
 *   address, or Addr    the address, with its port or without
 *   port                the port: a number, or a string
 *   note, or Metadata   for people
 *   any other           an option: a number or a string is its value, true and
 *                       false are `on` and `off`, null is as if it was missing
 *
 * Any other value is passed on as an address as a whole: the error about the
 * address then shows the operator the value of the key.
 */
#ifndef RESOLVE_MEMBER_TEXT_H
#define RESOLVE_MEMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "resolve/discovery.h"

/* The most bytes of a value that are read. */
#define MEMBER_TEXT_MAX 2048

struct member_text {
	struct discovered member; /* without its key, which is "" */
	char address[MEMBER_TEXT_MAX + 1];
	char options[MEMBER_TEXT_MAX + 1];
	char note[MEMBER_TEXT_MAX + 1];
};

/* Reads a value of any bytes.  Texts have no characters that are not
 * printable. */
void member_text_read(
    const char *value, size_t n, struct member_text *ret_member);

#endif
