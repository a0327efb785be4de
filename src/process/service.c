/* SPDX-License-Identifier: MIT
 * See service.h.
 */
#include "process/service.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/service_internal.h"

#define ASK                                                                    \
	"exec systemctl show " SERVICE_UNIT                                    \
	" -p ExecStart,User,Group,DynamicUser,SupplementaryGroups,"            \
	"RootDirectory,RootImage,RuntimeDirectory,StateDirectory,"             \
	"LogsDirectory,CacheDirectory,ProtectSystem,ProtectHome,PrivateTmp,"   \
	"ReadWritePaths,ReadOnlyPaths,InaccessiblePaths,LimitNOFILE,"          \
	"CapabilityBoundingSet,AmbientCapabilities 2>/dev/null"
#define ANSWER_MAX  65536
#define CREDENTIALS "/run/credentials/" SERVICE_UNIT

const char *
service_property(const struct service *service, const char *name)
{
	const char *end = service->text + service->len;
	size_t len = strlen(name);

	for (const char *at = service->text; at < end; at += strlen(at) + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return at + len + 1;
	return "";
}

bool
service_word(const char **list, char *out, size_t size)
{
	const char *word = *list + strspn(*list, " \t");
	size_t len = strcspn(word, " \t");

	*list = word + len;
	snprintf(out, size, "%.*s", (int)len, word);
	return len > 0;
}

bool
service_is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 &&
	       (path[len] == '/' || path[len] == '\0');
}

/* Reads what systemctl says.  Lines become texts. */
static void
ask_systemd(struct service *service)
{
	char *text = malloc(ANSWER_MAX);
	FILE *answer = text ? popen(ASK, "re") : NULL;
	size_t n = answer ? fread(text, 1, ANSWER_MAX - 1, answer) : 0;

	if (!answer || pclose(answer) != 0 || n == 0) {
		free(text);
		return;
	}
	text[n] = '\0';
	for (char *at = text; (at = strchr(at, '\n')); at++)
		*at = '\0';
	*service = (struct service){.text = text, .len = n};
}

static bool
is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* Returns whether a word of ExecStart= is one of the files. */
static bool
starts_with_files(
    const struct service *service, const char *const *files, size_t n)
{
	const char *at = service_property(service, "ExecStart");
	char word[PATH_MAX];

	while (service_word(&at, word, sizeof(word)))
		for (size_t i = 0; word[0] == '/' && i < n; i++)
			if (is_same_file(word, files[i]))
				return true;
	return false;
}

/* Returns whether this process can be as the unit's are: the user of
 * DynamicUser= exists only while the unit runs, and another root directory has
 * other files. */
static bool
can_be_tried(const struct service *service)
{
	return strcmp(service_property(service, "DynamicUser"), "yes") != 0 &&
	       !*service_property(service, "RootDirectory") &&
	       !*service_property(service, "RootImage");
}

void
service_find(const char *const *files, size_t n, struct service *ret_service)
{
	*ret_service = (struct service){.text = NULL};
	if (geteuid() != 0)
		return;
	ask_systemd(ret_service);
	if (!ret_service->text)
		return;
	if (!starts_with_files(ret_service, files, n) ||
	    !can_be_tried(ret_service))
		service_fini(ret_service);
	else if (access(CREDENTIALS, F_OK) == 0)
		(void)setenv("CREDENTIALS_DIRECTORY", CREDENTIALS, 0);
}

void
service_fini(struct service *service)
{
	free(service->text);
	*service = (struct service){.text = NULL};
}
