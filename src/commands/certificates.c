/* SPDX-License-Identifier: MIT
 * See certificates.h.
 */
#include "commands/certificates.h"

#include <inttypes.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "model/model.h"

#define LINE_END '|'
/* A line with it fits into a message of an upgrade. */
#define PIECE_MAX 3000

void
certificates_each(const struct tls_spec *tls,
    void (*replaced)(void *arg, const struct tls_replaced *r), void *arg)
{
	/* A command replaces the content in both roles. */
	const struct tls_context *context = tls->context[TLS_ACCEPTS]
	                                        ? tls->context[TLS_ACCEPTS]
	                                        : tls->context[TLS_CONNECTS];

	if (context)
		tls_replaced_each(context, replaced, arg);
}

/* -- writing -- */

struct writing {
	const struct tls_spec *tls;
	FILE *out;
};

static void
write_piece(const char *pem, size_t n, FILE *out)
{
	fputs(CERTIFICATES_LINE "pem=", out);
	for (size_t i = 0; i < n; i++)
		putc(pem[i] == '\n' ? LINE_END : pem[i], out);
	putc('\n', out);
}

static void
write_replaced(void *arg, const struct tls_replaced *r)
{
	const struct writing *w = arg;
	BIO *pem = tls_replaced_pem(r);
	char *text;
	size_t n = pem ? (size_t)BIO_get_mem_data(pem, &text) : 0;

	for (size_t at = 0; at < n; at += PIECE_MAX)
		write_piece(
		    text + at, n - at < PIECE_MAX ? n - at : PIECE_MAX, w->out);
	if (n > 0)
		fprintf(w->out,
		    CERTIFICATES_LINE "section=%s\twhat=%s\tfile=%s\tbase="
		                      "%016" PRIx64 "\n",
		    w->tls->name, r->what, r->file, r->base);
	BIO_free(pem);
}

void
certificates_write(const struct command_env *env, FILE *out)
{
	const struct spec *spec = env->instance->model->spec;

	for (size_t i = 0; i < spec->tls_n; i++)
		certificates_each(&spec->tls[i], write_replaced,
		    &(struct writing){&spec->tls[i], out});
}

/* -- reading -- */

/* The content of the pieces that were read; OpenSSL's memory. */
static char *content;
static size_t content_n;

static void
forget_content(void)
{
	OPENSSL_clear_free(content, content_n);
	content = NULL;
	content_n = 0;
}

static void
read_piece(const char *piece)
{
	size_t n = strcspn(piece, "\t\n");
	char *grown = OPENSSL_clear_realloc(
	    content, content_n, content ? content_n + n : n + 1);

	if (!grown)
		return;
	content_n = content ? content_n + n : n + 1;
	content = grown;
	memcpy(content + content_n - 1 - n, piece, n);
	content[content_n - 1] = '\0';
	for (char *c = content + content_n - 1 - n; *c; c++)
		if (*c == LINE_END)
			*c = '\n';
}

static bool
restore(const struct spec *spec, const char *section, const char *what,
    const char *file, uint64_t base, struct err *err)
{
	bool found = false;

	for (size_t i = 0; i < spec->tls_n; i++) {
		const struct tls_spec *tls = &spec->tls[i];

		for (enum tls_role role = 0; role < TLS_ROLES; role++) {
			if (!tls->context[role] ||
			    strcmp(tls->name, section) != 0)
				continue;
			found = true;
			if (!tls_replaced_restore(tls->context[role], what,
			        file, base, content, err))
				return false;
		}
	}
	return found || err_set(err, "nothing uses the section");
}

void
certificates_read(const struct command_env *env, char *line)
{
	const char *pem = strstr(line, "\tpem=");
	char section[80], what[16], file[LATER_LINE_MAX], base[20];
	struct err err;

	if (pem) {
		read_piece(pem + strlen("\tpem="));
		return;
	}
	if (content && later_text(line, "section", section, sizeof(section)) &&
	    later_text(line, "what", what, sizeof(what)) &&
	    later_text(line, "file", file, sizeof(file)) &&
	    later_text(line, "base", base, sizeof(base)) &&
	    !restore(env->instance->model->spec, section, what, file,
	        strtoull(base, NULL, 16), &err))
		log_warning(
		    "tls %s: %s '%s' is from its file, and no longer as it was "
		    "set by a command: %s",
		    section, what, file, err.text);
	forget_content();
}
