/* SPDX-License-Identifier: MIT
 * A stream into memory that says when memory ran out.
 *
 * The stream of open_memstream(3) does not say so: in glibc a write that finds
 * no memory is lost, and fclose(3) succeeds, so that a text with a hole passes
 * for a whole one.  All functions run on the control thread.
 */
#ifndef BASE_TEXT_OUT_H
#define BASE_TEXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct text_out {
	FILE *stream; /* for writing and ftell(3), between open and close */
	char *text;   /* after a close that succeeded: NUL-terminated */
	size_t size;  /* bytes of it, without the NUL */
	size_t room;
	bool failed;
	bool is_secret;
};

/* Begins a text.  Returns false when memory is short; then there is nothing to
 * close. */
bool text_out_open(struct text_out *out) MUST_CHECK;

/* Does the same for a text that may have private keys: no copy of a part of it
 * is left behind.  There is one such text at a time.  The caller frees it by
 * text_wipe. */
bool text_out_open_secret(struct text_out *out) MUST_CHECK;

/* Wipes the text and frees it.  NULL is allowed. */
void text_wipe(char *text);

/* Ends the text.  Returns true if the text is whole; the caller frees it with
 * free(3).  Returns false if a write found no memory; the text was freed then,
 * and out->text is NULL. */
bool text_out_close(struct text_out *out);

/* Returns how many texts found no memory since the start. */
uint64_t text_out_failures(void);

#endif
