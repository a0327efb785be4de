/* SPDX-License-Identifier: MIT
 * See peer.h.
 */
#include "commands/peer.h"

#include <pwd.h>
#include <stdio.h>
#include <sys/socket.h>

#include "net/sock.h"

void
peer_learn(int fd, struct peer *ret_peer)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	struct addr addr;

	*ret_peer = (struct peer){.known = false};
	if (!sock_peer_addr(fd, &addr))
		return;
	if (addr.sa.sa_family != AF_UNIX) {
		addr_text(&addr, ret_peer->address);
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return;
	ret_peer->known = true;
	ret_peer->pid = cred.pid;
	ret_peer->uid = cred.uid;
	ret_peer->gid = cred.gid;
}

static bool
find_user_name(uid_t uid, char *ret_name, size_t size)
{
	FILE *file = fopen("/etc/passwd", "re");
	char buffer[4096];
	struct passwd entry, *found;
	bool ok = false;

	if (!file)
		return false;
	while (!ok &&
	       fgetpwent_r(file, &entry, buffer, sizeof(buffer), &found) == 0) {
		ok = entry.pw_uid == uid;
		if (ok)
			snprintf(ret_name, size, "%s", entry.pw_name);
	}
	fclose(file);
	return ok;
}

const char *
peer_text(const struct peer *peer, char out[PEER_TEXT_SIZE])
{
	char name[64];

	if (!peer->known)
		snprintf(out, PEER_TEXT_SIZE, "%s",
		    peer->address[0] ? peer->address : "unknown");
	else if (find_user_name(peer->uid, name, sizeof(name)))
		snprintf(out, PEER_TEXT_SIZE, "%s (uid %u, pid %d)", name,
		    (unsigned)peer->uid, (int)peer->pid);
	else
		snprintf(out, PEER_TEXT_SIZE, "uid %u, pid %d",
		    (unsigned)peer->uid, (int)peer->pid);
	return out;
}
