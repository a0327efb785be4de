/* SPDX-License-Identifier: MIT
 * Reads stored inputs through a fuzz target, without libFuzzer.
 *
 *   TARGET [-v] FILE-OR-DIRECTORY...
 *
 * Speaks TAP, one test for each file or directory.  A child reads them, so that
 * however it ends there is somebody to say which input it was, and what the end
 * of its standard error says.  -v: that is not held back.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

#define SAID_MAX 6000

static char *current; /* shared with the parent */
#define CURRENT_SIZE 4096

static size_t
replay_file(const char *path)
{
	struct stat st;
	uint8_t *data;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	snprintf(current, CURRENT_SIZE, "%s", path);
	ENSURE(fd >= 0 && fstat(fd, &st) == 0);
	/* As large as it is, so that a sanitizer sees who reads beyond it. */
	data = malloc((size_t)st.st_size + 1);
	data = realloc(data, st.st_size ? (size_t)st.st_size : 1);
	ENSURE(data && read(fd, data, (size_t)st.st_size) == st.st_size);
	close(fd);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	return 1;
}

static size_t
replay(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, alphasort);
	size_t replayed = 0;

	if (n < 0)
		return replay_file(path);
	for (int i = 0; i < n; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			replayed += replay_file(file);
		free(names[i]);
	}
	free(names);
	return replayed;
}

static int
replay_all(char **paths, int n)
{
	int failed = 0;

	printf("1..%d\n", n);
	fflush(stdout);
	for (int i = 0; i < n; i++) {
		size_t inputs = replay(paths[i]);

		failed |= inputs == 0;
		printf("%s %d - %zu inputs of %s\n", inputs ? "ok" : "not ok",
		    i + 1, inputs, paths[i]);
		fflush(stdout);
	}
	snprintf(current, CURRENT_SIZE, "the end of all inputs");
	return failed;
}

/* Why the child ended: the end of what it said, where reports stand. */
static void
tell_why(int status, int said)
{
	char text[SAID_MAX + 1];
	struct stat st;
	ssize_t n = 0;

	if (said >= 0 && fstat(said, &st) == 0)
		n = pread(said, text, SAID_MAX,
		    st.st_size > SAID_MAX ? st.st_size - SAID_MAX : 0);
	text[n > 0 ? n : 0] = '\0';
	fprintf(stderr, "%s\n%s: this input ends the process, status 0x%x\n",
	    text, current, (unsigned)status);
}

int
main(int argc, char **argv)
{
	int verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	int first = 1 + verbose, status = 0;
	int said = verbose ? -1 : memfd_create("stderr", MFD_CLOEXEC);
	pid_t child;

	if (argc <= first) {
		fprintf(
		    stderr, "usage: %s [-v] FILE-OR-DIRECTORY...\n", argv[0]);
		return 2;
	}
	current = mmap(NULL, CURRENT_SIZE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ENSURE(current != MAP_FAILED);
	child = fork();
	ENSURE(child >= 0);
	if (child == 0) {
		if (said >= 0)
			dup2(said, STDERR_FILENO);
		exit(replay_all(argv + first, argc - first));
	}
	ENSURE(waitpid(child, &status, 0) == child);
	if (status != 0)
		tell_why(status, said);
	return status != 0;
}
