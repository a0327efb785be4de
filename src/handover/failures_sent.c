/* SPDX-License-Identifier: MIT
 * See failures_sent.h.
 */
#include "handover/failures_sent.h"

#include <errno.h>
#include <stdlib.h>

#include "net/handover.h"
#include "proxy/failures_image.h"

void
failures_sent_begin(struct failures_sent *sent)
{
	if (!sent->begun)
		sent->at = 0;
	sent->begun = true;
}

/* Makes the image of the next cell.  Returns false at the end of the round, or
 * when memory is short. */
static bool
next_image(struct failures_sent *s, struct failures *failures)
{
	static struct failure_kind kind;

	if (!s->image)
		s->image = malloc(FAILURES_IMAGE_MAX);
	if (!s->image || !failures_take(failures, &s->at, &kind))
		return false;
	s->size = failures_image_encode(&kind, s->image);
	return true;
}

int
failures_sent_step(struct failures_sent *sent, struct failures *failures,
    int channel, bool *ret_full)
{
	struct failures_sent *s = sent;
	int rc;

	*ret_full = false;
	for (int i = 0; s->begun && i < FAILURES_SENT_STEP; i++) {
		if (s->size == 0 && !next_image(s, failures)) {
			s->begun = false;
			break;
		}
		rc = handover_send_data(
		    channel, HANDOVER_FAILURES, s->image, s->size);
		*ret_full = rc == -EAGAIN;
		if (*ret_full)
			break;
		s->size = 0;
	}
	return s->begun ? -EAGAIN : 0;
}

void
failures_sent_fini(struct failures_sent *sent)
{
	free(sent->image);
	*sent = (struct failures_sent){.begun = false};
}
