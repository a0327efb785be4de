/* SPDX-License-Identifier: MIT
 * State files, with what an lfproxy does with one when it starts.  The input is
 * a file as it stands, and then lines of a file whose first lines and hash are
 * right: such a file is used, and what is written then can be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

#include "commands/carry_over.h"
#include "commands/state_file.h"
#include "fuzz/fuzz.h"
#include "fuzz/world.h"

#define FILES "lfproxy.ini"
#define HEAD  "lfproxy-state 1\nconfiguration " FILES "\n"

/* Has the file read, and used as at a start.  Returns whether it is used. */
static bool
use_file(struct world *w)
{
	char *lines = state_file_read(&w->env, FILES);

	if (!lines)
		return false;
	carry_over_run(&w->env, lines, false);
	carry_over_run(&w->env, lines, true);
	free(lines);
	return true;
}

static void
put_bytes(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "w");

	ENSURE(file);
	ENSURE(fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static char *
whole_file(const uint8_t *data, size_t size, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	ENSURE(out);
	fwrite(HEAD, 1, sizeof(HEAD) - 1, out);
	fwrite(data, 1, size, out);
	ENSURE(fflush(out) == 0);
	fprintf(out, "end %016" PRIx64 "\n", XXH64(text, *ret_size, 0));
	ENSURE(fclose(out) == 0);
	return text;
}

static void
write_and_read(struct world *w)
{
	struct state_file state = {.written = 0};
	char *lines;

	state_file_start(&state, &w->env, FILES, false);
	state_file_end(&state);
	lines = state_file_read(&w->env, FILES);
	ENSURE(lines);
	free(lines);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char shut[] = "shutdown frontend";
	struct world *w = world_get();
	const char *path = w->control->instance.model->spec->global.state_file;
	size_t whole_size;
	char *whole;

	put_bytes(path, data, size);
	(void)use_file(w);
	whole = whole_file(data, size, &whole_size);
	put_bytes(path, whole, whole_size);
	free(whole);
	ENSURE(use_file(w) || memchr(data, '\0', size));
	write_and_read(w);
	world_turn(w);
	unlink(path);
	world_heal(w, memmem(data, size, shut, sizeof(shut) - 1) != NULL);
	return 0;
}
