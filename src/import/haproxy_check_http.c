/* SPDX-License-Identifier: MIT
 * `option httpchk` and the rules `http-check`: see haproxy_check.h.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "import/haproxy_check.h"

/* Writes a header `Name: value`, or notes the name of the host. */
static void
http_header(struct check_state *check, const char *name, const char *value)
{
	struct arena *arena = &check->proxy->file->doc->arena;

	while (isspace((unsigned char)*value))
		value++;
	if (strcasecmp(name, "host") == 0)
		check->host =
		    arena_copy(arena, value, strcspn(value, " :\r\n"));
	else if (strcasecmp(name, "connection") != 0 &&
	         strcasecmp(name, "content-length") != 0 && *value)
		hap_check_key(check, "check_header",
		    arena_printf(arena, "%s: %s", name, value));
}

void
hap_check_http_option(struct check_state *check, const struct hap_line *line)
{
	struct arena *arena = &check->proxy->file->doc->arena;
	size_t n = line->words.n;
	const char *version =
	    n > 4 ? words_join(arena, &line->words, 4, " ") : "";
	char *rest = arena_copy(arena, version, strlen(version)), *header;

	if (n == 3)
		check->path = hap_word(line, 2);
	if (n > 3) {
		check->method = hap_word(line, 2);
		check->path = hap_word(line, 3);
	}
	(void)strsep(&rest, "\r\n");
	while (rest && (header = strsep(&rest, "\r\n"))) {
		char *colon = strchr(header, ':');

		if (!colon)
			continue;
		*colon = '\0';
		http_header(check, header, colon + 1);
	}
}

/* Reads `http-check send meth M uri U ver V hdr N V ...`. */
static void
http_send(struct check_state *check, const struct hap_line *line)
{
	for (size_t i = 2; i + 1 < line->words.n; i += 2) {
		const char *word = words_get(&line->words, i);
		const char *arg = words_get(&line->words, i + 1);

		if (strcmp(word, "meth") == 0)
			check->method = arg;
		else if (strcmp(word, "uri") == 0)
			check->path = arg;
		else if (strcmp(word, "hdr") == 0)
			http_header(check, arg, hap_word(line, ++i + 1));
		else if (strcmp(word, "ver") != 0 &&
		         strcmp(word, "comment") != 0)
			hap_check_lose(check, line, "checks send no body");
	}
}

/* Returns the statuses of `status`, or of `rstatus` with an expression of the
 * usual forms: ^2.., (2|3)[0-9][0-9], ^[23].  NULL: another form. */
static const char *
statuses_of(struct arena *arena, const char *type, const char *text)
{
	struct arena_text list = {NULL, 0, 0};
	size_t digits = 0;

	if (strcmp(type, "status") == 0)
		return *text && strspn(text, "0123456789,-") == strlen(text)
		           ? text
		           : NULL;
	if (strcmp(type, "rstatus") != 0)
		return NULL;
	text += strspn(text, "^([");
	for (; *text && strchr("12345|", *text); text++)
		if (*text != '|') {
			digits++;
			arena_text_printf(arena, &list, "%s%c00-%c99",
			    list.n > 0 ? "," : "", *text, *text);
		}
	text += strspn(text, ")]");
	for (size_t i = 0; i < 2; i++)
		text += strncmp(text, "[0-9]", 5) == 0               ? 5
		        : strncmp(text, "\\d", 2) == 0               ? 2
		        : strncmp(text, "*", 1) == 0 || *text == '.' ? 1
		                                                     : 0;
	text += strspn(text, "$*+{2}");
	return digits > 0 && !*text ? list.data : NULL;
}

/* Without `expect status`, HAProxy takes any status of a body that fits. */
static void
add_body(struct check_state *check, const char *pattern)
{
	hap_check_key(check, "check_body", pattern);
	check->any_status = true;
}

static void
http_expect(struct check_state *check, const struct hap_line *line)
{
	struct arena *arena = &check->proxy->file->doc->arena;
	const char *type, *pattern, *status;
	bool not ;
	size_t i = hap_check_find_expect(line, &type, &not );

	status = statuses_of(arena, type, hap_word(line, i));
	pattern = hap_check_pattern(arena, type, hap_word(line, i));
	if (status && !not )
		check->status = status;
	else if (pattern && !not )
		add_body(check, pattern);
	else
		hap_check_lose(check, line,
		    "write status=LIST behind check = http, or check_body = "
		    "\"TEXT\"");
}

void
hap_check_http_rule(struct check_state *check, const struct hap_line *line)
{
	const char *word = hap_word(line, 1);

	if (strcmp(word, "send") == 0)
		http_send(check, line);
	else if (strcmp(word, "expect") == 0)
		http_expect(check, line);
	else if (strcmp(word, "connect") == 0)
		hap_check_connect(check, line);
	else if (strcmp(word, "comment") == 0)
		words_read_all(&line->words, 2);
	else
		hap_check_lose(check, line,
		    strcmp(word, "disable-on-404") == 0
		        ? "a 404 counts as a failed check; nearest: agent = on"
		        : "HTTP checks have path=, method=, host=, status=, "
		          "check_header and check_body");
}

void
hap_check_http_options(struct check_state *check)
{
	const char *method = check->method;

	if (method && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		method = strcmp(method, "OPTIONS") == 0 ? method : "GET";
	hap_check_option(check, "method", method ? method : "OPTIONS");
	if (check->path && check->path[0] == '/')
		hap_check_option(check, "path", check->path);
	if (check->host && *check->host)
		hap_check_option(check, "host", check->host);
	hap_check_option(check, "status",
	    !check->status && check->any_status ? "100-599" : check->status);
	if (!check->host)
		doc_default(check->proxy->file->doc, check->proxy->be,
		    LOSS_SERVERS, "option httpchk",
		    "asks in HTTP/1.0 without a Host header; lfproxy in "
		    "HTTP/1.1 for the server's address; write host=NAME");
}
