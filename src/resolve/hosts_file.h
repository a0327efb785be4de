/* SPDX-License-Identifier: MIT
 * The hosts file, hosts(5): names that are known without a name server.
 *
 * When the file has changed, the next look-up reads it again.  All functions
 * run on the control thread; they block only to read the local file.
 *
 * c-ares could read the file as well, but 1.18 does so in each look-up, 47 ms
 * for 100 000 lines, and does not know the names below localhost; 1.34 gives a
 * name also the addresses of other lines that share an alias with it.
 */
#ifndef RESOLVE_HOSTS_FILE_H
#define RESOLVE_HOSTS_FILE_H

#include <stdbool.h>

#include "resolve/dns_answer.h"

struct hosts_file;

/* Makes the table of the file.  Copies the path.  A file that is missing has no
 * names.  Returns NULL when memory is short. */
struct hosts_file *hosts_file_new(const char *path);

/* Frees the table.  Accepts NULL. */
void hosts_file_free(struct hosts_file *hosts);

/* Adds the addresses of the name and the family (AF_UNSPEC: both) to the
 * answer, in the order of the file.  `localhost` and the names below it are
 * always known (RFC 6761).  Case and a dot at the end make no difference.
 * Returns whether the answer has an address. */
bool hosts_file_find(struct hosts_file *hosts, const char *name, int family,
    struct dns_answer *answer);

#endif
