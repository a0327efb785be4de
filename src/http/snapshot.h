/* SPDX-License-Identifier: MIT
 * The snapshot: all that the status page shows, as one JSON object, made in
 * parts.  Its members are answers of commands; `stat` has only the columns that
 * the page shows.
 *
 * Control thread.
 */
#ifndef HTTP_SNAPSHOT_H
#define HTTP_SNAPSHOT_H

#include "http/history.h"
#include "stats/answer.h"

/* Returns a snapshot as an answer in parts, or NULL if memory is short.  The
 * answer has failed if memory is too short for a member.  Borrows the history.
 */
struct answer_rest *snapshot_new(const struct history *history);

#endif
