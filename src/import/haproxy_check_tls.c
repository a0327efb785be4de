/* SPDX-License-Identifier: MIT
 * Checks over TLS of servers whose sessions have none: `check-ssl` of HAProxy.
 *
 * HAProxy decides this for each server.  Here the check of the backend is over
 * TLS, which suits if all of its checked servers agree.
 */
#include <string.h>

#include "import/haproxy.h"

/* The options of a server that concern its check. */
struct checked {
	bool check, tls, check_tls, no_check_tls;
	const char *verify, *ca, *sni, *name;
};

static void
read_option(struct checked *c, const char *word, const char *arg)
{
	bool off = strncmp(word, "no-", 3) == 0;
	const char *plain = word + (off ? 3 : 0);

	if (strcmp(plain, "check") == 0)
		c->check = !off;
	else if (strcmp(plain, "ssl") == 0)
		c->tls = !off;
	else if (strcmp(plain, "check-ssl") == 0) {
		c->check_tls = !off;
		c->no_check_tls = off;
	} else if (strcmp(word, "verify") == 0)
		c->verify = arg;
	else if (strcmp(word, "ca-file") == 0)
		c->ca = arg;
	else if (strcmp(word, "check-sni") == 0)
		c->sni = arg;
	else if (strcmp(word, "verifyhost") == 0)
		c->name = arg;
}

static void
read_line(struct checked *c, const struct hap_line *line, size_t first)
{
	const struct words *words = &line->words;

	for (size_t i = first; i < words->n; i++)
		read_option(c, words->word[i],
		    i + 1 < words->n ? words->word[i + 1] : "");
}

/* Returns whether the line is a server's, with what it and the default-server
 * lines before it say. */
static bool
read_server(const struct hap_proxy *proxy, size_t nth, struct checked *ret)
{
	const struct hap_line *line = &proxy->lines.all[nth];
	const char *word = hap_word(line, 0);
	bool server = strcmp(word, "server") == 0;

	if (line->reason || (!server && strcmp(word, "server-template") != 0))
		return false;
	*ret = (struct checked){.check = false};
	for (size_t i = 0; i < nth; i++) {
		const struct hap_line *before = &proxy->lines.all[i];

		if (!before->reason &&
		    strcmp(hap_word(before, 0), "default-server") == 0)
			read_line(ret, before, 1);
	}
	read_line(ret, line, server ? 3 : 4);
	if (!ret->verify)
		ret->verify =
		    proxy->file->servers_unverified ? "none" : "required";
	return true;
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void
hap_scan_checks(struct hap_proxy *proxy)
{
	struct arena *arena = &proxy->file->doc->arena;
	struct checked first = {.check = false}, c;
	size_t n_checked = 0, n_tls = 0;
	bool agree = true, asked = false;

	for (size_t i = 0; i < proxy->lines.n; i++) {
		if (!read_server(proxy, i, &c) || !c.check)
			continue;
		if (n_checked++ == 0)
			first = c;
		asked |= c.check_tls && !c.tls;
		n_tls += c.check_tls || (c.tls && !c.no_check_tls);
		agree &= same(c.verify, first.verify) && same(c.ca, first.ca) &&
		         same(c.sni, first.sni) && same(c.name, first.name);
	}
	proxy->checks = n_checked > 0;
	if (!asked || n_tls < n_checked || !agree)
		return;
	if (strcmp(first.verify, "none") == 0)
		proxy->check_tls = " verify=off";
	else
		proxy->check_tls =
		    first.ca && strcmp(first.ca, "@system-ca")
		        ? arena_printf(arena, " ca=%s",
		              hap_path(
		                  proxy->file, proxy->file->ca_base, first.ca))
		        : "";
	if (first.sni || first.name)
		proxy->check_tls = arena_printf(arena, "%s sni=%s",
		    proxy->check_tls, first.sni ? first.sni : first.name);
}
