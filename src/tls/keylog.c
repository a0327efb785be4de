/* SPDX-License-Identifier: MIT
 * See keylog.h.
 */
#include "tls/keylog.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/uio.h>

#include "tls/store.h"

bool
tls_keylog_open(const char *file, int *ret_fd, struct err *err)
{
	int fd = -1;

	if (file) {
		fd =
		    open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			return err_set(err, "keylog '%s' cannot be opened: %s",
			    file, strerror(errno));
	}
	*ret_fd = fd;
	return true;
}

static void
write_secret(const SSL *ssl, const char *line)
{
	char text[512];
	size_t n = strlen(line);
	struct iovec parts[] = {
	    {.iov_base = text, .iov_len = n}, {.iov_base = "\n", .iov_len = 1}};

	if (n > sizeof(text))
		return;
	memcpy(text, line, n);
	/* Connections must work even when the disk is full. */
	if (writev(tls_store_of_ssl(ssl)->keylog_fd, parts, 2) < 0)
		return;
}

void
tls_keylog_attach(SSL_CTX *ssl)
{
	SSL_CTX_set_keylog_callback(ssl, write_secret);
}
