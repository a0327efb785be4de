/* SPDX-License-Identifier: MIT
 * `add server` and `del server`, see live/edit.h.
 */
#include "commands/commands.h"

#include <ctype.h>
#include <string.h>

#include "commands/expiring.h"
#include "config/server_words.h"
#include "model/backend.h"
#include "model/server_operator.h"

/* Answers with the first error, as HAProxy does. */
static bool
fail_edit(struct call *call, const struct err_list *errors)
{
	char text[sizeof(call->err->text)] = "";
	FILE *out = fmemopen(text, sizeof(text) - 1, "w");

	if (!out)
		return err_oom(call->err);
	err_list_print(errors, "", out);
	(void)fclose(out);
	text[strcspn(text, "\n")] = '\0';
	return err_set(call->err, "%s", *text ? text : "out of memory");
}

/* Returns whether the name has only characters that HAProxy allows.  Sets
 * call->err otherwise. */
static bool
allow_server_name(struct call *call, const char *name)
{
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.:", *p))
			return err_set(call->err,
			    "character '%c' is not permitted in server name "
			    "'%s'.",
			    isprint((unsigned char)*p) ? *p : '?', name);
	return true;
}

static struct server *
add_from_words(struct call *call, struct backend *backend, const char *name,
    struct server_words *ret_words)
{
	struct err_list errors;
	struct server *s;

	if (!server_words_read(
	        backend->spec, name, call->args + 1, ret_words, call->err))
		return NULL;
	err_list_init(&errors);
	s = control_add_server(
	    call->env->control, backend, ret_words->value, &errors);
	if (!s)
		fail_edit(call, &errors);
	err_list_fini(&errors);
	return s;
}

/* Warns that the server lacks what the servers of its backend have. */
static void
warn_missing(const struct call *call, const char *server, const char *what,
    const char *word, const char *verb)
{
	call_say(call, SEVERITY_WARNING,
	    "Server %s has no %s, unlike its backend's servers: the word '%s' "
	    "is missing. To have one, use 'del server', 'add server ... %s' "
	    "and '%s'.",
	    server, what, word, word, verb);
}

/* Answers as HAProxy does, followed by warnings on lines of their own. */
static void
answer_added(const struct call *call, struct server_words *words)
{
	const char *server = call_arg(call, 0);

	call_say(call, SEVERITY_INFO, "New server registered.");
	if (words->unchecked)
		warn_missing(
		    call, server, "health check", "check", "enable health");
	if (words->unasked)
		warn_missing(
		    call, server, "agent", "agent-check", "enable agent");
	for (size_t i = 0; i < words->ignored_n; i++)
		call_say(call, SEVERITY_WARNING, "'%s' is ignored: %s.",
		    words->ignored[i].word, words->ignored[i].reason);
}

static void
audit_added(const struct call *call, const struct server *server)
{
	char after[ADDR_TEXT_SIZE + 32];

	snprintf(after, sizeof(after), "%s weight=%u", server->spec->address,
	    server->spec->weight);
	call_audit(call, "", after, "server %s/%s", server->backend->spec->name,
	    server->spec->name);
}

bool
run_add_server(struct call *call)
{
	struct backend *b;
	struct server *s;
	const char *name;
	struct server_words words;

	b = call_server_backend(call, call_arg(call, 0), &name);
	if (!b)
		return false;
	if (!*call_arg(call, 1))
		return err_set(call->err,
		    "'server' expects <name> and <addr>[:<port>] as "
		    "arguments.");
	if (!allow_server_name(call, name))
		return false;
	if (backend_find_server(b, name))
		return err_set(call->err,
		    "Already exists a server with the same name in backend.");
	s = add_from_words(call, b, name, &words);
	if (!s)
		return false;
	audit_added(call, s);
	if (words.enabled)
		operator_set_admin(s, SERVER_READY);
	answer_added(call, &words);
	return true;
}

const char *
server_unremovable_text(enum server_removable removable)
{
	switch (removable) {
	case SERVER_REMOVABLE:
		break;
	case SERVER_OF_SET:
		return "This server is a member of a set: take it out of the "
		       "set's source, or put it into maintenance.";
	case SERVER_TRACKED:
		return "This server cannot be removed at runtime due to other "
		       "configuration elements pointing to it.";
	case SERVER_IN_USE:
		return "Only servers in maintenance mode can be deleted.";
	case SERVER_CONNECTED:
		return "Server still has connections attached to it, cannot "
		       "remove it.";
	}
	return NULL;
}

bool
run_del_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));
	char address[ADDR_TEXT_SIZE], what[256];
	struct err_list errors;
	const char *why;
	bool ok;

	if (!s)
		return false;
	why = server_unremovable_text(control_server_removable(s));
	if (why)
		return err_set(call->err, "%s", why);
	snprintf(what, sizeof(what), "server %s/%s", s->backend->spec->name,
	    s->spec->name);
	snprintf(address, sizeof(address), "%s", s->spec->address);
	err_list_init(&errors);
	ok = control_del_server(call->env->control, s, &errors) ||
	     fail_edit(call, &errors);
	err_list_fini(&errors);
	if (!ok)
		return false;
	expiring_forget(call->env->expiring, what);
	call_audit(call, address, "", "%s", what);
	call_say(call, SEVERITY_INFO, "Server deleted.");
	return true;
}
