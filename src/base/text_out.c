/* SPDX-License-Identifier: MIT
 * See text_out.h.
 */
#include "base/text_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/fault.h"

#define ROOM_FIRST 1024

static uint64_t failures;
/* Buffer of the stream of a secret text. */
static char secret_buffer[4096];

/* Makes room for that many more bytes and the NUL.  Returns false when memory
 * is short. */
static bool
text_out_grow(struct text_out *out, size_t more)
{
	size_t room = out->room ? out->room : ROOM_FIRST;
	char *grown;

	if (more < out->room - out->size)
		return true;
	while (room - out->size <= more)
		room *= 2;
	if (fault_fails(FAULT_ANSWER))
		return false;
	grown = malloc(room);
	if (!grown)
		return false;
	if (out->size > 0)
		memcpy(grown, out->text, out->size);
	if (out->is_secret)
		explicit_bzero(out->text, out->size);
	free(out->text);
	out->text = grown;
	out->room = room;
	return true;
}

/* Appends to the text.  Returns 0, which makes the stream fail
 * (fopencookie(3)), when memory is short. */
static ssize_t
text_out_write(void *cookie, const char *bytes, size_t n)
{
	struct text_out *out = cookie;

	if (out->failed || !text_out_grow(out, n)) {
		out->failed = true;
		errno = ENOMEM;
		return 0;
	}
	memcpy(out->text + out->size, bytes, n);
	out->size += n;
	return (ssize_t)n;
}

/* Returns the position of the stream for ftell(3), which is used to cut answers
 * into parts.  Other seeks fail. */
static int
text_out_seek(void *cookie, off64_t *offset, int whence)
{
	const struct text_out *out = cookie;

	if (whence == SEEK_SET || *offset != 0) {
		errno = EINVAL;
		return -1;
	}
	*offset = (off64_t)out->size;
	return 0;
}

bool
text_out_open(struct text_out *out)
{
	*out = (struct text_out){.stream = NULL};
	if (text_out_grow(out, 0))
		out->stream = fopencookie(out, "w",
		    (cookie_io_functions_t){
		        .write = text_out_write, .seek = text_out_seek});
	if (out->stream)
		return true;
	free(out->text);
	out->text = NULL;
	failures++;
	return false;
}

bool
text_out_open_secret(struct text_out *out)
{
	if (!text_out_open(out))
		return false;
	out->is_secret = true;
	setvbuf(out->stream, secret_buffer, _IOFBF, sizeof(secret_buffer));
	return true;
}

void
text_wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

bool
text_out_close(struct text_out *out)
{
	if (fclose(out->stream) != 0)
		out->failed = true;
	out->stream = NULL;
	if (out->is_secret)
		explicit_bzero(secret_buffer, sizeof(secret_buffer));
	if (!out->failed) {
		out->text[out->size] = '\0';
		return true;
	}
	if (out->is_secret)
		explicit_bzero(out->text, out->size);
	free(out->text);
	out->text = NULL;
	out->size = 0;
	failures++;
	return false;
}

uint64_t
text_out_failures(void)
{
	return failures;
}
