/* SPDX-License-Identifier: MIT
 * See state_file.h.
 */
#include "commands/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sandbox.h"
#include "base/text_out.h"
#include "commands/records.h"
#include "model/model.h"

#define FIRST_LINE    "lfproxy-state 1\n"
#define CONFIGURATION "configuration "
#define END           "end "
#define END_SIZE      (sizeof(END) - 1 + 16 + 1)

static const char *
path_of(const struct command_env *env)
{
	return env->instance->model->spec->global.state_file;
}

/* -- writing -- */

/* Time from a change of the configuration to the file; several changes in it
 * are written together. */
#define SOON_MS 200

static void
put_state_lines(const struct state_file *state, FILE *out)
{
	fprintf(out, FIRST_LINE CONFIGURATION "%s\n", state->files);
	records_write_file(state->env, out);
}

static bool
write_all(int fd, const char *text, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			text += n;
			size -= (size_t)n;
		}
	}
	return true;
}

/* Replaces the file.  Returns 0 or -errno. */
static int
replace_file(const char *path, const char *text, size_t size)
{
	char new_path[4096];
	int fd, rc = 0;

	if (snprintf(new_path, sizeof(new_path), "%s.new", path) >=
	    (int)sizeof(new_path))
		return -ENAMETOOLONG;
	(void)unlink(new_path);
	fd = open(new_path,
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (!write_all(fd, text, size))
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(new_path, path) < 0)
		rc = -errno;
	if (rc < 0)
		(void)unlink(new_path);
	return rc;
}

/* Notes whether the file has the present state, and logs what has changed in
 * that. */
static void
note_written(struct state_file *state, const char *path, int rc)
{
	static struct log_limit limit;
	char hint[SANDBOX_HINT_SIZE];

	if (rc < 0)
		log_limited(&limit, LOG_LEVEL_WARNING,
		    "state_file %s cannot be written: %s%s", path,
		    strerror(-rc),
		    sandbox_hint(-rc, path, "StateDirectory", hint));
	else if (state->failed)
		log_info("state_file %s is written again", path);
	state->failed = rc < 0;
}

static void
write_state(struct state_file *state)
{
	const char *path = path_of(state->env);
	struct text_out out;
	uint64_t hash;
	char *whole;
	int rc = 0;

	if (!path || !state->files || !text_out_open_secret(&out))
		return;
	put_state_lines(state, out.stream);
	(void)fflush(out.stream);
	if (!text_out_close(&out))
		return;
	hash = XXH64(out.text, out.size, 0);
	if (hash != state->written) {
		whole = malloc(out.size + END_SIZE + 1);
		rc = whole ? 0 : -ENOMEM;
		if (whole) {
			memcpy(whole, out.text, out.size);
			snprintf(whole + out.size, END_SIZE + 1,
			    END "%016" PRIx64 "\n", hash);
			rc = replace_file(path, whole, out.size + END_SIZE);
			text_wipe(whole);
		}
		if (rc == 0)
			state->written = hash;
	}
	note_written(state, path, rc);
	text_wipe(out.text);
}

static void
on_state_file(struct timed_task *task, uint64_t now_ms)
{
	struct state_file *state = container_of(task, struct state_file, task);

	state->soon = false;
	write_state(state);
	timed_task_schedule(task, now_ms + STATE_FILE_S * 1000);
}

/* Warns at the start of a file that cannot be made: at the end it would be too
 * late. */
static void
try_place(struct state_file *state)
{
	const char *path = path_of(state->env);
	char *copy = path && state->files ? strdup(path) : NULL;

	if (copy &&
	    faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS) < 0)
		note_written(state, path, -errno);
	free(copy);
}

void
state_file_start(struct state_file *state, const struct command_env *env,
    const char *files, bool waits)
{
	state->env = env;
	state->waits = waits;
	state->files = *files ? strdup(files) : NULL;
	try_place(state);
	timed_task_init(&state->task, &env->instance->timer, on_state_file);
	if (!waits)
		timed_task_schedule(
		    &state->task, clock_now_ms() + STATE_FILE_S * 1000);
}

void
state_file_continue(struct state_file *state)
{
	state->waits = false;
	if (state->env && !state->stopped)
		on_state_file(&state->task, clock_now_ms());
}

void
state_file_soon(struct state_file *state)
{
	if (!state->env || state->waits || state->stopped || state->soon)
		return;
	state->soon = true;
	timed_task_schedule(&state->task, clock_now_ms() + SOON_MS);
}

void
state_file_stop(struct state_file *state)
{
	if (!state->env)
		return;
	timed_task_cancel(&state->task);
	state->stopped = true;
}

void
state_file_end(struct state_file *state)
{
	if (!state->env)
		return;
	timed_task_cancel(&state->task);
	if (!state->stopped)
		write_state(state);
	free(state->files);
	state->env = NULL;
}

/* -- reading -- */

char *
state_file_check(char *text, size_t size, const char *files, struct err *err)
{
	const size_t first = sizeof(FIRST_LINE) - 1;
	const size_t word = sizeof(CONFIGURATION) - 1;
	char *at = text + first + word, *line_end;
	char end[END_SIZE + 1];

	if (size < first + word + END_SIZE ||
	    memcmp(text, FIRST_LINE, first) != 0 || memchr(text, '\0', size)) {
		err_set(err, "it is not of this version, or is cut off");
		return NULL;
	}
	snprintf(end, sizeof(end), END "%016" PRIx64 "\n",
	    XXH64(text, size - END_SIZE, 0));
	if (memcmp(text + size - END_SIZE, end, END_SIZE) != 0) {
		err_set(err, "it is cut off, or was changed: the hash in its "
		             "last line is another one");
		return NULL;
	}
	text[size - END_SIZE] = '\0';
	line_end = strchr(at, '\n');
	if (memcmp(at - word, CONFIGURATION, word) != 0 || !line_end) {
		err_set(err, "it does not say which configuration it is of");
		return NULL;
	}
	*line_end = '\0';
	if (strcmp(at, files) != 0) {
		err_set(err, "it is of the configuration %.200s", at);
		return NULL;
	}
	return line_end + 1;
}

/* Returns the file's bytes and a NUL, for free(3), or NULL with err set.
 * *ret_size is 0 if there is no file. */
static char *
read_state_file(const char *path, size_t *ret_size, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text = NULL;
	ssize_t n = -1;

	*ret_size = fd < 0 && errno == ENOENT ? 0 : 1;
	if (fd < 0 || fstat(fd, &st) < 0)
		err_set(err, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_size > STATE_FILE_MAX)
		err_set(err,
		    "it is not a regular file, or it is longer than 64 MiB");
	else if (!(text = malloc((size_t)st.st_size + 1)))
		err_oom(err);
	else if ((n = read(fd, text, (size_t)st.st_size)) != st.st_size)
		err_set(err, "it cannot be read");
	if (fd >= 0)
		close(fd);
	if (!text || n != st.st_size) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*ret_size = (size_t)n;
	return text;
}

char *
state_file_read(const struct command_env *env, const char *files)
{
	const char *path = path_of(env);
	char *text, *lines;
	struct err err;
	size_t size;

	if (!path)
		return NULL;
	text = read_state_file(path, &size, &err);
	lines = text ? state_file_check(text, size, files, &err) : NULL;
	if (!lines) {
		if (size > 0)
			log_warning(
			    "state_file %s is not used: %s", path, err.text);
		free(text);
		return NULL;
	}
	memmove(text, lines, strlen(lines) + 1);
	return text;
}
