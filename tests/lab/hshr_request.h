/* SPDX-License-Identifier: MIT
 * Requests: bytes that the I/O thread of Half-Sync/Half-Reactive (hshr.c) has
 * read for a worker.
 *
 * A request holds what one recv of the I/O thread has returned.  The turn that
 * the worker runs gets it from its own recv, which the linker replaces.  Turns
 * are those of lfproxy and know nothing of this.
 *
 * The I/O thread reads for a relaying session whose turn is certain to read
 * that side.  It leaves to the turn: bytes of a client whose server is not
 * connected yet, a side whose other side does not take what it was sent, and
 * what comes while a worker runs the session.
 */
#ifndef LAB_HSHR_REQUEST_H
#define LAB_HSHR_REQUEST_H

#include "lf/event_handler.h"
#include "lf/handle.h"

struct request;

/* Called by the I/O thread before it posts an event: a worker that owns the
 * handler has to look again behind the bytes of its request. */
void request_expect(const struct event_handler *handler);

/* Returns what was read, or NULL if the turn is to read.  Takes back
 * request_expect.  Called by the I/O thread, which owns the handler. */
struct request *request_read(
    struct event_handler *handler, enum handle_side which, uint32_t ready);

void request_free(struct request *request);

/* The calling worker's turn that follows gets the request, which may be NULL.
 * Takes ownership of it. */
void request_begin(struct request *request);

/* Frees the request. */
void request_end(void);

#endif
