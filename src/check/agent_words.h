/* SPDX-License-Identifier: MIT
 * The answer of an agent: a line of HAProxy's words, separated by blanks or
 * commas.
 *
 *   75%  weight:N          its weight: a share of the configured one, or N
 *   maxconn:N              how many sessions it may have at a time; 0: no limit
 *   ready  drain  maint    its administrative state
 *   up  down  stopped  fail   its health, which counts beside the check's
 *   # and then any text    why
 */
#ifndef CHECK_AGENT_WORDS_H
#define CHECK_AGENT_WORDS_H

#include <stdbool.h>

#include "model/server.h"

#define AGENT_LINE_SIZE 256

/* The orders of an answer.  If a kind of word comes more than once, the last
 * one applies. */
struct agent_orders {
	bool has_weight, has_maxconn, has_admin, has_health;
	bool understood; /* at least one word is known */
	unsigned weight, maxconn;
	enum server_admin admin;
	bool up; /* without has_health: true */
	char why[AGENT_LINE_SIZE];
};

/* Parses the line, which it modifies, for a server of that configured weight.
 * Skips unknown words, and calls unknown with each. */
void agent_words_read(char *line, unsigned weight,
    struct agent_orders *ret_orders,
    void (*unknown)(void *arg, const char *word), void *arg);

#endif
