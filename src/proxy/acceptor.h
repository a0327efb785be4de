/* SPDX-License-Identifier: MIT
 * An acceptor: the event handler of one listening socket.
 */
#ifndef PROXY_ACCEPTOR_H
#define PROXY_ACCEPTOR_H

#include "model/model.h"
#include "proxy/proxy.h"

struct acceptor;

/* Control thread.  Takes fd over, also on failure; nothing is accepted before
 * acceptor_open.  0 or -errno. */
int acceptor_new(struct proxy *proxy, struct frontend *frontend, int fd,
    struct acceptor **ret_acceptor);

/* Control thread, once: the shard's threads accept from now on.
 * 0 or -errno. */
int acceptor_open(struct acceptor *acceptor, struct shard *shard);

/* Control thread: the listening socket will be closed; returns at once. */
void acceptor_stop(struct acceptor *acceptor);

/* Any thread: those that had to pause, because descriptors, memory or sessions
 * had run out, go on accepting.  Cheap when there are none. */
void acceptors_resume(struct proxy *proxy);

/* Any thread: it was stopped and the socket is closed. */
bool acceptor_closed(const struct acceptor *acceptor);

/* After the pools have ended; NULL is fine. */
void acceptor_free(struct acceptor *acceptor);

#endif
