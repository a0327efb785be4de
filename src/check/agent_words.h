/* SPDX-License-Identifier: MIT
 * The answer of an agent: a line of HAProxy's words, separated by blanks or
 * commas.
 *
 *   75%  weight:N          the server's weight, of the configured one or as is
 *   maxconn:N              how many sessions it may have at a time; 0: no limit
 *   ready  drain  maint    its administrative state
 *   up  down  stopped  fail   its health, with the check's
 *   # and then anything    why
 */
#ifndef CHECK_AGENT_WORDS_H
#define CHECK_AGENT_WORDS_H

#include <stdbool.h>

#include "model/server.h"

#define AGENT_LINE_SIZE 256

/* The last of several words of one kind applies. */
struct agent_orders {
	bool has_weight, has_maxconn, has_admin, has_health;
	bool understood; /* one of them at least */
	unsigned weight, maxconn;
	enum server_admin admin;
	bool up; /* without has_health: true */
	char why[AGENT_LINE_SIZE];
};

/* Parses the line and modifies it, for a server of that configured weight.
 * Unknown words are skipped and given to unknown. */
void agent_words_read(char *line, unsigned weight,
    struct agent_orders *ret_orders,
    void (*unknown)(void *arg, const char *word), void *arg);

#endif
