/* SPDX-License-Identifier: MIT
 * See expand.h.
 */
#include "config/expand.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/secrets.h"

#define BLANKS       " \t"
#define LETTERS      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define NAME_LETTERS LETTERS "0123456789"
#define OPENING      "${"
#define FILE_WORD    "file:"
#define LITERAL_HINT "write $${ for a literal ${"

/* The text so far.  len ends with the room; written goes on, for the error. */
struct result {
	char *text;
	size_t len;
	size_t written; /* as expand_length has it */
	char last;
};

static void
append_bytes(struct result *r, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (r->len < EXPAND_SIZE - 1)
			r->text[r->len++] = from[i];
		r->written += from[i] == '{' && r->last == '$' ? 2 : 1;
		r->last = from[i];
	}
}

/* Values that may hold a password: the whole value, or one option of it. */
static const struct {
	const char *key, *option;
} passwords[] = {
    {"check_step", NULL},
    {"check_header", NULL},
    {"check_command", NULL},
    {"check", "user="},
    {"agent", "send="},
    {"server", "agent_send="},
    {"server_defaults", "agent_send="},
    {"servers", "agent_send="},
    {"servers", "token="},
};

/* Returns whether `at`, a place in the key's text, is within a password. */
static bool
is_password(const char *key, const char *text, const char *at)
{
	const char *word = at;

	while (word > text && !strchr(BLANKS, word[-1]))
		word--;
	for (size_t i = 0; i < sizeof(passwords) / sizeof(passwords[0]); i++) {
		const char *option = passwords[i].option;

		if (strcmp(key, passwords[i].key) == 0 &&
		    (!option || strncmp(word, option, strlen(option)) == 0))
			return true;
	}
	return false;
}

static bool
append_value(struct result *r, const char *what, const char *name,
    const char *value, struct err *err)
{
	for (const char *c = value; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
			return err_set(err,
			    "the %s %s has the control character 0x%02x; only "
			    "printable text is allowed",
			    what, name, (unsigned char)*c);
	append_bytes(r, value, strlen(value));
	return true;
}

static bool
keep_secret(const char *value, const char *inner, size_t len,
    const char *open_path, struct err *err)
{
	char source[DRAFT_VALUE_MAX * 2];

	snprintf(source, sizeof(source), OPENING "%.*s}", (int)len, inner);
	return secrets_add(value, source, open_path) || err_oom(err);
}

static bool
keep_secret_variable(const char *name, const char *value, const char *inner,
    size_t len, struct err *err)
{
	return keep_secret(value, inner, len, NULL, err) &&
	       (secrets_add_variable(name) || err_oom(err));
}

/* Reads the regular file into out, as text without its final line end. */
static bool
read_value_file(const char *path, char out[EXPAND_SIZE], struct stat *ret_stat,
    struct err *err)
{
	/* A FIFO would block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = -1;
	size_t len;

	if (fd < 0 || fstat(fd, ret_stat) < 0)
		err_set(err, "the file %s cannot be read: %s", path,
		    strerror(errno));
	else if (!S_ISREG(ret_stat->st_mode))
		err_set(err, "%s is not a regular file", path);
	else if ((n = read(fd, out, EXPAND_SIZE)) < 0)
		err_set(err, "the file %s cannot be read: %s", path,
		    strerror(errno));
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	if (n == EXPAND_SIZE)
		return err_set(err, "the file %s has more than %d characters",
		    path, DRAFT_VALUE_MAX);
	out[n] = '\0';
	len = strlen(out);
	if (len != (size_t)n)
		return err_set(err, "the file %s has the character NUL", path);
	if (len > 0 && out[len - 1] == '\n')
		out[--len] = '\0';
	if (len > 0 && out[len - 1] == '\r')
		out[--len] = '\0';
	return len > 0 || err_set(err, "the file %s is empty", path);
}

/* Returns whether `at` is between the quotes of a pattern, by the rules of
 * pattern.h. */
static bool
is_quoted(const char *key, const char *text, const char *at)
{
	bool quoted = false;

	if (strcmp(key, "check_header") == 0 ||
	    strcmp(key, "check_command") == 0)
		return false;
	for (; text < at; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
	}
	return quoted;
}

static void
escape_quoted(const char *text, char out[EXPAND_SIZE * 2])
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*out++ = '\\';
		*out++ = *text;
	}
	*out = '\0';
}

/* Appends the contents of the file in `file:/PATH`, the text in the braces. */
static bool
put_file(struct result *r, const char *inner, size_t len, bool quoted,
    struct err *err)
{
	char path[DRAFT_VALUE_MAX * 2], text[EXPAND_SIZE];
	char escaped[EXPAND_SIZE * 2];
	struct stat st;

	snprintf(path, sizeof(path), "%.*s", (int)(len - strlen(FILE_WORD)),
	    inner + strlen(FILE_WORD));
	if (!read_value_file(path, text, &st, err) ||
	    !keep_secret(
	        text, inner, len, st.st_mode & S_IROTH ? path : NULL, err))
		return false;
	if (!quoted || !strpbrk(text, "\"\\"))
		return append_value(r, "file", path, text, err);
	/* Mask both forms: the value has the escaped one, a server's answer the
	 * plain one. */
	escape_quoted(text, escaped);
	return keep_secret(escaped, inner, len, NULL, err) &&
	       append_value(r, "file", path, escaped, err);
}

/* Expands the text in the braces, which has len characters. */
static bool
put_braces(struct result *r, const char *inner, size_t len, bool secret,
    bool quoted, struct err *err)
{
	size_t name_len = strspn(inner, NAME_LETTERS);
	const char *rest = inner + name_len, *value;
	char name[DRAFT_VALUE_MAX * 2];
	bool has_default = strncmp(rest, ":-", 2) == 0;

	if (len > strlen(FILE_WORD) && strncmp(inner, FILE_WORD "/", 6) == 0)
		return put_file(r, inner, len, quoted, err);
	if (len == 0)
		return err_set(
		    err, "'${}' has no name; write ${NAME}, or " LITERAL_HINT);
	if (name_len == 0 || strspn(inner, LETTERS) == 0 ||
	    (name_len < len && !has_default) || name_len >= sizeof(name))
		return err_set(err,
		    "'%.*s' is not a variable; write ${NAME} or ${NAME:-TEXT} "
		    "with a name of letters, digits and _, or " LITERAL_HINT,
		    (int)len, inner);
	memcpy(name, inner, name_len);
	name[name_len] = '\0';
	rest += strlen(":-");
	if (has_default && memmem(rest, len - name_len - 2, OPENING, 2))
		return err_set(err,
		    "the text for a missing %s has a ${ of its own, which it "
		    "may not",
		    name);
	value = getenv(name);
	if (value && (*value || !has_default))
		return (!secret || keep_secret_variable(
		                       name, value, inner, len, err)) &&
		       append_value(r, "variable", name, value, err);
	if (!has_default)
		return err_set(err,
		    "the variable %s is not set; set it in the environment of "
		    "lfproxy, or write ${%s:-TEXT} for a TEXT without it",
		    name, name);
	append_bytes(r, rest, len - name_len - strlen(":-"));
	return true;
}

static bool
put_all(struct result *r, const char *key, const char *text, struct err *err)
{
	const char *whole = text;
	bool secret, quoted;

	while (*text) {
		const char *close;

		if (strncmp(text, "$" OPENING, 3) == 0) {
			append_bytes(r, OPENING, 2);
			text += 3;
			continue;
		}
		if (strncmp(text, OPENING, 2) != 0) {
			append_bytes(r, text++, 1);
			continue;
		}
		secret = is_password(key, whole, text);
		quoted = is_quoted(key, whole, text);
		text += 2;
		close = strchr(text, '}');
		if (!close)
			return err_set(err,
			    "'${%s' has no '}'; write ${NAME}, "
			    "or " LITERAL_HINT,
			    text);
		if (!put_braces(
		        r, text, (size_t)(close - text), secret, quoted, err))
			return false;
		text = close + 1;
	}
	return true;
}

/* Returns whether the text has a comment, which a line of a file would lose. */
static bool
has_comment(const char *text)
{
	const char *at = text;

	while ((at = strchr(at, ';'))) {
		if (at == text || strchr(BLANKS, at[-1]))
			return true;
		at++;
	}
	return false;
}

const char *
expand_value(
    const char *key, const char *text, char out[EXPAND_SIZE], struct err *err)
{
	struct result r = {.text = out};
	size_t blanks;

	if (!strstr(text, OPENING))
		return text;
	if (!put_all(&r, key, text, err))
		return NULL;
	if (r.written > DRAFT_VALUE_MAX) {
		err_set(err,
		    "the value has %zu characters with its variables filled "
		    "in; at most %d are allowed",
		    r.written, DRAFT_VALUE_MAX);
		return NULL;
	}
	while (r.len > 0 && strchr(BLANKS, out[r.len - 1]))
		r.len--;
	out[r.len] = '\0';
	blanks = strspn(out, BLANKS);
	memmove(out, out + blanks, r.len - blanks + 1);
	if (has_comment(out)) {
		err_set(err,
		    "'%s', with its variables filled in, has a ';' where a "
		    "comment begins; take it or the blank before it away",
		    out);
		return NULL;
	}
	return out;
}

size_t
expand_length(const char *value)
{
	size_t len = strlen(value);

	for (; (value = strstr(value, OPENING)); value += 2)
		len++;
	return len;
}

void
expand_print(const char *value, FILE *out)
{
	const char *source;
	size_t len;

	while (*value) {
		len = secret_at(value, &source);
		if (len > 0) {
			fputs(source, out);
			value += len;
		} else if (strncmp(value, OPENING, 2) == 0) {
			fputs("$" OPENING, out);
			value += 2;
		} else {
			fputc(*value++, out);
		}
	}
}
