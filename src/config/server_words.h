/* SPDX-License-Identifier: MIT
 * A server in HAProxy's words (`10.0.0.1:80 check inter 2s weight 5`), in those
 * of the file (`10.0.0.1:80 check=on check_interval=2s weight=5`), or in both,
 * as the value of a `server` key.
 *
 * Only words are translated here.  The parser of the file interprets and checks
 * them, and refuses unknown ones.
 */
#ifndef CONFIG_SERVER_WORDS_H
#define CONFIG_SERVER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/draft.h"
#include "model/spec.h"

struct server_words {
	char value[DRAFT_VALUE_MAX + 1]; /* NAME ADDR OPTION=VALUE ... */
	bool enabled;                    /* `enabled`: to be used at once */
	/* The backend's servers have checks, or an agent, and this one has
	 * none because the words do not say whether it has. */
	bool unchecked, unasked;
	struct ignored_word {
		const char *word;   /* borrowed */
		const char *reason; /* without a dot */
	} ignored[24]; /* without effect, each once; the table has fewer */
	size_t ignored_n;
};

/* Reads words: the address and what follows it, with NULL at the end.  As in
 * HAProxy, the server has no checks and no agent unless the words say so.  No
 * name is looked up: the address is an IP address or a unix socket.  Returns
 * false with err set for a word of HAProxy that is not possible in lfproxy, or
 * not in this backend. */
bool server_words_read(const struct backend_spec *backend, const char *name,
    char *const *words, struct server_words *ret_words,
    struct err *err) MUST_CHECK;

#endif
