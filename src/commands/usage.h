/* SPDX-License-Identifier: MIT
 * Arguments held against a command's usage, as in `<server> [for <duration>]`.
 *
 * HAProxy ignores arguments that a command does not know, and so do these
 * commands for HAProxy's clients.  For lfproxyctl they are errors: whoever
 * writes `show stat jsno` wants to know.
 */
#ifndef COMMANDS_USAGE_H
#define COMMANDS_USAGE_H

/* Returns the first argument that the usage has no place for, or NULL.  args
 * ends with NULL.  A usage has words, each any text (`<name>`), or one of some
 * (`a|b`), and groups in brackets, which may be left out, and repeated where a
 * `*` follows.  Arguments that are missing are not looked for. */
const char *usage_unexpected(const char *usage, char *const *args);

#endif
