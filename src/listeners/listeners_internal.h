/* SPDX-License-Identifier: MIT
 * State that the parts of the listeners share: the listeners in operation
 * (listeners.c), their preparation for a configuration (listeners_prepare.c),
 * and their log lines (listeners_log.c).
 */
#ifndef LISTENERS_LISTENERS_INTERNAL_H
#define LISTENERS_LISTENERS_INTERNAL_H

#include "base/list.h"
#include "base/name_table.h"
#include "listeners/listener.h"
#include "listeners/listeners.h"

struct listeners {
	struct proxy *proxy;
	struct grace *grace;
	struct list all;
	struct list spare; /* closed listeners, whose acceptors can be reused */
	/* During a preparation: the open listeners by address; the first of
	 * those with the same one, which are linked by twin. */
	struct text_table by_addr;
	bool stopped;
};

#define for_each_listener(l, listeners)                                        \
	list_for_each (l##_node, &(listeners)->all)                            \
		for (struct listener *l = listener_of(l##_node); l; l = NULL)

static inline struct listener *
listener_of(struct list *node)
{
	return container_of(node, struct listener, node);
}

/* -- listeners_log.c -- */

/* A log line about one listener, or about all listeners of a range of ports. */
struct listeners_line {
	const char *what;
	const struct listener *first; /* NULL: no line so far */
	struct addr addr;             /* of the first listener */
	unsigned last;                /* port of the last listener */
};

/* Adds the listener to the line.  Ends the line and begins another one if the
 * listener does not belong to it.  what: what happens to the listener; the
 * listeners of a line have the same pointer. */
void listeners_line_add(
    struct listeners_line *line, const struct listener *l, const char *what);

/* Logs the line, unless nothing was added to it. */
void listeners_line_end(struct listeners_line *line);

/* Logs all listeners that were not logged before. */
void listeners_announce(struct listeners *ls);

/* -- listeners_prepare.c -- */

/* Removes a closed listener from the list, and keeps its acceptor for a later
 * listener. */
void listeners_spare(struct listeners *ls, struct listener *l);

/* Removes the listener from its list and frees it, but not its acceptor. */
void listeners_drop(struct listener *l);

#endif
