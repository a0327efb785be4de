/* SPDX-License-Identifier: MIT
 * The configuration file, as `lfproxy -t` reads it.  What is taken, `-T` must
 * print as a file that is taken, and that prints the same.
 *
 * What stands behind the first form feed is a second file, which every pattern
 * of `include` finds; no other file is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"
#include "fuzz/fuzz.h"

/* This host's certificates take ten times as long to be read as all else. */
static void
trust_nobody(void)
{
	ENSURE(setenv("SSL_CERT_FILE", "/dev/null", 1) == 0);
	ENSURE(setenv("SSL_CERT_DIR", "/dev/null", 1) == 0);
}

#define SELF "/proc/self/fd/"

static char included[64]; /* the path of the second file, or "" */

int __wrap_glob(const char *pattern, int flags,
    int (*errfunc)(const char *, int), glob_t *found);
int __real_glob(const char *pattern, int flags,
    int (*errfunc)(const char *, int), glob_t *found);
int
__wrap_glob(const char *pattern, int flags, int (*errfunc)(const char *, int),
    glob_t *found)
{
	(void)pattern;
	return *included ? __real_glob(included, flags, errfunc, found)
	                 : GLOB_NOMATCH;
}

static bool loading;

/* While lfproxy looks, no other file of this host is there; the fuzzer's own
 * library looks as well. */
int __wrap_stat(const char *path, struct stat *st);
int __real_stat(const char *path, struct stat *st);
int
__wrap_stat(const char *path, struct stat *st)
{
	if (!loading || strncmp(path, SELF, strlen(SELF)) == 0)
		return __real_stat(path, st);
	errno = ENOENT;
	return -1;
}

/* Nor is one made, for keylog. */
int __wrap_open(const char *path, int flags, ...);
int __real_open(const char *path, int flags, ...);
int
__wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	if (!loading || strncmp(path, SELF, strlen(SELF)) == 0)
		return __real_open(path, flags, mode);
	errno = ENOENT;
	return -1;
}

static int
make_file(const void *text, size_t size, char path[64])
{
	int fd = memfd_create("ini", MFD_CLOEXEC);

	ENSURE(fd >= 0);
	ENSURE(write(fd, text, size) == (ssize_t)size);
	snprintf(path, 64, SELF "%d", fd);
	return fd;
}

static struct spec *
load(const void *text, size_t size)
{
	const char *feed = memchr(text, '\f', size);
	size_t first = feed ? (size_t)(feed - (const char *)text) : size;
	struct spec *spec = NULL;
	struct err_list errors;
	char path[64];
	int fd = make_file(text, first, path), second = -1;
	FILE *null = fopen("/dev/null", "w");

	ENSURE(null);
	included[0] = '\0';
	if (feed)
		second = make_file(feed + 1, size - first - 1, included);
	err_list_init(&errors);
	loading = true;
	if (config_load_all((const char *[]){path}, 1, NULL, &spec, &errors))
		ENSURE(spec && errors.n == 0);
	else
		ENSURE(errors.n > 0);
	loading = false;
	err_list_print(&errors, "", null);
	err_list_fini(&errors);
	fclose(null);
	if (second >= 0)
		close(second);
	close(fd);
	return spec;
}

static char *
print(const struct spec *spec, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	ENSURE(out);
	config_print(spec, out);
	ENSURE(fclose(out) == 0);
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec *spec, *again;
	char *text, *text_again;
	size_t n, n_again;

	trust_nobody();
	spec = load(data, size);
	if (!spec)
		return 0;
	text = print(spec, &n);
	again = load(text, n);
	if (!again)
		fwrite(text, 1, n, stderr);
	ENSURE(again);
	text_again = print(again, &n_again);
	ENSURE(n == n_again && memcmp(text, text_again, n) == 0);
	free(text);
	free(text_again);
	spec_free(spec);
	spec_free(again);
	return 0;
}
