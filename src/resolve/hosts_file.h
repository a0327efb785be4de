/* SPDX-License-Identifier: MIT
 * The hosts file, hosts(5): names that are known without a name server.
 *
 * The file is read again when it has changed, at the next question.  Control
 * thread only; reading a local file is the only thing that may block.
 */
#ifndef RESOLVE_HOSTS_FILE_H
#define RESOLVE_HOSTS_FILE_H

#include <stdbool.h>

#include "resolve/dns_answer.h"

struct hosts_file;

/* Copies the path.  A file that is missing has no names.  Returns NULL when
 * memory is short. */
struct hosts_file *hosts_file_new(const char *path);

/* Accepts NULL. */
void hosts_file_free(struct hosts_file *hosts);

/* Adds the addresses of the name, of the family (AF_UNSPEC: of both), in the
 * order of the file.  `localhost` and the names below it are always known (RFC
 * 6761).  Returns whether the answer has an address.  Names are compared
 * without regard to case and to a last dot. */
bool hosts_file_find(struct hosts_file *hosts, const char *name, int family,
    struct dns_answer *answer);

#endif
