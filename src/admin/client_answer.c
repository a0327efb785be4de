/* SPDX-License-Identifier: MIT
 * See client_answer.h.
 */
#include "admin/client_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_out.h"

static void
free_rest(struct client_answer *answer)
{
	if (answer->rest)
		answer->rest->free(answer->rest);
	answer->rest = NULL;
}

/* Writes the time since the start, `[DAYS:HH:MM:SS]`. */
static void
put_uptime(const struct command_env *env, FILE *out)
{
	uint64_t s =
	    (clock_now_ms() - env->instance->model->state->started_ms) / 1000;

	fprintf(out, "[%" PRIu64 ":%02u:%02u:%02u]", s / 86400,
	    (unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60),
	    (unsigned)(s % 60));
}

/* Ends an answer with an empty line, and with the prompt if it is on. */
static void
end_answer(
    const struct command_env *env, const struct command_mode *mode, FILE *out)
{
	if (mode->severity == SEVERITY_STATUS)
		fprintf(out, COMMAND_STATUS, mode->failed);
	fputc('\n', out);
	if (mode->prompt && mode->timed)
		put_uptime(env, out);
	if (mode->prompt)
		fputs("> ", out);
}

/* Makes a part while there is memory. */
static bool
make_part(struct client_answer *answer, const struct command_env *env,
    struct command_mode *mode)
{
	struct answer_rest *rest = answer->rest;
	char *command = answer->next;
	struct text_out out;

	if (!text_out_open(&out))
		return false;
	if (!rest) {
		answer->next = command_split(command);
		answer->rest = command_run(env, mode, command,
		    answer->next ? NULL : answer->payload, out.stream);
	} else if (!rest->more(rest, env, out.stream)) {
		mode->failed |= rest->failed;
		free_rest(answer);
	}
	if (!answer->rest && !mode->quit)
		end_answer(env, mode, out.stream);
	if (!text_out_close(&out))
		return false;
	answer->out = answer->made = out.text;
	answer->size = out.size;
	answer->sent = 0;
	return true;
}

bool
client_answer_make(struct client_answer *answer, const struct command_env *env,
    struct command_mode *mode)
{
	bool begun = answer->rest;

	if (!begun && (!answer->next || mode->quit))
		return false;
	if (make_part(answer, env, mode))
		return true;
	free_rest(answer);
	client_answer_refuse(answer, mode,
	    begun ? "\nOut of memory: the answer ends here, before its end.\n"
	          : "Out of memory: no answer can be given.\n\n");
	return true;
}

void
client_answer_refuse(
    struct client_answer *answer, struct command_mode *mode, const char *text)
{
	answer->next = NULL;
	answer->out = text;
	answer->size = strlen(text);
	answer->sent = 0;
	mode->quit = true;
}

void
client_answer_sent(struct client_answer *answer)
{
	free(answer->made);
	answer->made = NULL;
	answer->out = NULL;
}

void
client_answer_fini(struct client_answer *answer)
{
	free_rest(answer);
	free(answer->made);
}
