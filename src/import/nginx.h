/* SPDX-License-Identifier: MIT
 * A configuration of nginx as it was read, and the state of its conversion.
 * For the files nginx*.c only.
 */
#ifndef IMPORT_NGINX_H
#define IMPORT_NGINX_H

#include "base/err.h"
#include "import/document.h"
#include "import/import.h"
#include "import/tls_sections.h"
#include "import/value.h"

/* A directive, with the contents of its braces; an item without words is a
 * comment. */
struct ngx_item {
	struct words words;
	const char *file; /* base name */
	unsigned line;
	struct ledger_row *row;
	const char *text; /* the words, or the comment */
	bool is_block;
	struct ngx_item *children;
	size_t n;
};

struct ngx_file {
	struct document *doc;
	const struct import_source *source;
	FILE *errors;
	const char *dir; /* of the file, with its slash */
	struct ngx_item top;
	const struct ngx_item *stream; /* whose server is being converted */
	struct words files;            /* that were read */
	struct tls_sections tls;
	struct ini_section *global, *defaults, *resolver;
	struct ngx_backend *backends;
	struct words listens; /* addresses that are taken */
	const char *processes, *connections;
	bool logs;
	bool told_versions; /* the default of ssl_protocols is reported */
	size_t n_frontends;
};

/* nginx_read.c: reads the file, and the files that it includes.  Returns false,
 * with a message, if one cannot be parsed. */
bool ngx_read(struct ngx_file *file) MUST_CHECK;

/* Returns the i-th word of the directive, or "". */
const char *ngx_word(const struct ngx_item *item, size_t i);
/* Returns whether the directive has that name. */
bool ngx_is(const struct ngx_item *item, const char *name);
/* Returns the last directive of that name in the block, or NULL. */
const struct ngx_item *ngx_find(const struct ngx_item *block, const char *name);
/* Does the same for the server, or else for the stream that it is in. */
const struct ngx_item *ngx_setting(const struct ngx_file *file,
    const struct ngx_item *server, const char *name);
/* Returns whether that directive is `on`. */
bool ngx_is_on(const struct ngx_file *file, const struct ngx_item *server,
    const char *name);
/* Notes that the contents of the block differ as the block does. */
void ngx_lose_block(const struct ngx_item *block, enum loss loss);
/* Reports the directive, or words of it, as lost.  Without words, so is
 * everything in its block. */
void ngx_lost(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *item, enum loss loss, const char *words,
    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Reports a directive without a counterpart, by its name. */
void ngx_report(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *item);
/* Returns whether the directive is one that servers and streams share, and that
 * is read where it is needed. */
bool ngx_is_setting(const struct ngx_item *item);
/* Returns a path of the configuration, which is relative to the file's
 * folder. */
const char *ngx_path(struct ngx_file *file, const char *path);
/* Returns the time of a directive as lfproxy writes it, or `otherwise`. */
const char *ngx_time(
    struct ngx_file *file, const struct ngx_item *item, const char *otherwise);

/* nginx_upstream.c: returns the backend for a target (an upstream or an
 * address) with the settings of the server, or NULL with the reason if there is
 * none. */
const char *ngx_backend(struct ngx_file *file, const struct ngx_item *server,
    const char *target, const char **ret_reason);
/* Returns whether the target, without its port, is a host's name, or an
 * upstream that has a server with one. */
bool ngx_has_names(const struct ngx_file *file, const char *target);
/* Writes the upstream's backend, at the place of the upstream. */
void ngx_upstream(struct ngx_file *file, const struct ngx_item *item);

/* -- nginx_tls.c -- */

/* Returns the name of the [tls] section for a listen. */
const char *ngx_listen_tls(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *server, const char *want);
/* Returns the name of the [tls] section for the servers of a block; host is
 * that of proxy_pass. */
const char *ngx_server_tls(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *server, const char *want, const char *host);

/* nginx_unused.c: marks what has no effect in the stream that was converted. */
void ngx_mark_unused(const struct ngx_file *file);

/* nginx_route.c: writes the routes and the backend for a proxy_pass.  Returns
 * how many lines it has written. */
size_t ngx_routes(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *server, const struct ngx_item *pass);

/* nginx_server.c: converts a server block. */
void ngx_server(struct ngx_file *file, const struct ngx_item *server);
/* Converts an access_log directive. */
void ngx_log(struct ngx_file *file, struct ini_section *section,
    const struct ngx_item *item);

#endif
