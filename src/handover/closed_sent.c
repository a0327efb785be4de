/* SPDX-License-Identifier: MIT
 * See closed_sent.h.
 */
#include "handover/closed_sent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/handover.h"
#include "proxy/closed_image.h"

void
closed_sent_begin(struct closed_sent *sent, const struct closed_rings *rings)
{
	if (!sent->walk && sent->size == 0)
		sent->walk = closed_walk_new(rings);
}

/* Adds the image of the session.  Returns false when memory is short. */
static bool
add_image(struct closed_sent *s, const struct closed_session *c)
{
	size_t room = s->room > 0 ? 2 * s->room : 1u << 16, n;

	if (s->room - s->size < CLOSED_IMAGE_MAX + sizeof(n)) {
		uint8_t *grown = realloc(s->images, room);

		if (!grown)
			return false;
		s->images = grown;
		s->room = room;
	}
	n = closed_image_encode(c, s->images + s->size);
	memcpy(s->images + s->size + n, &n, sizeof(n));
	s->size += n + sizeof(n);
	return true;
}

/* Collects the next records of the round.  Without memory for all, the older
 * ones are left out. */
static void
collect_some(struct closed_sent *s)
{
	for (int i = 0; i < CLOSED_SENT_STEP; i++) {
		const struct closed_session *c = closed_walk_next(s->walk);

		if (c && s->latest_ns < c->ended_ns)
			s->latest_ns = c->ended_ns;
		if (!c || c->ended_ns <= s->sent_ns || !add_image(s, c)) {
			closed_walk_free(s->walk);
			s->walk = NULL;
			s->sent_ns = s->latest_ns;
			return;
		}
	}
}

/* Sends the next images.  Returns false if the channel is full.  An error of
 * the channel ends the round: the successor has gone. */
static bool
send_some_images(struct closed_sent *s, int channel)
{
	size_t n;
	int rc = 0;

	for (int i = 0; i < CLOSED_SENT_STEP && s->size > 0; i++) {
		memcpy(&n, s->images + s->size - sizeof(n), sizeof(n));
		rc = handover_send_data(channel, HANDOVER_CLOSED,
		    s->images + s->size - sizeof(n) - n, n);
		if (rc == -EAGAIN)
			return false;
		s->size -= n + sizeof(n);
		if (rc < 0)
			s->size = 0;
	}
	return true;
}

int
closed_sent_step(struct closed_sent *sent, int channel, bool *ret_full)
{
	*ret_full = false;
	if (sent->walk)
		collect_some(sent);
	else
		*ret_full = !send_some_images(sent, channel);
	if (sent->walk || sent->size > 0)
		return -EAGAIN;
	free(sent->images);
	sent->images = NULL;
	sent->room = 0;
	return 0;
}

void
closed_sent_fini(struct closed_sent *sent)
{
	closed_walk_free(sent->walk);
	free(sent->images);
	*sent = (struct closed_sent){.walk = NULL};
}
