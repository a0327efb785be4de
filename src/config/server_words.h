/* SPDX-License-Identifier: MIT
 * A server in HAProxy's words (`10.0.0.1:80 check inter 2s weight 5`), in those
 * of the file (`10.0.0.1:80 check=on check_interval=2s weight=5`), or in both,
 * as the value of a `server` key.
 *
 * Only words are exchanged here.  What they mean, and whether they are right,
 * is for the parser of the file, which also sees those that are unknown.
 */
#ifndef CONFIG_SERVER_WORDS_H
#define CONFIG_SERVER_WORDS_H

#include <stdbool.h>

#include "base/err.h"
#include "config/draft.h"
#include "model/spec.h"

struct server_words {
	char value[DRAFT_VALUE_MAX + 1]; /* NAME ADDR OPTION=VALUE ... */
	bool enabled;                    /* `enabled`: to be used at once */
};

/* The words are the address and what follows, NULL at the end; as HAProxy has
 * it, the server has no checks and no agent unless they say so.  No name is
 * looked up: an address is an IP address or a unix socket.  False with a
 * sentence in err about a word that HAProxy knows and that is not possible
 * here, or not in this backend. */
bool server_words_read(const struct backend_spec *backend, const char *name,
    char *const *words, struct server_words *ret_words,
    struct err *err) MUST_CHECK;

#endif
