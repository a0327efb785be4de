/* SPDX-License-Identifier: MIT
 * Runs a program whose kernel has run out of something: one system call always
 * fails, with the error that is asked for.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tool.h"

static const struct {
	const char *name;
	long number;
} calls[] = {{"accept4", SYS_accept4}, {"connect", SYS_connect}};

static const struct {
	const char *name;
	int number;
} errors[] = {{"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"ENOBUFS", ENOBUFS},
    {"ENOMEM", ENOMEM}, {"EADDRNOTAVAIL", EADDRNOTAVAIL}};

static int
usage(void)
{
	fputs("usage: inject CALL ERROR COMMAND...\n"
	      "CALL: accept4 connect\n"
	      "ERROR: EMFILE ENFILE ENOBUFS ENOMEM EADDRNOTAVAIL\n",
	    stderr);
	return TOOL_USAGE;
}

int
main(int argc, char **argv)
{
	long call = -1;
	int error = -1;

	if (argc < 4)
		return usage();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, argv[1]) == 0)
			call = calls[i].number;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, argv[2]) == 0)
			error = errors[i].number;
	if (call < 0 || error < 0)
		return usage();

	struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                   offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog program = {
	    .len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		tool_die(TOOL_SYSTEM, "seccomp: %s", strerror(errno));
	execvp(argv[3], argv + 3);
	tool_die(TOOL_SYSTEM, "%s: %s", argv[3], strerror(errno));
}
