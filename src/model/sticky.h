/* SPDX-License-Identifier: MIT
 * Sticky choices: with `sticky = stay`, a source stays at the server that it
 * has chosen last, as long as that server is up and not in maintenance, also
 * once other servers would be chosen again, and while it drains.
 *
 * The backend has a table of choices by source (source_table.h), a limit that
 * refuses nothing.  A choice is written when the source has none, when its
 * server is not usable any more, and when a session was retried elsewhere.  A
 * server at its maxconn is passed over without a new choice, but a session
 * waits for a reserve of the lineup: where one backup at a time serves, no
 * second one may.
 */
#ifndef MODEL_STICKY_H
#define MODEL_STICKY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/source_table.h"

struct backend;
struct choice;
struct limit;
struct lineup;
struct server;
struct source_facts;

/* Returns the place in the lineup of the server that the source has chosen
 * last, reserves included; PLACE_NONE if there is none, or the session has
 * tried it.  touch: whether the entry counts as used.  Any thread, in a grace
 * section. */
uint32_t sticky_place(
    const struct lineup *lineup, const struct choice *choice, bool touch);

/* Notes that the source has chosen the server at this place.  Data threads, in
 * a grace section. */
void sticky_note(
    const struct lineup *lineup, const struct choice *choice, uint32_t place);

/* Returns whether entries of the limit's table are choices that expire. */
bool sticky_expires(const struct limit *limit);

/* Returns whether the entry of the limit's table is a choice that has expired.
 * Any thread. */
bool sticky_is_expired(
    const struct limit *limit, const struct source_facts *facts);

/* Returns the server of a choice in the table of the limit, or NULL if its
 * backend has no such server.  Runs on the control thread. */
const struct server *sticky_server(
    const struct limit *limit, const struct source_choice *choice);

#endif
