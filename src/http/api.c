/* SPDX-License-Identifier: MIT
 * See api.h.
 */
#include "http/api.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text_out.h"
#include "commands/command.h"

#define SHOW "show "

bool
api_has(const char *path)
{
	return strncmp(path, API_PREFIX, sizeof(API_PREFIX) - 1) == 0 ||
	       strcmp(path, "/api/v1") == 0;
}

/* Returns the words behind `show`, or NULL if the command is not in the API. */
static const char *
shown_words(const struct command *command)
{
	if (strncmp(command->words, SHOW, sizeof(SHOW) - 1) != 0 ||
	    !strstr(command->usage, "json"))
		return NULL;
	return command->words + sizeof(SHOW) - 1;
}

/* Writes the words as the name in a path. */
static void
put_path_name(const char *words, FILE *out)
{
	for (; *words; words++)
		putc(*words == ' ' ? '-' : *words, out);
}

/* Returns whether the first n bytes of the path are the name. */
static bool
is_command_name(const char *words, const char *path, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((words[i] == ' ' ? '-' : words[i]) != path[i])
			return false;
	return words[n] == '\0';
}

static const struct command *
find_shown(const char *path, size_t n)
{
	for (size_t i = 0; i < commands_n; i++) {
		const char *words = shown_words(&commands[i]);

		if (words && is_command_name(words, path, n))
			return &commands[i];
	}
	return NULL;
}

static unsigned
put_error(FILE *out, unsigned status, const char *text)
{
	size_t n = strlen(text);
	char *copy = strndup(text, n > 0 && text[n - 1] == '\n' ? n - 1 : n);

	fputs("{\"error\":", out);
	escape_json_put(copy ? copy : "out of memory", out);
	fputs("}\n", out);
	free(copy);
	return status;
}

/* -- what there is -- */

static void
put_paths(FILE *out)
{
	const char *separator = "";

	fputs("{\"version\":1,\"paths\":[", out);
	for (size_t i = 0; i < commands_n; i++) {
		const char *words = shown_words(&commands[i]);

		if (!words)
			continue;
		fprintf(out, "%s\n{\"path\":\"" API_PREFIX, separator);
		put_path_name(words, out);
		fputs("\",\"words\":", out);
		escape_json_put(commands[i].usage, out);
		fputs(",\"about\":", out);
		escape_json_put(commands[i].help, out);
		fprintf(out, ",\"level\":\"%s\"}",
		    command_level_name(commands[i].level));
		separator = ",";
	}
	fputs("]}\n", out);
}

/* Writes the path of a command.  with_words: the path with further words behind
 * the name. */
static void
put_openapi_path(const struct command *command, bool with_words,
    const char *separator, FILE *out)
{
	fprintf(out, "%s\n\"" API_PREFIX, separator);
	put_path_name(shown_words(command), out);
	fprintf(out, "%s\":{\"get\":{\"operationId\":\"",
	    with_words ? "/{words}" : "");
	put_path_name(command->words, out);
	fprintf(out, "%s\",\"summary\":", with_words ? "-of" : "");
	escape_json_put(command->help, out);
	if (with_words) {
		fputs(",\"parameters\":[{\"name\":\"words\",\"in\":\"path\","
		      "\"required\":true,\"schema\":{\"type\":\"string\"},"
		      "\"description\":",
		    out);
		escape_json_put(command->usage, out);
		fputs("}]", out);
	}
	fputs(",\"responses\":{"
	      "\"200\":{\"description\":\"the answer\",\"content\":"
	      "{\"application/json\":{\"schema\":{}}}},"
	      "\"400\":{\"$ref\":\"#/components/responses/Error\"}",
	    out);
	if (command->level != LEVEL_USER)
		fputs(",\"403\":{\"$ref\":"
		      "\"#/components/responses/Error\"}",
		    out);
	fputs("}}}", out);
}

static bool
takes_words(const struct command *command)
{
	return command->usage[0] == '[' && command->usage[1] == '<';
}

/* The paths that have other methods than GET. */
#define BODY_OF(properties, required)                                          \
	"\"requestBody\":{\"required\":true,\"content\":"                      \
	"{\"application/json\":{\"schema\":{\"type\":\"object\","              \
	"\"required\":[" required "],\"properties\":{" properties "}}}}}"
#define A_STRING "{\"type\":\"string\"}"
#define AN_ANSWER                                                              \
	"\"200\":{\"description\":\"the answer\",\"content\":"                 \
	"{\"application/json\":{\"schema\":{\"type\":\"object\"}}}}"
#define AN_ERROR(status)                                                       \
	",\"" status "\":{\"$ref\":\"#/components/responses/Error\"}"

static const char openapi_changes[] =
    ",\n\"" API_PREFIX "command\":{\"post\":{\"operationId\":\"command\","
    "\"summary\":\"runs a command of the admin socket\"," BODY_OF(
        "\"command\":" A_STRING ",\"payload\":" A_STRING,
        "\"command\"") ",\"responses\":{" AN_ANSWER AN_ERROR("400")
        AN_ERROR("401") AN_ERROR(
            "403") "}}}"
                   ",\n\"" API_PREFIX
                   "session\":{\"get\":{\"operationId\":\"session\","
                   "\"summary\":\"the user, and the user's "
                   "level\",\"responses\":{" AN_ANSWER
                   "}},\"post\":{\"operationId\":\"sign-in\",\"summary\":"
                   "\"signs in; the "
                   "answer sets a cookie\"," BODY_OF("\"user\":" A_STRING
                                                     ",\"password\":" A_STRING,
                       "\"user\",\"password\"") ",\"responses\":{" AN_ANSWER
                       AN_ERROR("400") AN_ERROR("401") AN_ERROR("403")
                           AN_ERROR("429") "}},"
                                           "\"delete\":{\"operationId\":\"sign-"
                                           "out\",\"summary\":\"signs out\","
                                           "\"responses\":{" AN_ANSWER AN_ERROR(
                                               "403") "}}}";

static void
put_openapi(FILE *out)
{
	const char *separator = "";

	fputs("{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"lfproxy\","
	      "\"description\":\"State and figures of "
	      "lfproxy\",\"version\":\"1\"},\"paths\":{",
	    out);
	for (size_t i = 0; i < commands_n; i++) {
		if (!shown_words(&commands[i]))
			continue;
		put_openapi_path(&commands[i], false, separator, out);
		separator = ",";
		if (takes_words(&commands[i]))
			put_openapi_path(&commands[i], true, separator, out);
	}
	fputs(openapi_changes, out);
	fputs("},\"components\":{\"responses\":{\"Error\":{\"description\":"
	      "\"why the request failed\",\"content\":{\"application/json\":"
	      "{\"schema\":{\"type\":\"object\",\"required\":[\"error\"],"
	      "\"properties\":{\"error\":{\"type\":\"string\"}}}}}}}}}\n",
	    out);
}

/* -- answers -- */

/* Returns whether the word has no character that means something to the parser
 * of commands. */
static bool
is_plain(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word <= ' ' || strchr(";<\\\"'#", *word))
			return false;
	return true;
}

void
api_add_word(struct api_words *words, const char *text, size_t n)
{
	size_t len = strlen(words->text);
	char word[API_LINE_SIZE];

	if (n == 0)
		return;
	if (n + 1 >= sizeof(words->text) - len) {
		words->refused = true;
		return;
	}
	memcpy(word, text, n);
	word[n] = '\0';
	n = MHD_http_unescape(word);
	words->refused |= n != strlen(word) || !is_plain(word);
	snprintf(words->text + len, sizeof(words->text) - len, " %s", word);
}

/* Makes the command line.  Returns false if it is too long. */
static bool
make_line(const struct command *command, const struct api_words *words,
    const struct api_words *arguments, char line[API_LINE_SIZE])
{
	const char *form = strstr(command->usage, "flat") ? "flat" : "json";
	int n = snprintf(line, API_LINE_SIZE, "%s%s%s %s", command->words,
	    words->text, arguments->text,
	    strstr(command->words, "json") ? "" : form);

	return n < API_LINE_SIZE;
}

static unsigned
run_shown(char *line, const struct command_env *env, enum admin_level level,
    FILE *out, struct answer_rest **ret_rest)
{
	struct command_mode mode = {.level = level,
	    .severity = SEVERITY_STATUS,
	    .peer.address = "http"};
	struct text_out answer;
	unsigned status = MHD_HTTP_OK;

	if (!text_out_open(&answer))
		return put_error(out, MHD_HTTP_INTERNAL_SERVER_ERROR,
		    "out of memory: no answer can be given");
	*ret_rest = command_run(env, &mode, line, NULL, answer.stream);
	if (!text_out_close(&answer)) {
		if (*ret_rest)
			(*ret_rest)->free(*ret_rest);
		*ret_rest = NULL;
		return put_error(out, MHD_HTTP_INTERNAL_SERVER_ERROR,
		    "out of memory: no answer can be given");
	}
	if (mode.failed)
		status = put_error(out, MHD_HTTP_BAD_REQUEST, answer.text);
	else
		fputs(answer.text, out);
	free(answer.text);
	return status;
}

unsigned
api_answer(const char *path, const struct api_words *arguments,
    const struct command_env *env, enum admin_level level, FILE *out,
    struct answer_rest **ret_rest)
{
	const char *name = path + strlen("/api/v1");
	struct api_words words = {.text = ""};
	size_t n;
	const struct command *command;
	char line[API_LINE_SIZE];

	name += *name == '/';
	n = strcspn(name, "/");
	if (!*name) {
		put_paths(out);
		return MHD_HTTP_OK;
	}
	if (strcmp(name, "openapi.json") == 0) {
		put_openapi(out);
		return MHD_HTTP_OK;
	}
	command = find_shown(name, n);
	if (!command)
		return put_error(out, MHD_HTTP_NOT_FOUND,
		    "unknown path; " API_PREFIX " lists the paths");
	if (command->level > level)
		return put_error(out, MHD_HTTP_FORBIDDEN,
		    command->level == LEVEL_ADMIN
		        ? "this needs the level admin"
		        : "this needs the level operator");
	while (name[n]) {
		name += n + 1;
		n = strcspn(name, "/");
		api_add_word(&words, name, n);
	}
	if (words.refused || arguments->refused ||
	    !make_line(command, &words, arguments, line))
		return put_error(out, MHD_HTTP_BAD_REQUEST,
		    "the words behind the name may not have blanks, quotes, or "
		    "any of ; < \\ #, nor be longer than 1 KB");
	return run_shown(line, env, level, out, ret_rest);
}
