/* SPDX-License-Identifier: MIT
 * See serve_check.h.
 */
#include "import/serve_check.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Becomes the service's user.  Returns false, with errno set, if that fails. */
static bool
become_service(void)
{
	const struct passwd *user = getpwnam(SERVE_USER);

	if (geteuid() != 0 || !user)
		return true;
	return initgroups(SERVE_USER, user->pw_gid) == 0 &&
	       setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0;
}

/* Replaces this process by lfproxy. */
static void
run_lfproxy(const char *path)
{
	char beside[PATH_MAX];
	ssize_t n = readlink(
	    "/proc/self/exe", beside, sizeof(beside) - strlen("lfproxy") - 1);
	char *slash = NULL;

	if (n > 0) {
		beside[n] = '\0';
		slash = strrchr(beside, '/');
	}
	if (!become_service())
		return;
	if (slash) {
		strcpy(slash + 1, "lfproxy");
		execl(beside, "lfproxy", "-t", "-c", path, (char *)NULL);
	}
	execlp("lfproxy", "lfproxy", "-t", "-c", path, (char *)NULL);
}

/* Runs lfproxy with its messages to this process's standard error.  Returns its
 * exit status, or -errno. */
static int
ask(const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		run_lfproxy(path);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static bool
write_file(int fd, const char *text, size_t n)
{
	FILE *out = fdopen(fd, "w");
	bool done;

	if (!out) {
		close(fd);
		return false;
	}
	done = fchmod(fd, 0644) == 0 && fwrite(text, 1, n, out) == n;
	return (fclose(out) == 0) & done;
}

bool
serve_check(const char *text, size_t n, FILE *errors)
{
	char path[] = "/tmp/lfproxy-import-XXXXXX";
	int fd = mkstemp(path), status = -1;

	fflush(errors);
	if (fd >= 0 && write_file(fd, text, n))
		status = ask(path);
	else
		status = -errno;
	if (fd >= 0)
		unlink(path);
	if (status < 0 || status == 127)
		fprintf(errors, "lfproxyctl: cannot run lfproxy -t: %s\n",
		    status < 0 ? strerror(-status) : "no such program");
	else if (status != 0)
		fprintf(errors,
		    "lfproxyctl: the service would not start with the result; "
		    "without --serve-check it is written all the same\n");
	return status == 0;
}
