/* SPDX-License-Identifier: MIT
 * What sessions of each kind do, at both ends: see enum kind.
 */
#ifndef TOOLS_UPGRADELOAD_KINDS_H
#define TOOLS_UPGRADELOAD_KINDS_H

#include "tools/upgradeload/conn.h"

/* Returns whether a session of this kind gets an answer before all end. */
bool kind_is_awaited(enum kind kind);

/* The server has received a record of the client. */
void kind_serve(struct conn *c, bool last);

/* The client has received a record of the server. */
void kind_use_answer(struct conn *c);

/* The timer of a session has run out. */
void kind_on_timer(struct conn *c);

/* Lets a session end, which it does as its kind does. */
void kind_end(struct conn *c);

#endif
