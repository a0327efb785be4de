/* SPDX-License-Identifier: MIT
 * See command_run.h.
 */
#include "http/command_run.h"

#include <ev.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_out.h"
#include "commands/command.h"
#include "http/response.h"

#define DENIED "Permission denied"

struct command_run {
	struct list node; /* in the site's, until it is over */
	struct http_request *request;
	struct command_mode mode;
	char *line, *payload;
	struct answer_rest *rest;
	ev_timer next; /* part */
	char *text;    /* so far, NUL-terminated */
	size_t size;
	bool over, cut;
};

static bool
append_answer(struct command_run *run, const char *text, size_t size)
{
	char *grown;

	if (run->size + size > COMMAND_ANSWER_MAX)
		return false;
	grown = realloc(run->text, run->size + size + 1);
	if (!grown)
		return false;
	memcpy(grown + run->size, text, size);
	run->text = grown;
	run->size += size;
	grown[run->size] = '\0';
	return true;
}

static void
end_run(struct command_run *run)
{
	if (run->rest)
		run->rest->free(run->rest);
	run->rest = NULL;
	run->over = true;
	list_remove(&run->node);
}

/* Makes the next part.  Returns false after the last one. */
static bool
make_command_part(struct command_run *run)
{
	const struct command_env *env = run->request->site->env;
	struct answer_rest *rest = run->rest;
	struct text_out out;
	bool more = true;

	if (!text_out_open(&out)) {
		run->cut = true;
		return false;
	}
	if (!rest) {
		run->rest = command_run(
		    env, &run->mode, run->line, run->payload, out.stream);
		more = run->rest != NULL;
	} else {
		rest->pause_ms = 0;
		more = rest->more(rest, env, out.stream);
		run->mode.failed |= rest->failed;
	}
	if (!text_out_close(&out) || !append_answer(run, out.text, out.size)) {
		run->cut = true;
		more = false;
	}
	free(out.text);
	return more;
}

/* Makes a part, and the next one in a later turn of the loop. */
static void
on_next_part(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct command_run *run = timer->data;

	(void)events;
	if (make_command_part(run)) {
		ev_timer_set(timer, run->rest->pause_ms / 1000., 0.);
		ev_timer_start(loop, timer);
	} else {
		end_run(run);
		http_request_resume(run->request);
	}
}

/* -- the body -- */

/* Returns the text of a member, NULL if it is not there. */
static char *
copy_member(const json_t *body, const char *name)
{
	const char *text = json_string_value(json_object_get(body, name));

	return text ? strdup(text) : NULL;
}

static bool
refuse_command(struct http_refusal *refusal, const char *why)
{
	*refusal = (struct http_refusal){.status = MHD_HTTP_BAD_REQUEST};
	return err_set(&refusal->why, "%s", why);
}

static bool
read_command(struct command_run *run, struct http_refusal *refusal)
{
	const struct http_request *r = run->request;
	json_t *body = r->body ? json_loadb(r->body, r->body_size,
	                             JSON_REJECT_DUPLICATES, NULL)
	                       : NULL;

	run->line = copy_member(body, "command");
	run->payload = copy_member(body, "payload");
	json_decref(body);
	if (!run->line || !run->line[strspn(run->line, " \t")])
		return refuse_command(refusal,
		    "the body must be as in {\"command\": \"show info\"}");
	if (run->line[strcspn(run->line, "\r\n")])
		return refuse_command(
		    refusal, "a command is one line; payload has further ones");
	if (command_split(run->line))
		return refuse_command(refusal,
		    "one command at a time, without a ; that is not behind a "
		    "backslash");
	if (run->payload && !command_takes_payload(&run->mode, run->line))
		return refuse_command(
		    refusal, "this command takes no payload, or not from you");
	return true;
}

struct command_run *
command_run_begin(struct http_request *request,
    const struct http_caller *caller, struct http_refusal *ret_refusal)
{
	struct command_run *run = calloc(1, sizeof(*run));

	if (!run) {
		(void)refuse_command(ret_refusal, "out of memory");
		return NULL;
	}
	run->request = request;
	run->mode.level = caller->level;
	/* A wrong word is an error, as with lfproxyctl. */
	run->mode.severity = SEVERITY_STATUS;
	http_caller_text(request, caller, run->mode.peer.address,
	    sizeof(run->mode.peer.address));
	ev_init(&run->next, on_next_part);
	run->next.data = run;
	list_init(&run->node);
	if (!read_command(run, ret_refusal)) {
		command_run_free(run);
		return NULL;
	}
	list_append(&request->site->commands, &run->node);
	/* The command runs on the loop: libmicrohttpd calls this function, and
	 * a reload may drain the port and so call libmicrohttpd. */
	http_request_suspend(request);
	ev_timer_set(&run->next, 0., 0.);
	ev_timer_start(request->site->env->instance->loop, &run->next);
	return run;
}

bool
command_run_is_over(const struct command_run *run)
{
	return run->over;
}

/* -- the answer -- */

enum MHD_Result
command_run_send(const struct command_run *run)
{
	struct MHD_Connection *mhd = run->request->mhd;
	char *text = run->text;
	size_t n = run->size;

	if (run->cut)
		return http_send_error(mhd, MHD_HTTP_INTERNAL_SERVER_ERROR,
		    "the command was run, but its answer is longer than 8 MiB, "
		    "or memory is short; use an admin socket",
		    NULL);
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	if (!run->mode.failed)
		return http_send_answer(mhd, text ? text : "");
	return http_send_error(mhd,
	    text && strncmp(text, DENIED, strlen(DENIED)) == 0
	        ? MHD_HTTP_FORBIDDEN
	        : MHD_HTTP_BAD_REQUEST,
	    text ? text : "", NULL);
}

void
command_run_free(struct command_run *run)
{
	if (!run)
		return;
	ev_timer_stop(run->request->site->env->instance->loop, &run->next);
	if (!run->over)
		end_run(run);
	free(run->line);
	free(run->payload);
	free(run->text);
	free(run);
}

void
command_runs_stop(struct http_site *site)
{
	list_for_each_safe (node, &site->commands) {
		struct command_run *run =
		    container_of(node, struct command_run, node);

		ev_timer_stop(site->env->instance->loop, &run->next);
		run->cut = true;
		end_run(run);
		http_request_resume(run->request);
	}
}
