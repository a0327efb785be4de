/* SPDX-License-Identifier: MIT
 * A configuration of HAProxy as it was read, and the state of its conversion.
 * For the files haproxy*.c only.
 */
#ifndef IMPORT_HAPROXY_H
#define IMPORT_HAPROXY_H

#include "base/err.h"
#include "import/document.h"
#include "import/import.h"
#include "import/tls_sections.h"
#include "import/value.h"

/* A line that is not empty; n may be 0 for a line that is a comment. */
struct hap_line {
	unsigned line;
	struct ledger_row *row;
	struct words words;
	const char *text;    /* as written, without the comment */
	const char *comment; /* behind '#', or NULL */
	const char *reason;  /* why it is left out by .if, or NULL */
	bool inherited;      /* from the proxy's defaults section */
	bool unknown;        /* an .if whose condition cannot be evaluated */
};

struct hap_lines {
	struct hap_line *all;
	size_t n;
};

struct hap_section {
	struct hap_line head;
	struct hap_lines lines;
	const struct hap_section *defaults; /* of a proxy, or NULL */
	const char *name;                   /* of its backend, or NULL yet */
};

struct hap_file {
	struct document *doc;
	const struct import_source *source;
	const char *name; /* base name of the file */
	FILE *errors;
	struct hap_section *sections;
	size_t n;
	struct words set; /* NAME=VALUE of setenv and presetenv */
	struct tls_sections tls;
	/* Facts of the global section. */
	struct ini_section *global;
	const char *ca_base, *crt_base;
	const struct hap_line *bind_options, *bind_ciphers, *bind_suites,
	    *bind_curves, *server_options, *server_ciphers, *server_suites;
	const char *spread; /* percent, or NULL */
	const char *log_tag, *stats_timeout;
	struct words pool_keys, log_targets, message_targets, listens;
	struct words lists; /* PATH, NAME of each [list] made of a file */
	bool servers_unverified;
	bool lax_limits;   /* the section ends with `no strict-limits` */
	bool logs;         /* global has a log line that is kept */
	bool has_http;     /* the http key is written */
	bool told_retries; /* the default of redispatch is reported */
	bool one_defaults; /* [defaults] has the only such section */
	struct ini_section *defaults, *resolver;
	size_t n_frontends, n_backends;
};

/* Splits the text into sections.  Returns false, with a message, if it cannot
 * be parsed. */
bool hap_read(struct hap_file *file) MUST_CHECK;

enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };

/* haproxy_if.c: evaluates the condition of the line `.if` or `.elif`, with the
 * variables that the file has set so far and the environment. */
enum truth hap_evaluate(struct hap_file *file, const struct hap_line *line);

/* A proxy that is being converted. */
struct hap_proxy {
	struct hap_file *file;
	const struct hap_section *section;
	struct hap_lines lines; /* inherited ones first */
	bool has_frontend, has_backend, http;
	const char *name; /* for the frontend, and for the backend */
	struct ini_section *fe, *be;
	struct hap_acl *acls;
	struct hap_rule *rules, **last_rule;
	struct words binds; /* options of every listen */
	const char *backlog, *hello;
	struct words proxy_from; /* of expect-proxy */
	struct words keepalive;  /* "listen", "server": which have it */
	struct words be_keys;    /* of the backend, set by servers */
	const char *default_backend;
	const struct hap_line *default_line;
	size_t n_binds, n_servers;
	bool checks; /* some server is checked */
	/* The options of checks that are over TLS where sessions are not, or
	 * NULL. */
	const char *check_tls;
	bool check_port; /* the check names a port */
	bool logs;       /* has a log line */
	bool content;    /* has rules that look at a hello */
	bool has_target; /* the frontend has a backend */
};

/* Returns the place of the line. */
struct origin hap_at(const struct hap_file *file, const struct hap_line *line);

/* Returns the i-th word of the line, or "". */
const char *hap_word(const struct hap_line *line, size_t i);

/* Reports the line as lost.  An inherited line is reported once. */
void hap_lost(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line, enum loss loss, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Does the same for words of the line. */
void hap_lost_words(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line, enum loss loss, const char *words,
    const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Returns whether the line has the words, which have single blanks, from word
 * `first` on. */
bool hap_begins(const struct hap_line *line, size_t first, const char *words);
/* Returns the last line of the proxy that begins with the words, or NULL; `no
 * option x` hides `option x`. */
const struct hap_line *hap_find(
    const struct hap_proxy *proxy, const char *words);

/* Returns the section of a proxy that has a backend of that name, or NULL. */
const struct hap_section *hap_find_backend(
    const struct hap_file *file, const char *name);

/* Returns the name that the backend has in lfproxy. */
const char *hap_backend_name(struct hap_file *file, const char *name);

/* Returns whether the proxy section is in HTTP mode. */
bool hap_is_http(const struct hap_section *section);

/* haproxy_address.c: splits HOST:PORT, with an IPv6 host in brackets or not.
 * *ret_port is NULL without a port. */
void hap_split_address(struct arena *arena, const char *word,
    const char **ret_host, const char **ret_port);
/* Returns the address of a server as lfproxy writes it, or NULL with the reason
 * if lfproxy does not support it. */
const char *hap_server_address(
    struct arena *arena, const char *word, const char **ret_reason);
/* Does the same for the address of a bind. */
const char *hap_listen_address(
    struct arena *arena, const char *word, const char **ret_reason);

/* haproxy_tls.c: collects the words of bind and server that are about TLS. */
struct hap_tls {
	bool on;
	struct arena_text lines; /* of the section */
	struct words lost;       /* words, each with its reason behind it */
	const char *verify, *ca, *min, *max, *sni, *name, *alpn, *ciphers,
	    *suites, *curves, *crl;
	const char *first_cert;
	bool ignores_errors, no_tickets, strict, clients_differ;
};
/* Takes the word at line->words[*i] and its arguments.  Returns false if it is
 * not about TLS. */
bool hap_tls_word(struct hap_file *file, struct hap_tls *tls, bool bind,
    const struct words *words, size_t *i);
/* Returns the path, below the base folder unless that is NULL. */
const char *hap_path(struct hap_file *file, const char *base, const char *path);
/* Returns the name of the [tls] section with the settings. */
const char *hap_tls_section(
    struct hap_file *file, struct hap_tls *tls, bool bind, const char *want);

/* haproxy_words.c: reports a keyword that has no counterpart.  Returns false if
 * the keyword is unknown. */
bool hap_report_keyword(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line, bool http);

/* Takes a line that all sections treat alike: comments, conditional blocks.
 * Keeps the comment at the end of another line for the lines that are made of
 * it. */
bool hap_common_line(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line);
/* Ends a line: its comment precedes the next line if it was not used. */
void hap_end_line(struct hap_file *file);

/* -- haproxy_global.c: the sections that are not proxies -- */

/* Converts [global]. */
void hap_global(struct hap_file *file, const struct hap_section *section);
/* Converts a resolvers section. */
void hap_resolvers(struct hap_file *file, const struct hap_section *section);
/* Converts a proxy that has nothing but the statistics page. */
void hap_stats_page(struct hap_proxy *proxy);
/* haproxy_log.c: converts a log line of a section. */
void hap_log(struct hap_file *file, struct ini_section *section,
    const struct hap_line *line);
/* Converts a ring that is syslog over TCP.  Returns false for others. */
bool hap_ring(struct hap_file *file, const struct hap_section *ring);

/* haproxy_keys.c: converts a line that is a key by itself.  Returns false for
 * others. */
bool hap_simple_key(struct hap_proxy *proxy, const struct hap_line *line);
/* Converts a defaults section to [defaults], for both kinds of proxy. */
void hap_defaults(struct hap_file *file, const struct hap_section *section);
/* Writes keys for what HAProxy does without a line. */
void hap_missing_keys(struct hap_proxy *proxy);

/* Converts a line with `no` before a key.  Returns what hap_simple_key does. */
bool hap_no_option(struct hap_proxy *proxy, const struct hap_line *line);
/* Notes the options of listen and server that are given by other lines. */
void hap_scan_keys(struct hap_proxy *proxy);

/* haproxy_bind.c: converts a bind line. */
void hap_bind(struct hap_proxy *proxy, const struct hap_line *line);
/* haproxy_server.c: converts a server line. */
void hap_server(struct hap_proxy *proxy, const struct hap_line *line);
/* haproxy_check_tls.c: notes whether servers of the backend have checks, and
 * whether these are over TLS where sessions are not. */
void hap_scan_checks(struct hap_proxy *proxy);
/* Reads `source ADDRESS ...` at words[*i].  Returns the value, or NULL if the
 * kernel chooses. */
const char *hap_source(struct hap_proxy *proxy, const struct words *words,
    size_t *i, const char **ret_interface);
/* haproxy_check.c: writes the check of a backend. */
void hap_check(struct hap_proxy *proxy);
/* Returns whether the line is about checks, and so is reported by hap_check. */
bool hap_is_check_line(const struct hap_line *line);
/* haproxy_balance.c: converts a line about balancing.  Returns false for
 * others. */
bool hap_balance(struct hap_proxy *proxy, const struct hap_line *line);

/* haproxy_rules.c: reads acl, tcp-request, use_backend and default_backend.
 * Returns false for other lines. */
bool hap_rule(struct hap_proxy *proxy, const struct hap_line *line);
/* Writes the rules of the proxy, once all of its lines were read. */
void hap_write_rules(struct hap_proxy *proxy);

#endif
