/* SPDX-License-Identifier: MIT
 * See explain.h: for people.
 */
#include <inttypes.h>

#include "commands/explain.h"

const char *
explained_accept_block(const struct explained *explained)
{
	static const char *const blocks[] = {
	    [ACCEPT_BLOCK_NONE] = NULL,
	    [ACCEPT_BLOCK_RATE] = "it waits in the backlog: the rate limit of "
	                          "connections is reached",
	    [ACCEPT_BLOCK_FRONTEND_RATE] = "it waits in the backlog: the rate "
	                                   "limit of the frontend is reached",
	    [ACCEPT_BLOCK_FRONTEND] =
	        "it waits in the backlog: the frontend is "
	        "at its maxconn",
	    [ACCEPT_BLOCK_SESSIONS] = "it waits in the backlog: all sessions "
	                              "that may be are in use (maxconn)",
	};

	if (explained->draining)
		return "it is refused: lfproxy is stopping";
	if (explained->admin == FRONTEND_SHUT)
		return "it is refused: the frontend was shut down";
	if (explained->admin == FRONTEND_PAUSED)
		return "it is refused, or waits if it is a unix socket's: the "
		       "frontend is disabled";
	return blocks[explained->accept_block];
}

const char *
explained_otherwise(const struct explained *explained)
{
	static const char *const answers[] = {
	    [WAIT_QUEUED] = "no server has room or is usable, so it waits in "
	                    "the queue",
	    [WAIT_FULL] = "no server has room and no more may wait, so it is "
	                  "closed",
	    [WAIT_NO_SERVER] = "no server is usable and none may wait, so it "
	                       "is closed",
	};
	const struct explanation *e = explained->e;

	if (!e->backend)
		return "no rule is for it and the frontend has no other "
		       "backend, so it is closed";
	if (e->unknown == UNKNOWN_PORT)
		return "it depends on the client's port (hash_key = "
		       "source-port): give the source with its port";
	if (e->unknown == UNKNOWN_DESTINATION)
		return "it depends on where the client connects to (hash_key "
		       "= destination): add to <address>";
	if (e->random || e->chosen != SERVER_NONE)
		return "";
	return answers[e->otherwise];
}

/* Returns what becomes of the turns of a backend without a server:
 * frontend_route gives them to backends of the split that have one, if any. */
static const char *
fate_of_turns(const struct explanation *e)
{
	for (size_t i = 0; i < e->routes_n; i++)
		if (e->routes[i].weight > 0 && e->routes[i].has_servers)
			return " (no usable server: the other backends get its "
			       "sessions)";
	return " (no usable server, and no other backend with a weight has "
	       "one: it keeps its sessions)";
}

static void
put_route(FILE *out, const struct explanation *e)
{
	const char *between = "";

	fprintf(out, "  backend  %s", e->backend ? e->backend : "none");
	if (e->sni.rule || !e->backend) {
		fputs(e->sni.rule ? ", that of the rule\n" : "\n", out);
		return;
	}
	if (e->turns == 0 && e->sni.rules) {
		fputs(", that of all others\n", out);
		return;
	}
	if (e->turns == 0) {
		fputs(", the only one\n", out);
		return;
	}
	fprintf(out, ", turn %zu of %zu of the split ", e->turn, e->turns);
	for (size_t i = 0; i < e->routes_n; i++) {
		const struct explained_route *r = &e->routes[i];

		fprintf(out, "%s%s weight=%u%s", between, r->backend, r->weight,
		    r->has_servers || r->weight == 0 ? "" : fate_of_turns(e));
		between = ", ";
	}
	fputc('\n', out);
}

/* Writes nothing if the user gave no name and the frontend does not inspect. */
static void
put_sni(FILE *out, const struct explained_sni *sni)
{
	if (!sni->inspects && !*sni->name)
		return;
	fprintf(out, "  sni      %s", *sni->name ? sni->name : "none");
	if (!sni->inspects)
		fputs(", which this frontend does not look at\n", out);
	else if (sni->rule)
		fprintf(out, ": the rule %s in %s:%u\n", sni->rule, sni->file,
		    sni->line);
	else
		fprintf(out, ": no rule%s\n",
		    sni->hashed ? ", but the server's choice goes by it" : "");
}

static void
put_choice(FILE *out, const struct explained *x)
{
	const struct explanation *e = x->e;
	const char *otherwise = explained_otherwise(x);

	if (*otherwise)
		fprintf(out, "  server   none: %s\n", otherwise);
	else if (e->random)
		fprintf(out, "  server   by chance, see below: %s\n", e->why);
	else
		fprintf(out, "  server   %s: %s\n", e->servers[e->chosen].name,
		    e->why);
}

void
explain_text_head(FILE *out, const struct explained *explained)
{
	const struct explanation *e = explained->e;
	const char *block = explained_accept_block(explained);

	fprintf(out, "frontend %s\n", explained->frontend);
	fprintf(out, "  accept   %s\n", block ? block : "yes");
	put_sni(out, &e->sni);
	put_route(out, e);
	if (!e->backend) {
		put_choice(out, explained);
		return;
	}
	fprintf(out, "  balance  %s", e->balance);
	if (e->keyed && e->unknown == UNKNOWN_NOTHING)
		fprintf(out, ", key %016" PRIx64, e->key);
	fputc('\n', out);
	if (e->panic)
		fputs("  panic    so few servers are usable that all that "
		      "operators want are tried\n",
		    out);
	if (e->waiting > 0)
		fprintf(out, "  queue    %u wait\n", e->waiting);
	put_choice(out, explained);
	fprintf(out, "  %-20s %-10s %8s %9s %9s %8s %12s %7s\n", "server",
	    "standing", "weight", "effective", "sessions", "maxconn", "score",
	    "chance");
}

void
explain_text_server(FILE *out, const struct explained *explained, size_t server)
{
	const struct explanation *e = explained->e;
	const struct explained_server *s = &e->servers[server];

	fprintf(out, "%c %-20s %-10s %8u %9u %9u",
	    server == e->chosen ? '>' : ' ', s->name,
	    standing_names[s->standing], s->weight, s->effective_weight,
	    s->sessions);
	if (s->maxconn > 0)
		fprintf(out, " %8u", s->maxconn);
	else
		fprintf(out, " %8s", "-");
	if (e->measure && s->place != PLACE_NONE)
		fprintf(out, " %12.6g", s->score);
	else
		fprintf(out, " %12s", "-");
	fprintf(out, " %5.1f %%  %s%s\n", 100 * s->probability, s->address,
	    s->backup ? " backup" : "");
}

void
explain_text_tail(FILE *out, const struct explained *explained)
{
	if (explained->e->measure)
		fprintf(out, "  score: %s\n", explained->e->measure);
	if (explained->e->random)
		fprintf(out,
		    "  chance: the share of %u draws by the algorithm itself\n",
		    explained->e->draws);
}
