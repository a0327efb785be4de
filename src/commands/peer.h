/* SPDX-License-Identifier: MIT
 * Who is at the other end of an admin connection, for rights and for the audit.
 */
#ifndef COMMANDS_PEER_H
#define COMMANDS_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "net/addr.h"

struct peer {
	bool known; /* a unix socket: the kernel vouches for pid, uid and gid */
	pid_t pid;
	uid_t uid;
	gid_t gid;
	char address[ADDR_TEXT_SIZE]; /* TCP: where it comes from */
};

/* From a connected socket. */
void peer_learn(int fd, struct peer *ret_peer);

/* `root (uid 0, pid 4711)`, `uid 70000, pid 4711`, `127.0.0.1:40000`; returns
 * out.  The name is looked up in /etc/passwd alone: a directory service may
 * take its time, and the control thread has none. */
#define PEER_TEXT_SIZE 192
const char *peer_text(const struct peer *peer, char out[PEER_TEXT_SIZE]);

#endif
