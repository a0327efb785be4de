/* SPDX-License-Identifier: MIT
 * See syscall_filter.h.
 */
#include "process/syscall_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <xxhash.h>

#include "base/log.h"
#include "process/syscalls.h"

#define FILTER_ENV "LFPROXY_FILTER"

/* The flags of clone(2) that make namespaces.  Not CLONE_NEWTIME, whose bit is
 * part of the signal's number there. */
#define CLONE_NAMESPACES                                                       \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |         \
	    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* The index of clone's argument that has the flags. */
#if defined(__s390__) || defined(__s390x__)
#define CLONE_FLAGS_ARG 1
#else
#define CLONE_FLAGS_ARG 0
#endif

/* The arguments of personality(2) that ask without a change, as int and as
 * long. */
#define PERSONALITY_ASKED      UINT64_C(0xffffffff)
#define PERSONALITY_ASKED_LONG UINT64_MAX

static struct {
	/* The strictest of lfproxy's filters in force, or SECCOMP_OFF. */
	enum seccomp_mode mode;
	/* The fingerprint of the filter that the former process has told about;
	 * 0: none. */
	uint64_t inherited;
} filter;

/* -- making the filter -- */

/* Adds a rule with this action for each name.  libseccomp may be older than a
 * name, which is left out then. */
static int
add_names(scmp_filter_ctx ctx, uint32_t action, const char *const *names)
{
	int rc = 0;

	for (; rc == 0 && *names; names++) {
		int number = seccomp_syscall_resolve_name(*names);

		if (number != __NR_SCMP_ERROR)
			rc = seccomp_rule_add_array(
			    ctx, action, number, 0, NULL);
	}
	return rc;
}

static int
add_compared(scmp_filter_ctx ctx, uint32_t action, int number,
    struct scmp_arg_cmp compared)
{
	return seccomp_rule_add_array(ctx, action, number, 1, &compared);
}

/* Refuses clone(2) with new namespaces.  In a user namespace, a process without
 * privileges would have all of them, and reach parts of the kernel that it has
 * no other way to. */
static int
add_clone(scmp_filter_ctx ctx, uint32_t refuse)
{
	int rc = add_compared(ctx, SCMP_ACT_ALLOW, SCMP_SYS(clone),
	    SCMP_CMP64(
	        CLONE_FLAGS_ARG, SCMP_CMP_MASKED_EQ, CLONE_NAMESPACES, 0));

	for (uint64_t bit = 1; rc == 0 && bit <= CLONE_NAMESPACES; bit <<= 1)
		if (bit & CLONE_NAMESPACES)
			rc = add_compared(ctx, refuse, SCMP_SYS(clone),
			    SCMP_CMP64(
			        CLONE_FLAGS_ARG, SCMP_CMP_MASKED_EQ, bit, bit));
	return rc;
}

/* Allows programs to ask for their personality, and not to change it: that
 * would weaken the randomization of addresses. */
static int
add_personality(scmp_filter_ctx ctx)
{
	static const uint64_t allowed[] = {
	    0, PERSONALITY_ASKED, PERSONALITY_ASKED_LONG};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(allowed) / sizeof(*allowed);
	     i++)
		rc = add_compared(ctx, SCMP_ACT_ALLOW, SCMP_SYS(personality),
		    SCMP_CMP64(0, SCMP_CMP_EQ, allowed[i], 0));
	return rc;
}

static bool
family_is_allowed(int family)
{
	/* The C library uses AF_NETLINK to ask the kernel for its addresses. */
	return family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
	       family == AF_NETLINK;
}

static int
add_socket_families(scmp_filter_ctx ctx, uint32_t refuse)
{
	int rc = add_compared(ctx, refuse, SCMP_SYS(socket),
	    SCMP_CMP64(0, SCMP_CMP_GT, AF_NETLINK, 0));

	for (int family = 0; rc == 0 && family <= AF_NETLINK; family++)
		rc = add_compared(ctx,
		    family_is_allowed(family) ? SCMP_ACT_ALLOW : refuse,
		    SCMP_SYS(socket),
		    SCMP_CMP64(0, SCMP_CMP_EQ, (uint64_t)family, 0));
	return rc;
}

static int
add_all(scmp_filter_ctx ctx, bool log)
{
	uint32_t refuse = log ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(EPERM);
	uint32_t no_family = log ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(EAFNOSUPPORT);
	bool sanitized = syscalls_of_sanitizers[0] != NULL;
	int rc = add_names(ctx, SCMP_ACT_ALLOW, syscalls_allowed);

	if (rc == 0)
		rc = add_names(ctx, SCMP_ACT_ALLOW, syscalls_of_sanitizers);
	/* libseccomp uses the first of two rules, so leave out calls that
	 * sanitizers are allowed to make. */
	for (const char *const *name = syscalls_refused; rc == 0 && *name;
	     name++) {
		const char *const one[] = {*name, NULL};
		bool excepted = false;

		for (const char *const *s = syscalls_of_sanitizers; *s; s++)
			excepted |= strcmp(*s, *name) == 0;
		if (!excepted)
			rc = add_names(ctx, refuse, one);
	}
	if (rc == 0)
		rc = add_clone(ctx, refuse);
	if (rc == 0)
		rc = sanitized ? add_names(ctx, SCMP_ACT_ALLOW,
		                     (const char *const[]){"personality", NULL})
		               : add_personality(ctx);
	return rc == 0 ? add_socket_families(ctx, no_family) : rc;
}

/* Sets the attributes of the filter.  OPTIMIZE 2 makes a binary tree, in which
 * the kernel looks at 9 numbers instead of 300.  SSB leaves speculation as it
 * is: before Linux 5.16 a filter would otherwise slow down the whole process,
 * and lfproxy runs no foreign code in its own memory. */
static int
set_attributes(scmp_filter_ctx ctx, bool log)
{
	int rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
	    log ? SCMP_ACT_LOG : SCMP_ACT_KILL_PROCESS);

	if (rc == 0)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);
	if (rc == 0)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rc == 0)
		(void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_SSB, 1);
	/* libseccomp need not set no_new_privs: the process has it, or
	 * CAP_SYS_ADMIN. */
	if (rc == 0)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_NNP, 0);
	return rc;
}

/* Makes and loads the filter.  Returns 0 or -errno. */
static int
load_filter(bool log)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int rc;

	if (!ctx)
		return -ENOMEM;
	rc = set_attributes(ctx, log);
	if (rc == 0)
		rc = add_all(ctx, log);
	if (rc == 0)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	return rc;
}

/* -- passing the filter on -- */

static uint64_t
hash_names(const char *const *names, uint64_t hash)
{
	for (; *names; names++)
		hash = XXH64(*names, strlen(*names), hash);
	return hash;
}

/* Returns a hash of the lists and the version, which tells the filters of other
 * versions apart. */
static uint64_t
fingerprint(void)
{
	uint64_t hash = XXH64(LFPROXY_VERSION, strlen(LFPROXY_VERSION), 0);

	hash = hash_names(syscalls_allowed, hash);
	hash = hash_names(syscalls_refused, hash);
	hash = hash_names(syscalls_of_sanitizers, hash);
	return hash ? hash : 1;
}

bool
syscall_filter_variable(char out[SYSCALL_FILTER_VARIABLE_SIZE])
{
	if (filter.mode < SECCOMP_ON)
		return false;
	snprintf(out, SYSCALL_FILTER_VARIABLE_SIZE, FILTER_ENV "=%016" PRIx64,
	    fingerprint());
	return true;
}

static bool
is_filtered(void)
{
	/* 2 is the filter mode.  In strict mode, 1, lfproxy could not run. */
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
}

void
syscall_filter_inherit(void)
{
	const char *text = getenv(FILTER_ENV);

	if (text && is_filtered())
		filter.inherited = strtoull(text, NULL, 16);
	(void)unsetenv(FILTER_ENV);
}

/* -- setting the filter -- */

/* Reports that no filter could be set, which is no failure with SECCOMP_AUTO.
 * libseccomp's error does not tell a kernel without filters from a container
 * that permits none. */
static bool
report_no_filter(enum seccomp_mode mode, int rc, struct err *err)
{
	static const char text[] =
	    "the kernel, or the container that lfproxy runs in, permits no "
	    "filter of system calls";

	if (mode == SECCOMP_AUTO) {
		log_info("%s (%s)", text, strerror(-rc));
		return true;
	}
	return err_set(err,
	    "seccomp = %s: %s (%s); write seccomp = auto, with which lfproxy "
	    "then runs without the filter",
	    mode == SECCOMP_LOG ? "log" : "on", text, strerror(-rc));
}

/* Returns the mode to compare by: auto is as strict as on. */
static enum seccomp_mode
strictness(enum seccomp_mode mode)
{
	return mode == SECCOMP_AUTO ? SECCOMP_ON : mode;
}

bool
syscall_filter_set(enum seccomp_mode mode, struct err *err)
{
	enum seccomp_mode wanted = strictness(mode);
	int rc;

	if (filter.inherited == fingerprint())
		filter.mode = SECCOMP_ON;
	if (wanted <= filter.mode)
		return true;
	rc = load_filter(wanted == SECCOMP_LOG);
	if (rc < 0)
		return report_no_filter(mode, rc, err);
	filter.mode = wanted;
	return true;
}

const char *
syscall_filter_text(void)
{
	switch (filter.mode) {
	case SECCOMP_LOG:
		return "log";
	case SECCOMP_ON:
	case SECCOMP_AUTO:
		return "on";
	case SECCOMP_OFF:
		break;
	}
	return is_filtered() ? "inherited" : "off";
}
