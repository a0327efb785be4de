/* SPDX-License-Identifier: MIT
 * HAProxy's log lines, and the rings that they name.
 */
#include <string.h>

#include "import/haproxy.h"

/* Returns the only server of the ring, if it takes plain TCP, or NULL. */
static const struct hap_line *
ring_server(const struct hap_section *ring)
{
	const struct hap_line *server = NULL;

	for (size_t i = 0; i < ring->lines.n; i++) {
		const struct hap_line *line = &ring->lines.all[i];

		if (line->words.n < 3 || line->reason ||
		    strcmp(line->words.word[0], "server") != 0)
			continue;
		if (server)
			return NULL;
		server = line;
	}
	for (size_t i = 3; server && i < server->words.n; i++)
		if (strcmp(server->words.word[i], "ssl") == 0)
			return NULL;
	return server;
}

static const struct hap_section *
find_ring(const struct hap_file *file, const char *name)
{
	for (size_t i = 0; i < file->n; i++) {
		const struct hap_line *head = &file->sections[i].head;

		if (head->words.n > 1 &&
		    strcmp(head->words.word[0], "ring") == 0 &&
		    strcmp(head->words.word[1], name) == 0)
			return &file->sections[i];
	}
	return NULL;
}

/* Returns the target for a ring, which is syslog over TCP, or NULL. */
static const char *
ring_target(struct hap_file *file, const char *name)
{
	const struct hap_section *ring = find_ring(file, name);
	const struct hap_line *server = ring ? ring_server(ring) : NULL;
	const char *host, *port;

	if (!server)
		return NULL;
	hap_split_address(
	    &file->doc->arena, server->words.word[2], &host, &port);
	return port ? arena_printf(&file->doc->arena,
	                  strchr(host, ':') ? "syslog=tcp:[%s]:%s"
	                                    : "syslog=tcp:%s:%s",
	                  host, port)
	            : NULL;
}

/* Returns whether the target of the line is a ring of that format. */
static bool
ring_has_format(const struct hap_file *file, const struct hap_line *line,
    const char *format)
{
	const char *target = hap_word(line, 1);
	const struct hap_section *ring = strncmp(target, "ring@", 5) == 0
	                                     ? find_ring(file, target + 5)
	                                     : NULL;

	for (size_t i = 0; ring && i < ring->lines.n; i++)
		if (ring->lines.all[i].words.n > 1 &&
		    strcmp(ring->lines.all[i].words.word[0], "format") == 0 &&
		    strcmp(ring->lines.all[i].words.word[1], format) == 0)
			return true;
	return false;
}

bool
hap_ring(struct hap_file *file, const struct hap_section *ring)
{
	const struct hap_line *server = ring_server(ring);
	struct ini_section *remark;

	if (!server)
		return false;
	remark = doc_section(file->doc, "%s", "");
	remark->head = NULL;
	words_read_all(&ring->head.words, 0);
	for (size_t i = 0; i < ring->lines.n; i++) {
		const struct hap_line *line = &ring->lines.all[i];
		const char *word = hap_word(line, 0), *arg = hap_word(line, 1);

		if (hap_common_line(file, remark, line))
			continue;
		words_read_all(&line->words, 0);
		if (line == server && !strstr(line->text, "octet-count"))
			hap_lost(file, remark, line, LOSS_OPERATORS,
			    "its length precedes each line (octet counting)");
		else if (strcmp(word, "backing-file") == 0 ||
		         (strcmp(word, "format") == 0 &&
		             strncmp(arg, "rfc", 3) != 0))
			hap_lost(file, remark, line, LOSS_OPERATORS,
			    "syslog by TCP knows rfc=3164 and rfc=5424");
		hap_end_line(file);
	}
	return true;
}

/* Returns a target of log as lfproxy writes it, or NULL. */
static const char *
log_target(struct hap_file *file, const char *word)
{
	struct arena *arena = &file->doc->arena;
	const char *host, *port, *range;

	if (strcmp(word, "stdout") == 0 || strcmp(word, "fd@1") == 0)
		return "stdout";
	if (strcmp(word, "stderr") == 0 || strcmp(word, "fd@2") == 0)
		return "stderr";
	if (strcmp(word, "/dev/log") == 0)
		return "syslog";
	if (strncmp(word, "unix@", 5) == 0)
		word += 5;
	if (strncmp(word, "udp@", 4) == 0)
		word += 4;
	if (word[0] == '/')
		return arena_printf(arena, "syslog=unix:%s", word);
	if (strncmp(word, "ring@", 5) == 0)
		return ring_target(file, word + 5);
	if (strchr(word, '@'))
		return NULL;
	hap_split_address(arena, word, &host, &port);
	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (!*host || (!strchr(host, '$') && strchr(host, ':') &&
	                  !value_range(arena, host, &range)))
		return NULL;
	return arena_printf(arena,
	    strchr(host, ':') && !strchr(host, '$') ? "syslog=[%s]%s%s"
	                                            : "syslog=%s%s%s",
	    host, port ? ":" : "", port ? port : "");
}

static bool
is_facility(const char *word)
{
	static const char *const names[] = {"kern", "user", "mail", "daemon",
	    "auth", "syslog", "lpr", "news", "uucp", "cron", "auth2", "ftp",
	    "ntp", "audit", "alert", "cron2", "local0", "local1", "local2",
	    "local3", "local4", "local5", "local6", "local7"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(word, names[i]) == 0)
			return true;
	return false;
}

static bool
is_level(const char *word)
{
	static const char *const names[] = {"emerg", "alert", "crit", "err",
	    "error", "warning", "notice", "info", "debug"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(word, names[i]) == 0)
			return true;
	return false;
}

/* Returns the level of the messages that the target gets: `debug`, if the line
 * names none. */
static const char *
level_of(const struct hap_line *line)
{
	for (size_t i = 3; i < line->words.n && i < 9; i++)
		if (is_level(line->words.word[i]) &&
		    is_facility(line->words.word[i - 1]))
			return line->words.word[i];
	return "debug";
}

/* Returns whether the target gets only messages above the level info. */
static bool
is_above_info(const struct hap_line *line)
{
	return strcmp(level_of(line), "info") != 0 &&
	       strcmp(level_of(line), "debug") != 0;
}

/* Returns the options of the target; messages: without those that only the
 * access log has. */
static const char *
log_options(struct hap_file *file, const struct hap_line *line, bool syslog,
    bool messages)
{
	struct arena *arena = &file->doc->arena;
	struct arena_text text = {NULL, 0, 0};
	const struct words *words = &line->words;

	arena_text_add(arena, &text, "", 0);
	if (syslog && ring_has_format(file, line, "rfc5424"))
		arena_text_printf(arena, &text, " rfc=5424");
	for (size_t i = 2; i < words->n; i++) {
		const char *word = words->word[i];
		const char *arg = i + 1 < words->n ? words->word[i + 1] : "";
		bool pair = strcmp(word, "sample") == 0 ||
		            strcmp(word, "format") == 0 ||
		            strcmp(word, "len") == 0;

		if (pair || is_facility(word) || is_level(word))
			(void)words_get(words, i);
		if (pair)
			(void)words_get(words, i + 1);
		if (strcmp(word, "sample") == 0 && messages)
			continue;
		if (strcmp(word, "sample") == 0 && strncmp(arg, "1:", 2) == 0)
			arena_text_printf(
			    arena, &text, " sample=1/%s", arg + 2);
		else if (strcmp(arg, "rfc5424") == 0 && syslog)
			arena_text_printf(arena, &text, " rfc=5424");
		else if (is_facility(word) && syslog)
			arena_text_printf(arena, &text, " facility=%s",
			    strcmp(word, "auth2") == 0 ? "authpriv" : word);
	}
	if (file->log_tag && syslog && doc_word(file->doc, file->log_tag))
		arena_text_printf(arena, &text, " tag=%.32s", file->log_tag);
	return text.data;
}

/* Writes that messages for operators go to the target as well. */
static void
put_messages(
    struct hap_file *file, const struct hap_line *line, const char *target)
{
	struct document *doc = file->doc;
	const char *value = arena_printf(
	    &doc->arena, "%s%s", target, log_options(file, line, true, true));

	if (is_above_info(line) && strcmp(level_of(line), "notice") != 0)
		hap_lost(file, file->global, line, LOSS_OPERATORS,
		    "the target gets messages of every level");
	if (words_has(&file->message_targets, value) ||
	    file->message_targets.n == 8)
		return;
	words_add(&doc->arena, &file->message_targets, value);
	doc_key(doc, file->global, "log_messages", "%s", value);
}

void
hap_log(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line)
{
	const char *word = hap_word(line, 1), *target, *options;
	bool global = section == file->global, syslog;

	if (strcmp(word, "global") == 0 || line->words.n < 2)
		return;
	if (strncmp(section->head ? section->head : "", "backend ", 8) == 0) {
		hap_lost(file, section, line, LOSS_OPERATORS,
		    "what happens to servers is written to standard error");
		return;
	}
	target = log_target(file, word);
	if (!target || !doc_word(file->doc, target)) {
		hap_lost(file, section, line, LOSS_OPERATORS,
		    "logs go to standard error, files, and syslog by UDP, TCP "
		    "or a socket; write log = TARGET");
		return;
	}
	syslog = strncmp(target, "syslog", 6) == 0;
	if (global && syslog)
		put_messages(file, line, target);
	if (is_above_info(line) && global && syslog)
		return;
	if (is_above_info(line)) {
		hap_lost(file, section, line, LOSS_OPERATORS,
		    "lines of the access log have the level info, and go to "
		    "the other targets");
		return;
	}
	options = log_options(file, line, syslog, false);
	/* HAProxy may have a second line for another level, which is the same
	 * target here. */
	target = arena_printf(&file->doc->arena, "%s%s", target, options);
	if (global && words_has(&file->log_targets, target))
		return;
	if (global)
		words_add(&file->doc->arena, &file->log_targets, target);
	doc_key(file->doc, section, "log", "%s", target);
	file->logs |= global;
}
