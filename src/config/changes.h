/* SPDX-License-Identifier: MIT
 * The changes that a reload makes, a sentence each.
 */
#ifndef CONFIG_CHANGES_H
#define CONFIG_CHANGES_H

#include <stdbool.h>
#include <stddef.h>

struct change {
	char *text;   /* `frontend web: timeout_client: 5m -> 10s` */
	bool restart; /* takes effect with a restart only */
};

struct changes {
	struct change *all;
	size_t n;
};

/* Makes an empty list. */
void changes_init(struct changes *changes);
/* Frees the sentences. */
void changes_fini(struct changes *changes);

/* Appends a sentence.  When memory is short, the sentence alone is lost. */
void changes_add(struct changes *changes, bool restart, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
