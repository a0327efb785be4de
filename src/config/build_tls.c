/* SPDX-License-Identifier: MIT
 * See build.h: the use of the [tls] sections, and their contexts.
 */
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/build.h"
#include "config/keys.h"
#include "tls/context.h"
#include "tls/file_errors.h"

/* Returns the section of the server, or NULL for plain TCP. */
static struct tls_spec *
tls_of_server(const struct spec *spec, const struct backend_spec *b,
    const struct server_spec *s)
{
	const struct optional *tls = s->tls.is_set ? &s->tls : &b->tls;

	return tls->is_set && tls->value != TLS_OFF ? &spec->tls[tls->value]
	                                            : NULL;
}

static bool
verifies(const struct tls_settings *s, enum tls_role role)
{
	return s->verify == TLS_VERIFY_DEFAULT ? role == TLS_CONNECTS
	                                       : s->verify != TLS_VERIFY_NONE;
}

/* -- errors -- */

/* A section, with what is known of its place in the file. */
struct section_tls {
	struct tls_spec *tls;
	const struct tls_spec *present;    /* of the same name, or NULL */
	const struct draft_section *draft; /* NULL: no longer known */
	struct err_list *errors;
};

static const struct draft_entry *
entry_of_key(const struct draft_section *draft, const char *key)
{
	for (size_t i = 0; draft && i < draft->entries_n; i++)
		if (strcmp(draft->entries[i].name, key) == 0)
			return &draft->entries[i];
	return NULL;
}

/* Adds an error at the line of the key, or else at that of the section. */
static void
report_key(const struct section_tls *s, const char *key, const char *text)
{
	const struct draft_entry *e = entry_of_key(s->draft, key);

	if (e)
		ENTRY_ERROR(e, s->errors, "%s: %s", e->name, text);
	else
		ERROR_AT(s->tls, s->errors, "[tls %s]: %s: %s", s->tls->name,
		    key, text);
}

/* Returns the length of the longest word of the value, or of what stands behind
 * the `=` in one, that is in the text. */
static size_t
named_length(const char *value, const char *text)
{
	size_t longest = 0, n;

	for (const char *at = value; *at; at += n) {
		char word[DRAFT_VALUE_MAX + 1];

		at += strspn(at, " \t");
		n = strcspn(at, " \t");
		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		for (const char *w = word; w; w = strchr(w, '=')) {
			w += *w == '=';
			if (strlen(w) > longest && strstr(text, w))
				longest = strlen(w);
		}
	}
	return longest;
}

/* Returns whether the word is the first one of the text. */
static bool
begins_with_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return strncmp(text, word, len) == 0 && text[len] == ' ';
}

/* Returns the entry that has the file that the text names.  If several have it,
 * returns the one whose key the text begins with.  NULL: none. */
static const struct draft_entry *
entry_of_file(const struct draft_section *draft, const char *text)
{
	const struct draft_entry *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; draft && i < draft->entries_n; i++) {
		const struct draft_entry *e = &draft->entries[i];
		const struct key *k = key_find(SECTION_TLS, e->name);
		size_t n = k && e->value ? named_length(e->value, text) : 0;

		/* Unlike other words, a path has a dot or a slash. */
		if (n == 0 || !strpbrk(e->value, "/."))
			continue;
		if (n > longest ||
		    (n == longest && begins_with_word(text, e->name))) {
			found = e;
			longest = n;
		}
	}
	return found;
}

/* Returns whether the list has the sentence about the section already, because
 * the section's other role has the same files. */
static bool
is_reported(const struct section_tls *s, const char *text)
{
	char whole[sizeof(struct err) + 300];

	snprintf(whole, sizeof(whole), "[tls %s]: %s", s->tls->name, text);
	for (size_t i = 0; s->errors->entries && i < s->errors->n; i++)
		if (strcmp(s->errors->entries[i].text, whole) == 0)
			return true;
	return false;
}

/* Adds an error that names a file, at the line that has it. */
static void
report_file(void *section, const char *text)
{
	const struct section_tls *s = section;
	const struct draft_entry *e = entry_of_file(s->draft, text);

	if (is_reported(s, text))
		return;
	if (e)
		ENTRY_ERROR(e, s->errors, "[tls %s]: %s", s->tls->name, text);
	else
		ERROR_AT(s->tls, s->errors, "[tls %s]: %s", s->tls->name, text);
}

/* -- checks -- */

/* Checks for settings that contradict each other in every role. */
static bool
check_settings(const struct section_tls *s)
{
	const struct tls_settings *t = &s->tls->settings;
	size_t errors_before = s->errors->n;

	if (t->max_version != 0 && t->max_version < t->min_version)
		report_key(s, "max_version",
		    "it is older than min_version; no version is left");
	if (t->tickets_file && !t->tickets)
		report_key(s, "tickets_file",
		    "it is without effect while tickets = off; keep one");
	return s->errors->n == errors_before;
}

static bool
check_role(const struct section_tls *s, enum tls_role role)
{
	const struct tls_settings *t = &s->tls->settings;
	size_t errors_before = s->errors->n;

	if (role == TLS_ACCEPTS && verifies(t, role) && !t->ca)
		report_key(s, "verify",
		    "clients' certificates need authorities that they are "
		    "from; write ca = FILE");
	if (role == TLS_CONNECTS && (t->verify == TLS_VERIFY_OPTIONAL ||
	                                t->verify == TLS_VERIFY_REQUEST))
		report_key(s, "verify",
		    t->verify == TLS_VERIFY_OPTIONAL
		        ? "'optional' is for clients, and a server uses this "
		          "section; write required or none, or a section for "
		          "each"
		        : "'request' is for clients, and a server uses this "
		          "section; write required or none, or a section for "
		          "each");
	return s->errors->n == errors_before;
}

/* Makes the context for the role, unless there is one. */
static void
make_context(struct section_tls *s, enum tls_role role)
{
	struct tls_context **context = &s->tls->context[role];
	struct err err;

	if (*context || !check_role(s, role))
		return;
	*context = tls_context_new_like(&s->tls->settings, role,
	    s->present ? s->present->context[role] : NULL, &err);
	if (*context)
		return;
	tls_file_errors(&s->tls->settings, role, report_file, s);
	report_file(s, err.text);
}

/* Checks that the section of a listen has a certificate. */
static bool
check_tls_listen(const struct spec *spec, const struct frontend_spec *f,
    const struct listen_spec *l, struct err_list *errors)
{
	const struct tls_spec *t = &spec->tls[l->tls.value];

	if (t->settings.pairs_n > 0 || t->settings.cert_dirs_n > 0)
		return true;
	ERROR_AT(l, errors,
	    "[frontend %s]: listen: '%s' has tls=%s, and [tls %s] has no "
	    "certificate; write cert = FILE or cert_dir = FOLDER there",
	    f->name, l->text, t->name, t->name);
	return false;
}

/* Checks that the section of the HTTP port has a certificate, and no protocol
 * but HTTP/1.1. */
static bool
check_tls_http(const struct spec *spec, const struct listen_spec *l,
    struct err_list *errors)
{
	const struct tls_spec *t = &spec->tls[l->tls.value];
	const char *alpn = t->settings.alpn;

	if (t->settings.pairs_n == 0 && t->settings.cert_dirs_n == 0)
		ERROR_AT(l, errors,
		    "http: '%s' has tls=%s, and [tls %s] has no certificate; "
		    "write cert = FILE or cert_dir = FOLDER there",
		    l->text, t->name, t->name);
	else if (alpn && strcmp(alpn, "http/1.1") != 0)
		ERROR_AT(l, errors,
		    "http: '%s' has tls=%s, and [tls %s] has alpn = %s, but "
		    "this port speaks http/1.1 only; write a section for each",
		    l->text, t->name, t->name, alpn);
	else
		return true;
	return false;
}

/* Checks that a name is known: a unix socket has none that could be in a
 * certificate. */
static bool
check_tls_server(const struct backend_spec *b, const struct server_spec *s,
    const struct tls_spec *t, struct err_list *errors)
{
	const struct tls_settings *settings = &t->settings;

	if (s->addr.sa.sa_family != AF_UNIX || settings->name ||
	    settings->sni || !verifies(settings, TLS_CONNECTS))
		return true;
	ERROR_AT(s, errors,
	    "[backend %s]: server: '%s' is a unix socket, which has no name "
	    "that its certificate could have; write name = NAME in [tls %s]",
	    b->name, s->name, t->name);
	return false;
}

/* -- uses -- */

/* The roles in which a section is used, and whether one of its uses is
 * wrong. */
struct tls_use {
	bool in[TLS_ROLES], wrong;
};

static void
find_uses(
    const struct spec *spec, struct tls_use *uses, struct err_list *errors)
{
	const struct listen_spec *http = &spec->global.http.at;

	if (http->text && http->tls.is_set) {
		uses[http->tls.value].in[TLS_ACCEPTS] = true;
		uses[http->tls.value].wrong |=
		    !check_tls_http(spec, http, errors);
	}
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->listens_n; j++) {
			const struct listen_spec *l = &f->listens[j];

			/* The error of the first port of a range is that of
			 * all. */
			if (!l->tls.is_set || l->in_range)
				continue;
			uses[l->tls.value].in[TLS_ACCEPTS] = true;
			uses[l->tls.value].wrong |=
			    !check_tls_listen(spec, f, l, errors);
		}
	}
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->servers_n; j++) {
			const struct server_spec *s = b->servers[j];
			const struct tls_spec *t = tls_of_server(spec, b, s);

			if (!t)
				continue;
			uses[t - spec->tls].in[TLS_CONNECTS] = true;
			(void)check_tls_server(b, s, t, errors);
		}
		for (size_t j = 0; j < b->sets_n; j++) {
			const struct server_spec *s = &b->sets[j].member;
			const struct tls_spec *t = tls_of_server(spec, b, s);

			if (!t)
				continue;
			uses[t - spec->tls].in[TLS_CONNECTS] = true;
			(void)check_tls_server(b, s, t, errors);
		}
		/* Servers may be added to the backend later. */
		if (b->tls.is_set && b->tls.value != TLS_OFF)
			uses[b->tls.value].in[TLS_CONNECTS] = true;
	}
}

void
build_tls(struct spec *spec, const struct spec *present,
    const struct draft *draft, struct err_list *errors)
{
	struct tls_use *uses = calloc(spec->tls_n + 1, sizeof(*uses));

	if (!uses) {
		err_list_add(errors, NULL, 0, "out of memory");
		return;
	}
	find_uses(spec, uses, errors);
	for (size_t i = 0; i < draft->sections_n; i++) {
		const struct draft_section *d = &draft->sections[i];
		struct section_tls s = {.draft = d, .errors = errors};
		const struct tls_use *use;

		if (d->kind != SECTION_TLS || d->has_errors)
			continue;
		s.tls = &spec->tls[d->index];
		s.present =
		    present ? spec_tls_named(present, s.tls->name) : NULL;
		use = &uses[d->index];
		if (!check_settings(&s) || use->wrong)
			continue;
		for (enum tls_role role = 0; role < TLS_ROLES; role++)
			if (use->in[role])
				make_context(&s, role);
	}
	free(uses);
}

void
build_tls_server(struct spec *spec, const struct backend_spec *backend,
    const struct server_spec *server, struct err_list *errors)
{
	struct section_tls s = {
	    .tls = tls_of_server(spec, backend, server), .errors = errors};

	if (s.tls && check_tls_server(backend, server, s.tls, errors))
		make_context(&s, TLS_CONNECTS);
}

/* -- warnings -- */

#define WARN_IF(condition, tls, warnings, ...)                                 \
	do {                                                                   \
		if (condition)                                                 \
			ERROR_AT(tls, warnings, "warning: " __VA_ARGS__);      \
	} while (0)

/* Warns of settings without effect in the roles in which the section is
 * used. */
static void
warn_of_roles(const struct tls_spec *t, struct err_list *warnings)
{
	const struct tls_settings *s = &t->settings;
	bool accepts = t->context[TLS_ACCEPTS];
	bool connects = t->context[TLS_CONNECTS];
	const char *only_clients = s->cert_dirs_n > 0 ? "cert_dir"
	                           : s->tickets_file  ? "tickets_file"
	                           : s->strict_sni    ? "strict_sni"
	                                              : NULL;
	const char *only_servers = s->name          ? "name"
	                           : s->sni         ? "sni"
	                           : s->common_name ? "common_name"
	                                            : NULL;

	WARN_IF(only_clients && !accepts, t, warnings,
	    "[tls %s]: %s is for clients, and only servers use this section; "
	    "it is without effect",
	    t->name, only_clients);
	WARN_IF(only_servers && !connects, t, warnings,
	    "[tls %s]: %s is for servers, and only clients use this section; "
	    "it is without effect",
	    t->name, only_servers);
}

static void
warn_of_verify(const struct tls_spec *t, struct err_list *warnings)
{
	const struct tls_settings *s = &t->settings;
	bool accepts = t->context[TLS_ACCEPTS];
	bool connects = t->context[TLS_CONNECTS];
	bool any = (accepts && verifies(s, TLS_ACCEPTS)) ||
	           (connects && verifies(s, TLS_CONNECTS));
	const char *idle = s->ca                        ? "ca"
	                   : s->crl                     ? "crl"
	                   : s->depth > 0               ? "depth"
	                   : connects && s->name        ? "name"
	                   : connects && s->common_name ? "common_name"
	                                                : NULL;

	WARN_IF(!any && idle, t, warnings,
	    "[tls %s]: %s is without effect, as no certificate is verified; "
	    "write verify = required",
	    t->name, idle);
	WARN_IF(
	    accepts && verifies(s, TLS_ACCEPTS) && strcmp(s->ca, "system") == 0,
	    t, warnings,
	    "[tls %s]: with ca = system, clients with a certificate of any "
	    "public authority are admitted; write ca = FILE with the "
	    "authorities of your clients",
	    t->name);
}

static void
warn_of_section(const struct tls_spec *t, struct err_list *warnings)
{
	const struct tls_settings *s = &t->settings;

	if (!t->context[TLS_ACCEPTS] && !t->context[TLS_CONNECTS]) {
		ERROR_AT(t, warnings,
		    "warning: [tls %s]: nothing uses it, and its files are not "
		    "read; remove it, or write tls=%s after a listen or server",
		    t->name, t->name);
		return;
	}
	warn_of_roles(t, warnings);
	warn_of_verify(t, warnings);
	WARN_IF(s->ciphers && s->min_version > TLS1_2_VERSION, t, warnings,
	    "[tls %s]: ciphers is without effect: it is for TLS 1.2, and "
	    "min_version is newer",
	    t->name);
	WARN_IF(s->ciphersuites && s->max_version == TLS1_2_VERSION, t,
	    warnings,
	    "[tls %s]: ciphersuites is without effect: it is for TLS 1.3, and "
	    "max_version is older",
	    t->name);
	WARN_IF(s->keylog, t, warnings,
	    "[tls %s]: every user who can read %s can decrypt the sessions of "
	    "this section; remove keylog when you have found the fault",
	    t->name, s->keylog);
}

/* Returns whether the list has the same sentence about the same file. */
static bool
has_sentence(const struct err_list *list, const struct err_entry *entry)
{
	for (size_t i = 0; list->entries && i < list->n; i++)
		if (strcmp(list->entries[i].file, entry->file) == 0 &&
		    strcmp(list->entries[i].text, entry->text) == 0)
			return true;
	return false;
}

/* Warns of faults in the files of both roles, of each once. */
static void
warn_of_files(const struct tls_spec *t, struct err_list *warnings)
{
	struct err_list found[TLS_ROLES];

	for (enum tls_role role = 0; role < TLS_ROLES; role++) {
		err_list_init(&found[role]);
		if (t->context[role])
			tls_context_warnings(t->context[role], &found[role]);
		/* The entries are gone if memory was short. */
		for (size_t i = 0; found[role].entries && i < found[role].n;
		     i++) {
			const struct err_entry *e = &found[role].entries[i];

			if (role == 0 || !has_sentence(&found[0], e))
				ERROR_AT(t, warnings,
				    "warning: [tls %s]: %s: %s", t->name,
				    e->file, e->text);
		}
	}
	for (enum tls_role role = 0; role < TLS_ROLES; role++)
		err_list_fini(&found[role]);
}

/* Returns whether the server's certificate would have to be for its address,
 * and signed by an authority of the system.  No public authority signs
 * certificates for addresses of private networks, and hardly any for other
 * addresses. */
static bool
is_unlikely(const struct tls_spec *t, const struct server_spec *s)
{
	const struct tls_settings *settings = &t->settings;

	return !s->host && s->addr.sa.sa_family != AF_UNIX && !settings->name &&
	       !settings->sni && verifies(settings, TLS_CONNECTS) &&
	       (!settings->ca || strcmp(settings->ca, "system") == 0);
}

/* Adds at most one warning for all servers of the backend. */
static void
warn_of_addresses(const struct spec *spec, const struct backend_spec *b,
    struct err_list *warnings)
{
	for (size_t i = 0; i < b->servers_n; i++) {
		const struct server_spec *s = b->servers[i];
		const struct tls_spec *t = tls_of_server(spec, b, s);

		if (!t || !is_unlikely(t, s))
			continue;
		ERROR_AT(s, warnings,
		    "warning: [backend %s]: server: '%s' is given by its "
		    "address, so its certificate has to be for that address, "
		    "from an authority of the system; write name = NAME in "
		    "[tls %s] for the name in the certificate, or ca = FILE",
		    b->name, s->name, t->name);
		return;
	}
}

void
build_tls_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->tls_n; i++) {
		warn_of_section(&spec->tls[i], warnings);
		warn_of_files(&spec->tls[i], warnings);
	}
	for (size_t i = 0; i < spec->backends_n; i++)
		warn_of_addresses(spec, &spec->backends[i], warnings);
}
