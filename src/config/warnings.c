/* SPDX-License-Identifier: MIT
 * config_warnings: see config.h.
 */
#include "base/secrets.h"
#include "config/config.h"
#include "config/draft.h"
#include "net/addr.h"

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

/* An address that others than the neighbours may reach. */
static void
warn_of_proxy(const struct frontend_spec *f, struct err_list *warnings)
{
	char text[ADDR_TEXT_SIZE];

	for (size_t i = 0; i < f->listens_n && f->proxy_from_n == 0; i++) {
		const struct listen_spec *l = &f->listens[i];

		if (!l->accept_proxy || addr_is_private(&l->addr))
			continue;
		ERROR_AT(l, warnings,
		    "warning: [frontend %s]: listen: everyone who can reach %s "
		    "may claim to be any client, by a PROXY header; write "
		    "proxy_from = ADDRESS/BITS of those in front",
		    f->name, addr_text(&l->addr, text));
	}
}

static void
warn_of_backend(const struct backend_spec *b, struct err_list *warnings)
{
	if (b->servers_n > 0)
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

void
config_warnings(const struct spec *spec, struct err_list *warnings)
{
	for (size_t i = 0; i < spec->global.admin.n; i++)
		warn_of_admin(&spec->global.admin.all[i], warnings);
	for (size_t i = 0; i < spec->frontends_n; i++)
		warn_of_proxy(&spec->frontends[i], warnings);
	for (size_t i = 0; i < spec->backends_n; i++)
		warn_of_backend(&spec->backends[i], warnings);
	secrets_each_flawed(warn_of_secret, warnings);
}
