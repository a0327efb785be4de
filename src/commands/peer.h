/* SPDX-License-Identifier: MIT
 * The peer of an admin connection, for rights and for the audit.
 */
#ifndef COMMANDS_PEER_H
#define COMMANDS_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "net/addr.h"

struct peer {
	bool known; /* on a unix socket: pid, uid and gid are the kernel's */
	pid_t pid;
	uid_t uid;
	gid_t gid;
	char address[ADDR_TEXT_SIZE]; /* of a TCP peer */
};

/* Reads the peer of a connected socket. */
void peer_learn(int fd, struct peer *ret_peer);

#define PEER_TEXT_SIZE 192

/* Writes `root (uid 0, pid 4711)`, `uid 70000, pid 4711`, or
 * `127.0.0.1:40000`.  Returns out.  Looks up the name in /etc/passwd alone,
 * since a directory service might block the control thread. */
const char *peer_text(const struct peer *peer, char out[PEER_TEXT_SIZE]);

#endif
