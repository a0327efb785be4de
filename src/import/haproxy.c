/* SPDX-License-Identifier: MIT
 * Converts HAProxy's configuration: section by section, line by line.
 */
#include "import/haproxy.h"

#include <string.h>

#include "import/convert.h"

static bool
is_kind(const struct hap_section *section, const char *kind)
{
	return strcmp(hap_word(&section->head, 0), kind) == 0;
}

static bool
is_proxy(const struct hap_section *section)
{
	return is_kind(section, "frontend") || is_kind(section, "backend") ||
	       is_kind(section, "listen");
}

/* Links each proxy with the defaults that hold for it: those that it names with
 * `from`, or the last ones before it. */
static void
link_defaults(struct hap_file *file)
{
	const struct hap_section *last = NULL;
	size_t n_defaults = 0;

	file->one_defaults = true;
	for (size_t i = 0; i < file->n; i++) {
		struct hap_section *s = &file->sections[i];
		const struct words *head = &s->head.words;
		bool defaults = is_kind(s, "defaults");

		if (!defaults && !is_proxy(s))
			continue;
		if (is_proxy(s))
			s->defaults = last;
		for (size_t j = 1; j + 1 < head->n; j++)
			for (size_t k = 0;
			     k < i && strcmp(words_get(head, j), "from") == 0;
			     k++)
				if (is_kind(&file->sections[k], "defaults") &&
				    strcmp(hap_word(&file->sections[k].head, 1),
				        words_get(head, j + 1)) == 0)
					s->defaults = &file->sections[k];
		if (defaults) {
			last = s;
			n_defaults++;
		} else if (!s->defaults) {
			file->one_defaults = false;
		}
	}
	file->one_defaults &= n_defaults == 1;
}

static void
add_lines(struct arena *arena, struct hap_lines *to,
    const struct hap_section *from, bool inherited)
{
	if (inherited && from->defaults)
		add_lines(arena, to, from->defaults, true);
	for (size_t i = 0; i < from->lines.n; i++) {
		struct hap_line line = from->lines.all[i];
		void *larger;

		if (inherited && (line.words.n == 0 || line.reason))
			continue;
		line.inherited = inherited;
		if (inherited)
			line.comment = NULL;
		larger = arena_grow(arena, to->all, to->n, sizeof(line));
		to->all = larger;
		to->all[to->n++] = line;
	}
}

static void
convert_line(struct hap_proxy *proxy, const struct hap_line *line)
{
	struct hap_file *file = proxy->file;
	struct ini_section *where = proxy->fe ? proxy->fe : proxy->be;
	const char *word = hap_word(line, 0);

	if (hap_common_line(file, where, line))
		return;
	if (strcmp(word, "bind") == 0 && proxy->fe)
		hap_bind(proxy, line);
	else if ((strcmp(word, "server") == 0 ||
	             strcmp(word, "server-template") == 0 ||
	             strcmp(word, "default-server") == 0 ||
	             strcmp(word, "dispatch") == 0) &&
	         proxy->be)
		hap_server(proxy, line);
	else if (strcmp(word, "log") == 0)
		hap_log(file, where, line);
	else if (strcmp(word, "default-server") == 0 && line->inherited)
		words_read_all(&line->words, 1);
	else if (!hap_simple_key(proxy, line) && !hap_balance(proxy, line) &&
	         !hap_is_check_line(line) && !hap_rule(proxy, line) &&
	         !hap_report_keyword(file, where, line, proxy->http))
		hap_lost(file, where, line, LOSS_CLIENTS,
		    "lfproxy has nothing of that name");
	hap_end_line(file);
}

/* Makes a bind line of `listen NAME ADDRESS`, a form of older versions. */
static void
bind_of_head(struct hap_proxy *proxy)
{
	struct arena *arena = &proxy->file->doc->arena;
	const struct words *head = &proxy->section->head.words;
	struct hap_line line = proxy->section->head;
	void *larger;

	if (!proxy->has_frontend || head->n < 3 ||
	    strcmp(words_get(head, 2), "from") == 0)
		return;
	line.words = (struct words){.n = 0};
	words_add(arena, &line.words, "bind");
	for (size_t i = 2; i < head->n; i++)
		words_add(arena, &line.words, words_get(head, i));
	line.comment = NULL;
	larger =
	    arena_grow(arena, proxy->lines.all, proxy->lines.n, sizeof(line));
	proxy->lines.all = larger;
	proxy->lines.all[proxy->lines.n++] = line;
}

static bool
is_stats_page(const struct hap_proxy *proxy)
{
	return hap_find(proxy, "stats") && !hap_find(proxy, "server") &&
	       !hap_find(proxy, "default_backend") &&
	       !hap_find(proxy, "use_backend") && proxy->has_frontend;
}

/* Ends a proxy.  A frontend without an address to listen on, or without a
 * backend, is written as a comment. */
static void
finish_proxy(struct hap_proxy *proxy)
{
	struct hap_file *file = proxy->file;

	hap_missing_keys(proxy);
	if (!proxy->fe)
		return;
	hap_write_rules(proxy);
	if (!proxy->logs && !hap_find(proxy, "log"))
		doc_key(file->doc, proxy->fe, "log", "off");
	if (proxy->n_binds == 0 || !proxy->has_target) {
		proxy->fe->left_out = true;
		for (size_t i = 0; i < proxy->section->lines.n; i++)
			ledger_differs(proxy->section->lines.all[i].row,
			    LOSS_CLIENTS, proxy->section->lines.all[i].text,
			    NULL);
		hap_lost_words(file, proxy->fe, &proxy->section->head,
		    LOSS_CLIENTS, proxy->section->head.text,
		    proxy->n_binds == 0
		        ? "it listens nowhere that can be converted, so it is "
		          "left out"
		        : "it has no backend in TCP mode, so it is left out; "
		          "write backend = NAME");
	} else {
		file->n_frontends++;
	}
}

static void
convert_proxy(struct hap_file *file, struct hap_section *section)
{
	struct hap_proxy proxy = {.file = file, .section = section};
	struct document *doc = file->doc;
	struct arena_text next;

	proxy.has_frontend = !is_kind(section, "backend");
	proxy.has_backend = !is_kind(section, "frontend");
	proxy.http = hap_is_http(section);
	proxy.last_rule = &proxy.rules;
	if (section->defaults)
		add_lines(&doc->arena, &proxy.lines, section->defaults, true);
	bind_of_head(&proxy);
	add_lines(&doc->arena, &proxy.lines, section, false);
	hap_scan_keys(&proxy);
	if (is_stats_page(&proxy)) {
		hap_stats_page(&proxy);
		return;
	}
	proxy.name = hap_word(&section->head, 1);
	doc->remark = NULL;
	if (proxy.has_frontend)
		proxy.fe = doc_section(
		    doc, "frontend %s", doc_name(doc, "frontend", proxy.name));
	if (proxy.has_backend) {
		proxy.be = doc_section(
		    doc, "backend %s", hap_backend_name(file, proxy.name));
		file->n_backends++;
		hap_scan_checks(&proxy);
		hap_check(&proxy);
	}
	if (proxy.http)
		doc_note(doc, proxy.fe ? proxy.fe : proxy.be,
		    "%s:%u: mode http: relayed as TCP; HTTP is not looked into",
		    file->name, section->head.line);
	for (size_t i = 0; i < proxy.lines.n; i++)
		convert_line(&proxy, &proxy.lines.all[i]);
	/* Comments at the end belong to the next section. */
	next = doc->pending;
	doc->pending = (struct arena_text){NULL, 0, 0};
	finish_proxy(&proxy);
	doc->pending = next;
}

/* Reports a section that has no counterpart as a whole. */
static void
lose_section(struct hap_file *file, const struct hap_section *section)
{
	struct ini_section *remark = doc_section(file->doc, "%s", "");
	const char *reason =
	    is_kind(section, "peers")
	        ? "source hashes need no exchange: every lfproxy with the same "
	          "servers chooses alike; limits and sticky choices are each "
	          "lfproxy's own"
	    : is_kind(section, "mailers")
	        ? "no mail is sent; watch /metrics or `lfproxyctl show events`"
	    : is_kind(section, "program")
	        ? "let the service manager start other programs"
	    : is_kind(section, "ring")
	        ? "lines go to one server by plain TCP; write log = "
	          "syslog=tcp:ADDRESS for each server"
	    : is_kind(section, "log-forward")
	        ? "logs go to files and syslog: log = TARGET"
	        : "HTTP is not looked into";

	remark->head = NULL;
	hap_lost(file, remark, &section->head, LOSS_OPERATORS, "%s", reason);
	for (size_t i = 0; i < section->lines.n; i++) {
		const struct hap_line *line = &section->lines.all[i];

		ledger_differs(line->row, LOSS_OPERATORS, line->text, NULL);
		if (line->words.n == 0)
			doc_comment(file->doc, line->comment);
		else
			doc_note(file->doc, remark, "%s:%u:   %s", file->name,
			    line->line, line->text);
	}
}

static void
convert_section(struct hap_file *file, struct hap_section *section)
{
	if (section->head.comment && section->head.comment[0])
		doc_comment(file->doc, section->head.comment);
	if (is_kind(section, "global") || section->head.words.n == 0)
		hap_global(file, section);
	else if (is_kind(section, "defaults"))
		hap_defaults(file, section);
	else if (is_kind(section, "resolvers"))
		hap_resolvers(file, section);
	else if (is_proxy(section))
		convert_proxy(file, section);
	else if (is_kind(section, "ring") && hap_ring(file, section))
		return;
	else
		lose_section(file, section);
}

bool
haproxy_convert(
    struct document *doc, const struct import_source *source, FILE *errors)
{
	struct hap_file file = {.doc = doc, .source = source, .errors = errors};
	const char *slash = strrchr(source->file, '/');

	file.name = slash ? slash + 1 : source->file;
	if (!hap_read(&file))
		return false;
	link_defaults(&file);
	file.global = doc_find_section(doc, "global");
	for (size_t i = 0; i < file.n; i++)
		convert_section(&file, &file.sections[i]);
	if (!file.logs)
		doc_key(doc, file.global, "log", "off");
	if (file.n_frontends == 0 || file.n_backends == 0) {
		fprintf(errors,
		    "%s: no frontend and backend that lfproxy could serve\n",
		    source->file);
		ledger_print_lost(&doc->ledger, errors);
		return false;
	}
	return true;
}
