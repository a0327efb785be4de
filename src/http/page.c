/* SPDX-License-Identifier: MIT
 * See page.h.
 */
#include "http/page.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/list.h"
#include "http/assets.h"
#include "stats/stat_columns.h"

void
page_put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			putc(*text, out);
		}
	}
}

/* -- the policy -- */

#define HASH_SIZE   32 /* SHA-256 */
#define POLICY_SIZE (400 + 2 * BASE64_SIZE(HASH_SIZE))

static void
hash_text(const char *text, char out[BASE64_SIZE(HASH_SIZE)])
{
	unsigned char hash[EVP_MAX_MD_SIZE];

	*out = '\0';
	if (EVP_Digest(text, strlen(text), hash, NULL, EVP_sha256(), NULL) == 1)
		base64_encode(hash, HASH_SIZE, out);
}

const char *
page_policy(void)
{
	static char policy[POLICY_SIZE];
	char style[BASE64_SIZE(HASH_SIZE)], script[BASE64_SIZE(HASH_SIZE)];

	if (*policy)
		return policy;
	hash_text(asset_page_css, style);
	hash_text(asset_page_js, script);
	snprintf(policy, sizeof(policy),
	    "default-src 'none'; style-src 'sha256-%s'; script-src "
	    "'sha256-%s'; connect-src 'self'; img-src data:; base-uri 'none'; "
	    "form-action 'none'; frame-ancestors 'none'",
	    style, script);
	return policy;
}

/* -- the table for those without script -- */

/* The columns of the table's head; their cells are these values of `show stat`,
 * joined by blanks. */
static const char *const cells[][2] = {{"pxname"}, {"svname"}, {"status"},
    {"scur"}, {"rate"}, {"qcur"}, {"stot"}, {"econ"}, {"addr"},
    {"check_status", "last_chk"}};

#define CELLS (sizeof(cells) / sizeof(cells[0]))

static void
put_cell(const char *name, const struct stat_row *row, FILE *out)
{
	for (size_t i = 0; i < stat_columns_n; i++) {
		struct field field;

		if (strcmp(stat_columns[i].name, name) != 0)
			continue;
		field = stat_column_read(&stat_columns[i], row);
		if (field.present)
			page_put_text(field.text, out);
		return;
	}
}

static void
put_page_row(struct stat_row row, const struct stat_facts *facts, FILE *out)
{
	row.facts = facts;
	fprintf(out, "<tr%s>", row.server ? "" : " class=\"proxy\"");
	for (size_t i = 0; i < CELLS; i++) {
		fputs("<td>", out);
		put_cell(cells[i][0], &row, out);
		if (cells[i][1]) {
			putc(' ', out);
			put_cell(cells[i][1], &row, out);
		}
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

/* -- the page -- */

struct page {
	struct answer_rest rest;
	const char *at; /* in the template */
	bool in_rows;
	struct stat_cursor cursor;
};

static void
put_asset(FILE *out, const char *text, size_t n)
{
	(void)fwrite(text, 1, n, out);
}

/* Returns whether the template goes on with that word, which is passed over. */
static bool
take_template_word(struct page *p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(p->at, word, n) != 0)
		return false;
	p->at += n;
	return true;
}

static bool
more_page(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct page *p = container_of(rest, struct page, rest);
	long begin = ftell(out);
	const char *next;

	if (p->in_rows) {
		const struct model *model = env->instance->model;
		struct stat_facts facts = stat_facts_read(env);
		struct stat_row row;

		while (stat_rows_next(model, &p->cursor, &row)) {
			put_page_row(row, &facts, out);
			if (ftell(out) - begin >= ANSWER_PART_SIZE)
				return true;
		}
		p->in_rows = false;
	}
	next = strstr(p->at, "{{");
	if (!next) {
		fputs(p->at, out);
		return false;
	}
	put_asset(out, p->at, (size_t)(next - p->at));
	p->at = next;
	if (take_template_word(p, "{{style}}"))
		fputs(asset_page_css, out);
	else if (take_template_word(p, "{{script}}"))
		fputs(asset_page_js, out);
	else
		p->in_rows = take_template_word(p, "{{rows}}");
	return true;
}

static void
free_page(struct answer_rest *rest)
{
	free(container_of(rest, struct page, rest));
}

struct answer_rest *
page_new(void)
{
	struct page *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->rest = (struct answer_rest){.more = more_page, .free = free_page};
	p->at = asset_page_html;
	return &p->rest;
}
