/* SPDX-License-Identifier: MIT
 * See handed.h.
 */
#include "handover/handed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/log.h"
#include "net/file_owner.h"
#include "net/sock.h"
#include "net/sock_options.h"

struct handed_socket {
	struct addr asked;
	int fd;
	ino_t ino;    /* inode of the socket */
	bool is_open; /* see handed_note_open */
	bool is_unix;
	union {
		struct sock_options options;
		struct file_rights file;
	} had;
};

/* Returns the inode of the socket, or 0 if the descriptor is not a socket's. */
static ino_t
socket_ino(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? st.st_ino : 0;
}

void
handed_add(struct handed *handed, const struct addr *asked, int fd)
{
	struct handed_socket *s =
	    grow(handed->sockets, handed->n, &handed->room, sizeof(*s));
	struct addr bound;

	if (!s || !sock_local_addr(fd, &bound)) {
		handed->sockets = s ? s : handed->sockets;
		handed->short_of_memory = true;
		return;
	}
	handed->sockets = s;
	s += handed->n++;
	*s = (struct handed_socket){.asked = *asked,
	    .fd = fd,
	    .ino = socket_ino(fd),
	    .is_unix = bound.sa.sa_family == AF_UNIX};
	if (s->is_unix)
		file_rights_read(bound.un.sun_path, &s->had.file);
	else
		sock_options_read(fd, &s->had.options);
}

void
handed_put(const struct handed *handed, struct handover *message)
{
	struct handover *m = message;

	while (m->n < HANDOVER_SOCKETS_MAX && handed->sent + m->n < handed->n) {
		const struct handed_socket *s =
		    &handed->sockets[handed->sent + m->n];

		m->asked[m->n] = s->asked;
		m->fds[m->n++] = s->fd;
	}
}

static void
restore_options(const struct handed_socket *s)
{
	struct sock_refusal refusal;
	struct sock_options has;
	struct addr bound = s->asked;
	char text[ADDR_TEXT_SIZE];

	sock_options_read(s->fd, &has);
	if (sock_options_put_back(s->fd, true, &has, &s->had.options, &refusal))
		return;
	(void)sock_local_addr(s->fd, &bound);
	log_error("the option %s of %s, changed by an upgrade that has failed, "
	          "cannot be put back: %s%s",
	    refusal.option, addr_text(&bound, text), strerror(refusal.error),
	    sock_refusal_hint(&refusal));
}

static void
restore_file(const struct handed_socket *s)
{
	int rc = file_rights_restore(&s->had.file);

	if (rc < 0)
		log_error("the mode and the owner of %s, changed by an upgrade "
		          "that has failed, cannot be put back: %s",
		    s->had.file.path, strerror(-rc));
}

/* Begins behind the socket that was noted last: the sockets are mostly noted in
 * the order in which they were added. */
void
handed_note_open(struct handed *handed, int fd)
{
	for (size_t i = 0; i < handed->n; i++) {
		size_t at = (handed->noted + i) % handed->n;
		struct handed_socket *s = &handed->sockets[at];

		if (s->fd != fd)
			continue;
		s->is_open = socket_ino(fd) == s->ino;
		handed->noted = at + 1;
		return;
	}
}

void
handed_restore(const struct handed *handed)
{
	for (size_t i = 0; i < handed->n; i++) {
		const struct handed_socket *s = &handed->sockets[i];

		if (!s->is_open)
			continue;
		if (s->is_unix)
			restore_file(s);
		else
			restore_options(s);
	}
}

void
handed_free(struct handed *handed)
{
	free(handed->sockets);
	*handed = (struct handed){.sockets = NULL};
}
