/* SPDX-License-Identifier: MIT
 * Shared by the files that set and that read the options of sockets.
 */
#ifndef NET_SOCK_OPTIONS_INTERNAL_H
#define NET_SOCK_OPTIONS_INTERNAL_H

#include <sys/socket.h>

/* The socket option that tells and sets which buffer sizes were set, so that
 * the kernel does not adapt them. */
#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72 /* Linux 5.16 */
#endif
#define LOCK_SEND    1
#define LOCK_RECEIVE 2

#endif
