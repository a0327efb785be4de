/* SPDX-License-Identifier: MIT
 * Options of a listening socket that are changed while it listens.
 *
 * Connections that it accepts from then on have them; what waits in its backlog
 * has those that the listener had when it came.
 */
#ifndef NET_SOCK_CHANGE_H
#define NET_SOCK_CHANGE_H

#include <stdbool.h>

#include "net/sock_options.h"

/* Sets what differs; what `to` says nothing of becomes what the kernel does
 * without being asked.  listens: it does at present, so that another backlog
 * takes effect.  What is settled by bind(2) is left as it is: v6only,
 * reuseport, transparent.  False with the first refusal, and everything is as
 * it was. */
bool sock_change(int fd, bool listens, const struct sock_options *from,
    const struct sock_options *to, struct sock_refusal *ret_refusal);

/* Undoes a change, from and to as they then are.  Goes on when something is
 * refused, as a process without root's rights is that wants to take an
 * interface away; false with the first of these, which stay as they are. */
bool sock_change_back(int fd, bool listens, const struct sock_options *from,
    const struct sock_options *to, struct sock_refusal *ret_refusal);

#endif
