/* SPDX-License-Identifier: MIT
 * See config.h.
 */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/secrets.h"
#include "config/build.h"
#include "config/draft.h"
#include "config/expand.h"
#include "config/include.h"
#include "config/keys.h"
#include "config/server_addr.h"
#include "config/users_file.h"
#include "config/values.h"
#include "model/loops.h"
#include "model/model.h"

bool
config_load_all(const char *const *paths, size_t n, const struct spec *present,
    struct spec **ret_spec, struct err_list *errors)
{
	size_t errors_before = errors->n;
	struct draft draft;
	struct spec *spec = NULL;

	secrets_begin();
	draft_init(&draft);
	include_load(paths, n, &draft, errors);
	/* Errors in some lines do not make the others right, but a draft
	 * without sections has nothing to check. */
	if (errors->n == errors_before || draft.sections_n > 0)
		spec = build_spec(&draft, present, errors);
	draft_fini(&draft);
	if (errors->n != errors_before) {
		spec_free(spec);
		return false;
	}
	*ret_spec = spec;
	return true;
}

/* Adds `key = value` under the label `OPTION GIVEN`, unless given is NULL. */
static bool
add_option(struct draft *draft, const char *option, const char *given,
    const char *key, const char *value)
{
	char *label;
	bool ok;

	if (!given)
		return true;
	if (asprintf(&label, "%s %s", option, given) < 0)
		return false;
	ok = draft_add_entry(
	    draft, (struct spec_place){.file = NULL}, label, key, value, NULL);
	free(label);
	return ok;
}

/* Returns the length of NAME in NAME=ADDR, or 0.  An address may also have a
 * '=', but only behind a '/', and an option of it only behind a blank. */
static size_t
name_length(const char *server)
{
	size_t len = strcspn(server, "=/ \t");

	return server[len] == '=' ? len : 0;
}

static bool
name_is_given(const struct config_options *o, const char *name)
{
	for (size_t i = 0; i < o->servers_n; i++) {
		size_t len = name_length(o->servers[i]);

		if (len == strlen(name) &&
		    strncmp(o->servers[i], name, len) == 0)
			return true;
	}
	return false;
}

/* Returns the port that all listens have, or 0. */
static uint16_t
port_of_listens(const struct config_options *o)
{
	uint16_t port = 0;

	for (size_t i = 0; i < o->listens_n; i++) {
		struct words words;
		struct addr addr;
		struct err err;

		if (strlen(o->listens[i]) > DRAFT_VALUE_MAX)
			return 0;
		words_split(&words, o->listens[i]);
		if (words.n == 0 ||
		    !addr_parse(words.word[0], ADDR_LISTEN, &addr, &err) ||
		    (i > 0 && addr_port(&addr) != port))
			return 0;
		port = addr_port(&addr);
	}
	return port;
}

/* Returns the port for the checks of a server whose address has none, or 0.
 * The server's sessions get the port that their clients have connected to. */
static unsigned
missing_check_port(const struct config_options *o, const char *server)
{
	struct server_spec s = {.name = NULL};
	struct addr_name name = {.host = ""};
	int listens = port_of_listens(o), port;
	struct words words;
	struct err err;

	if (listens == 0 || (o->check && strcmp(o->check, "off") == 0) ||
	    strlen(server) > DRAFT_VALUE_MAX || strstr(server, " check"))
		return 0;
	words_split(&words, server);
	if (words.n == 0 || !server_addr_parse(words.word[0], &s, &name, &err))
		return 0;
	s.host = name.host[0] ? name.host : NULL;
	if (!server_spec_maps_port(&s))
		return 0;
	port = listens + s.port_offset;
	return port > 0 && port <= UINT16_MAX ? (unsigned)port : 0;
}

static bool
add_server_option(struct draft *draft, const struct config_options *o, size_t i,
    size_t *number)
{
	const char *given = o->servers[i];
	size_t len = name_length(given);
	const char *address = given + (len > 0 ? len + 1 : 0);
	unsigned check_port = missing_check_port(o, address);
	char name[32], check[32] = "";
	char *value;
	bool ok;
	int n;

	if (check_port > 0)
		snprintf(check, sizeof(check), " check_port=%u", check_port);
	if (given[0] == '\0') {
		n = asprintf(&value, "%s", given);
	} else if (len > 0) {
		n = asprintf(
		    &value, "%.*s %s%s", (int)len, given, address, check);
	} else {
		do
			snprintf(name, sizeof(name), "s%zu", (*number)++);
		while (name_is_given(o, name));
		n = asprintf(&value, "%s %s%s", name, given, check);
	}
	if (n < 0)
		return false;
	ok = add_option(draft, "-s", given, "server", value);
	free(value);
	return ok;
}

/* Adds the check: `http:/path`, `https:/path`, `script:/program arguments`, or
 * the value of the key check. */
static bool
add_check(struct draft *draft, const char *given)
{
	const char *rest = given ? strchr(given, ':') : NULL;
	int len = rest ? (int)(rest++ - given) : 0;
	char *value;
	bool ok;

	if (len == 6 && strncmp(given, "script", 6) == 0)
		return add_option(draft, "-k", given, "check_command", rest) &&
		       add_option(draft, "-k", given, "check", "script");
	if ((len != 4 && len != 5) || strncmp(given, "https", (size_t)len) != 0)
		return add_option(draft, "-k", given, "check", given);
	if (asprintf(&value, "%.*s path=%s", len, given, rest) < 0)
		return false;
	ok = add_option(draft, "-k", given, "check", value);
	free(value);
	return ok;
}

static bool
draft_options(struct draft *draft, const struct config_options *o)
{
	const struct spec_place nowhere = {.file = NULL};
	size_t number = 1;
	bool ok;

	ok = draft_add_section(draft, nowhere, "global") &&
	     add_option(draft, "-a", o->admin, "admin", o->admin) &&
	     draft_add_section(draft, nowhere, "pool main") &&
	     add_option(draft, "-n", o->threads, "threads", o->threads) &&
	     draft_add_section(draft, nowhere, "frontend main") &&
	     draft_add_entry(draft, nowhere, NULL, "backend", "main", NULL);
	for (size_t i = 0; ok && i < o->listens_n; i++)
		ok = add_option(
		    draft, "-l", o->listens[i], "listen", o->listens[i]);
	ok = ok && draft_add_section(draft, nowhere, "backend main") &&
	     add_option(draft, "-b", o->balance, "balance", o->balance) &&
	     add_check(draft, o->check);
	for (size_t i = 0; ok && i < o->servers_n; i++)
		ok = add_server_option(draft, o, i, &number);
	return ok;
}

bool
config_from_options(const struct config_options *options,
    struct spec **ret_spec, struct err_list *errors)
{
	struct spec *spec = NULL;
	struct draft draft;

	draft_init(&draft);
	if (draft_options(&draft, options))
		spec = build_spec(&draft, NULL, errors);
	else
		err_list_add(errors, NULL, 0, "out of memory");
	draft_fini(&draft);
	if (spec)
		*ret_spec = spec;
	return spec != NULL;
}

static void
print_value(const char *name, const char *text, FILE *out)
{
	fprintf(out, "%s = ", name);
	expand_print(text, out);
	/* A backslash at the end of the line would continue it. */
	fputs(*text && text[strlen(text) - 1] == '\\' ? " ;\n" : "\n", out);
}

/* Prints the rules of `allow` and `deny` in the order of the file. */
static void
print_rules(const struct frontend_spec *f, FILE *out)
{
	char text[ACCESS_TEXT_SIZE];

	for (size_t i = 0; i < f->access_n; i++) {
		const struct access_spec *rule = &f->access[i];
		const char *value = strchr(access_spec_text(rule, text), ' ');

		print_value(rule->allow ? "allow" : "deny", value + 1, out);
	}
}

/* Prints the rules of `sni` and `route` in the order of the file. */
static void
print_routes(const struct spec *spec, const struct frontend_spec *f, FILE *out)
{
	struct shown s = {.object = f, .spec = spec};
	char text[VALUE_TEXT_SIZE];

	for (; s.nth < f->rules_n; s.nth++) {
		bool is_short = f->rules[s.nth].is_short;

		s.key = key_find(SECTION_FRONTEND, is_short ? "sni" : "route");
		if (is_short)
			value_print_short_rule(&s, text);
		else
			(void)value_print(&s, text);
		print_value(s.key->name, text, out);
	}
}

/* Prints keys whose values have an order in common, when the first of these
 * keys is due.  Returns whether key is one of them and has values. */
static bool
print_in_common(const struct spec *spec, const struct key *key,
    const void *object, FILE *out)
{
	const struct frontend_spec *f = object;
	const struct value_type *type = key->type;

	if (type == &type_allow && f->access_n > 0)
		print_rules(f, out);
	else if (type == &type_sni_rule && f->rules_n > 0)
		print_routes(spec, f, out);
	else
		return (type == &type_deny && f->access_n > 0) ||
		       (type == &type_route_rule && f->rules_n > 0);
	return true;
}

/* Prints the section's keys.  A key without a value becomes a comment, to show
 * that it exists. */
static void
print_keys(const struct spec *spec, enum section_kind kind, const void *object,
    FILE *out)
{
	struct shown s = {.object = object, .spec = spec};

	while ((s.key = key_next(kind, s.key))) {
		char text[VALUE_TEXT_SIZE];

		if (print_in_common(spec, s.key, object, out))
			continue;
		for (s.nth = 0; value_print(&s, text); s.nth++)
			print_value(s.key->name, text, out);
		if (s.nth == 0)
			fprintf(out, "; %s is not set: %s\n", s.key->name,
			    s.key->default_note);
	}
}

static bool
print_section(const struct spec *spec, enum section_kind kind, const char *name,
    const void *object, const char *before, FILE *out)
{
	fprintf(out, "%s[%s%s%s]\n", before, sections[kind].name,
	    name ? " " : "", name ? name : "");
	print_keys(spec, kind, object, out);
	return true;
}

/* Prints section n of the array if it has one, else makes n the number behind
 * the array. */
#define PRINT_NTH(KIND, array)                                                 \
	do {                                                                   \
		if (n < spec->array##_n)                                       \
			return print_section(spec, KIND, spec->array[n].name,  \
			    &spec->array[n], before, out);                     \
		n -= spec->array##_n;                                          \
	} while (0)

bool
config_print_section(
    const struct spec *spec, size_t n, const char *before, FILE *out)
{
	if (n == 0)
		return print_section(
		    spec, SECTION_GLOBAL, NULL, &spec->global, before, out);
	if (n == 1)
		return print_section(
		    spec, SECTION_RESOLVER, NULL, &spec->resolver, before, out);
	n -= 2;
	PRINT_NTH(SECTION_POOL, pools);
	PRINT_NTH(SECTION_TLS, tls);
	PRINT_NTH(SECTION_LIST, lists);
	PRINT_NTH(SECTION_FRONTEND, frontends);
	PRINT_NTH(SECTION_BACKEND, backends);
	return false;
}

void
config_print(const struct spec *spec, FILE *out)
{
	fputs("; lfproxy " LFPROXY_VERSION
	      ": the effective configuration, with every default\n",
	    out);
	for (size_t i = 0; config_print_section(spec, i, "\n", out); i++)
		;
}

static void
warn_of_admin(const struct admin_spec *a, struct err_list *warnings)
{
	if (a->addr.sa.sa_family == AF_UNIX || a->level == LEVEL_USER)
		return;
	ERROR_AT(a, warnings,
	    "warning: admin: every user and every program of this host can "
	    "give commands at %s with level=%s; use a unix socket, or "
	    "level=user",
	    a->text, a->level == LEVEL_ADMIN ? "admin" : "operator");
}

static void
warn_of_http(const struct http_spec *h, struct err_list *warnings)
{
	struct err err;

	if (!h->at.text)
		return;
	if (h->level != LEVEL_USER)
		ERROR_AT(&h->at, warnings,
		    "warning: http: every user and every program of this host "
		    "can give commands at %s with level=%s; write users = FILE "
		    "and let people sign in",
		    h->at.text, h->level == LEVEL_ADMIN ? "admin" : "operator");
	if (h->plain_sign_in && !addr_is_loopback(&h->at.addr))
		ERROR_AT(&h->at, warnings,
		    "warning: http: with plain_sign_in passwords cross the "
		    "network to %s as they are; write tls = NAME",
		    h->at.text);
	if (h->users && !users_check(h->users, &err))
		ERROR_AT(&h->at, warnings,
		    "warning: http: users: %s; no user can sign in", err.text);
}

/* Warns of listens with PROXY headers that may be reached from other
 * networks. */
static void
warn_of_proxy(const struct frontend_spec *f, struct err_list *warnings)
{
	char text[ADDR_TEXT_SIZE];

	for (size_t i = 0; i < f->listens_n && f->proxy_from_n == 0; i++) {
		const struct listen_spec *l = &f->listens[i];

		if (!l->accept_proxy || l->in_range ||
		    addr_is_private(&l->addr))
			continue;
		ERROR_AT(l, warnings,
		    "warning: [frontend %s]: listen: every host that can reach "
		    "%s may claim to be any client, by a PROXY header; write "
		    "proxy_from = ADDRESS/BITS of the proxies in front",
		    f->name, l->range ? l->text : addr_text(&l->addr, text));
	}
}

static void
warn_of_backend(const struct backend_spec *b, struct err_list *warnings)
{
	if (b->servers_n > 0 || b->sets_n > 0)
		return;
	ERROR_AT(b, warnings,
	    "warning: [backend %s] has no server, so its sessions wait for "
	    "timeout_queue and are closed; write server = NAME HOST:PORT, or "
	    "use the command add server",
	    b->name);
}

static void
warn_of_secret(void *warnings, const struct secret_flaws *flaws)
{
	if (flaws->open_path)
		err_list_add(warnings, NULL, 0,
		    "warning: every user of this host can read the secret in "
		    "%s; chmod o-r",
		    flaws->open_path);
	if (flaws->too_short)
		err_list_add(warnings, NULL, 0,
		    "warning: the secret %s has fewer than %d characters, so "
		    "it is not masked in logs and answers; use a longer one",
		    flaws->source, SECRET_MIN_LEN);
}

static void
warn_of_loops(const struct spec *spec, struct err_list *warnings)
{
	struct loops *loops = loops_new(spec, NULL, NULL);

	if (!loops)
		return;
	spec_for_each_server (b, s, spec) {
		const struct frontend_spec *f =
		    loops_find(loops, b, s, &s->addr);

		if (f)
			ERROR_AT(s, warnings, "warning: " LOOPS_WARNING,
			    b->name, s->name, f->name, LOOPS_SESSIONS_MAX);
	}
	loops_free(loops);
}

void
config_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->global.admin.n; i++)
		warn_of_admin(&spec->global.admin.all[i], warnings);
	warn_of_http(&spec->global.http, warnings);
	for (size_t i = 0; i < spec->frontends_n; i++)
		warn_of_proxy(&spec->frontends[i], warnings);
	build_access_warnings(spec, warnings);
	build_list_warnings(spec, warnings);
	for (size_t i = 0; i < spec->backends_n; i++)
		warn_of_backend(&spec->backends[i], warnings);
	warn_of_loops(spec, warnings);
	build_port_warnings(spec, warnings);
	build_route_warnings(spec, warnings);
	build_starttls_warnings(spec, warnings);
	build_tls_warnings(spec, warnings);
	secrets_each_flawed(warn_of_secret, warnings);
}
