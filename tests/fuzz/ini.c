/* SPDX-License-Identifier: MIT
 * The configuration file, as `lfproxy -t` reads it.  What is taken, `-T` must
 * print as a file that is taken, and that prints the same.
 */
#include <stdio.h>
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

static struct spec *
load(const void *text, size_t size)
{
	struct spec *spec = NULL;
	struct err_list errors;
	char path[64];
	int fd = memfd_create("ini", MFD_CLOEXEC);
	FILE *null = fopen("/dev/null", "w");

	ENSURE(fd >= 0 && null);
	ENSURE(write(fd, text, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err_list_init(&errors);
	if (config_load(path, &spec, &errors))
		ENSURE(spec && errors.n == 0);
	else
		ENSURE(errors.n > 0);
	err_list_print(&errors, null);
	err_list_fini(&errors);
	fclose(null);
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
