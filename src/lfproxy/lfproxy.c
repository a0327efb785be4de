/* SPDX-License-Identifier: MIT
 * lfproxy: the program.  Options, configuration, then the two rivers.
 */
#include <curl/curl.h>
#include <ev.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/command.h"
#include "admin/endpoints.h"
#include "base/events.h"
#include "base/fault.h"
#include "base/secrets.h"
#include "base/log.h"
#include "base/notify.h"
#include "check/library_memory.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/warnings.h"
#include "control/control.h"
#include "control/server_names.h"
#include "control/verdict.h"
#include "lf/policy.h"
#include "lf/promotion.h"
#include "lfproxy/options.h"

/* `-t` waits for so long for the names of servers. */
#define TEST_NAMES_WAIT_MS 5000

static int
fail(int status, const struct err *err)
{
	fprintf(stderr, "lfproxy: error: %s\n", err->text);
	return status;
}

static void
print_version(void)
{
	printf("lfproxy %s\n"
	       "promotion: %s, %s, %s\n"
	       "order: %s, %s, %s\n"
	       "checks: connect, http, https, tls, send-expect, script, "
	       "agent\n"
	       "libev %d.%d, %s\n",
	    LFPROXY_VERSION, policy_name(POLICY_ADAPTIVE),
	    policy_name(POLICY_ALWAYS), policy_name(POLICY_KERNEL),
	    promotion_order_name(ORDER_LIFO), promotion_order_name(ORDER_FIFO),
	    promotion_order_name(ORDER_PRIORITY), ev_version_major(),
	    ev_version_minor(), curl_version());
}

static void
print_warnings(const struct spec *spec)
{
	struct err_list warnings;

	err_list_init(&warnings);
	config_warnings(spec, &warnings);
	err_list_print(&warnings, stderr);
	err_list_fini(&warnings);
}

static bool
load(const struct options *options, struct spec **ret_spec)
{
	struct err_list errors;
	bool ok;

	err_list_init(&errors);
	ok = options_load(options, ret_spec, &errors);
	if (!ok)
		err_list_print(&errors, stderr);
	err_list_fini(&errors);
	if (ok)
		print_warnings(*ret_spec);
	return ok;
}

static int
run(struct spec *spec, const struct options *options)
{
	struct control *control;
	struct endpoints *endpoints;
	struct err err;
	int status = EXIT_STATUS_SYSTEM;

	/* Without its service manager's socket lfproxy still works. */
	if (!notify_open(&err))
		log_warning("%s", err.text);
	control = control_new(spec, options->files, options->files_n, &err);
	if (!control)
		return fail(status, &err);
	endpoints = endpoints_open(control, &err);
	if (endpoints && control_start(control, &err)) {
		control_run(control);
		status = EXIT_STATUS_OK;
	}
	endpoints_close(endpoints);
	control_free(control);
	notify_close();
	return status == EXIT_STATUS_OK ? status : fail(status, &err);
}

/* Names every file that was read. */
static void
print_valid(const struct spec *spec)
{
	for (size_t i = 0; i < spec->files_n; i++)
		printf("%s%s", i > 0 ? ", " : "", spec->files[i]);
	printf("%s: configuration is valid\n",
	    spec->files_n > 0 ? "" : "command line");
}

static int
act_on_configuration(const struct options *options)
{
	struct spec *spec;

	if (!load(options, &spec))
		return EXIT_STATUS_CONFIG;
	if (options->action == OPTIONS_RUN)
		return run(spec, options);
	if (options->action == OPTIONS_PRINT) {
		config_print(spec, stdout);
	} else {
		server_names_check(spec, TEST_NAMES_WAIT_MS, stderr);
		print_valid(spec);
	}
	spec_free(spec);
	return EXIT_STATUS_OK;
}

static int
reload(pid_t pid)
{
	struct err err;
	bool refused;

	if (verdict_ask(pid, &refused, &err))
		return EXIT_STATUS_OK;
	return fail(refused ? EXIT_STATUS_CONFIG : EXIT_STATUS_SYSTEM, &err);
}

static int
act(const struct options *options)
{
	switch (options->action) {
	case OPTIONS_VERSION:
		print_version();
		return EXIT_STATUS_OK;
	case OPTIONS_HELP:
		options_help(stdout);
		return EXIT_STATUS_OK;
	case OPTIONS_LIST_KEYS:
		keys_list(stdout);
		return EXIT_STATUS_OK;
	case OPTIONS_LIST_COMMANDS:
		admin_list_commands(stdout);
		return EXIT_STATUS_OK;
	case OPTIONS_RELOAD:
		return reload(options->pid);
	case OPTIONS_RUN:
	case OPTIONS_TEST:
	case OPTIONS_PRINT:
		break;
	}
	return act_on_configuration(options);
}

/* Whoever starts us without a standard error must not find log lines in the
 * connection that would get its number. */
static void
fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int
main(int argc, char **argv)
{
	struct options options;
	struct err err;
	int status;

	fill_standard_descriptors();
	library_count_openssl();
	if (!fault_load(environ, &err))
		return fail(EXIT_STATUS_USAGE, &err);
	if (!options_parse(argc, argv, &options, &err))
		return fail(EXIT_STATUS_USAGE, &err);
	status = act(&options);
	events_forget();
	secrets_forget();
	options_fini(&options);
	/* A full disk must not pass for a printed configuration. */
	if (fflush(stdout) != 0 && status == EXIT_STATUS_OK)
		status = EXIT_STATUS_SYSTEM;
	return status;
}
