/* SPDX-License-Identifier: MIT
 * Arguments held against a command's usage, as in `<server> [for <duration>]`.
 *
 * HAProxy ignores arguments that a command does not know, and so do these
 * commands for HAProxy's clients.  For lfproxyctl they are errors, so that
 * `show stat jsno` is noticed.
 */
#ifndef COMMANDS_USAGE_H
#define COMMANDS_USAGE_H

/* Returns the first argument that does not fit the usage, or NULL.  args ends
 * with NULL.  A usage consists of words, each any text (`<name>`) or one of
 * several (`a|b`), and of groups in brackets, which are optional, and may be
 * repeated where a `*` follows.  Missing arguments are not detected. */
const char *usage_unexpected(const char *usage, char *const *args);

#endif
