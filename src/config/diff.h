/* SPDX-License-Identifier: MIT
 * What a reload changes, in sentences, and what it cannot.
 *
 * Sections are compared by name, and in them key by key, as they are printed:
 * the table of keys says all there is to know, so a new key is in here without
 * a line of code.
 */
#ifndef CONFIG_DIFF_H
#define CONFIG_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "config/keys.h"
#include "model/spec.h"

struct change {
	char *text;   /* `frontend web: timeout_client: 5m -> 10s` */
	bool restart; /* it takes a restart: nothing has changed so far */
};

struct changes {
	struct change *all;
	size_t n;
};

void changes_init(struct changes *changes);
void changes_fini(struct changes *changes);

/* When memory is short the sentence is lost, and only that. */
void changes_add(struct changes *changes, bool restart, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds what differs, from old to new.  Values that take a restart are put into
 * the new spec as they are in the old one, so that it says what is in force,
 * and the next comparison names them again.  The settings of pools are left
 * out: they may have been changed since by hand.  False when memory is short.
 */
bool config_diff(
    const struct spec *old, struct spec *new, struct changes *changes);

/* Whether a reload can keep the value of a key that takes a restart: its type
 * must be known.  ret_size: of its field, 0 for a string. */
bool config_diff_keeps(const struct key *key, size_t *ret_size);

#endif
