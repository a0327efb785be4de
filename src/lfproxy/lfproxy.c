/* SPDX-License-Identifier: MIT
 * lfproxy: the daemon.  Parses options, loads the configuration, then runs the
 * control plane on the main thread, which starts the data plane.
 */
#include <curl/curl.h>
#include <ev.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lfproxy/endpoints.h"
#include "base/events.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/log_target.h"
#include "base/notify.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/text_out.h"
#include "check/preset.h"
#include "commands/command.h"
#include "commands/records.h"
#include "config/config.h"
#include "config/keys.h"
#include "handover/takeover.h"
#include "handover/upgrade_program.h"
#include "lf/policy.h"
#include "lf/promotion.h"
#include "lfproxy/options.h"
#include "lfproxy/parent.h"
#include "live/control.h"
#include "sets/sets.h"
#include "live/verdict.h"
#include "net/inherited.h"
#include "process/root.h"
#include "process/service.h"
#include "process/signals.h"
#include "process/syscall_filter.h"
#include "proxy/accesslog.h"
#include "servers/server_names.h"
#include "tls/memory.h"

/* How long -t waits for the names of servers to be resolved. */
#define TEST_NAMES_WAIT_MS 5000

static int
print_error(int status, const struct err *err)
{
	log_about_log(LOG_LEVEL_ERROR, "%s", err->text);
	return status;
}

static void
print_version(void)
{
	printf("lfproxy %s\n"
	       "promotion: %s, %s, %s\n"
	       "order: %s, %s, %s\n"
	       "checks: ",
	    LFPROXY_VERSION, policy_name(POLICY_ADAPTIVE),
	    policy_name(POLICY_ALWAYS), policy_name(POLICY_KERNEL),
	    promotion_order_name(ORDER_LIFO), promotion_order_name(ORDER_FIFO),
	    promotion_order_name(ORDER_PRIORITY));
	for (enum check_kind k = CHECK_OFF + 1; k < CHECK_KINDS; k++)
		printf("%s, ", check_presets[k].name);
	printf("agent\n"
	       "libev %d.%d, %s\n"
	       "%s\n",
	    ev_version_major(), ev_version_minor(), curl_version(),
	    OpenSSL_version(OPENSSL_VERSION));
}

/* Tells a process that this one was to take over from the first error. */
static void
refuse_takeover(const struct err_list *errors)
{
	char why[sizeof(((struct err *)NULL)->text) + 100];
	const struct err_entry *e = errors->n > 0 ? errors->entries : NULL;

	snprintf(why, sizeof(why), "%s:%u: %s%s", e ? e->file : "",
	    e ? e->line : 0, e ? e->text : "out of memory",
	    errors->n > 1 ? "; further errors are in the log" : "");
	takeover_failed(why);
}

/* Prints warnings in the format of messages on standard error. */
static void
print_warnings(const struct spec *spec, const struct err_list *list)
{
	enum log_message_format format =
	    accesslog_message_format(&spec->global);

	log_messages_format(format);
	if (format == LOG_MESSAGE_TEXT) {
		err_list_print(list, log_severity(LOG_LEVEL_WARNING), stderr);
		return;
	}
	for (size_t i = 0; list->entries && i < list->n; i++) {
		char *text = err_entry_text(&list->entries[i]);

		log_warning("%s", text ? text : list->entries[i].text);
		free(text);
	}
}

/* Prints errors and warnings. */
static bool
load_configuration(const struct options *options, struct spec **ret_spec)
{
	struct err_list list;
	bool ok;

	err_list_init(&list);
	ok = options_load(options, ret_spec, &list);
	if (ok) {
		config_warnings(*ret_spec, &list);
		print_warnings(*ret_spec, &list);
	} else {
		refuse_takeover(&list);
		err_list_print(&list, log_severity(LOG_LEVEL_ERROR), stderr);
	}
	err_list_fini(&list);
	return ok;
}

/* Closes the listening sockets that this process was given and that nothing in
 * its configuration asks for. */
static void
close_unwanted_sockets(void)
{
	size_t n = inherited_close();

	if (n > 0)
		log_warning("%zu listening socket%s that lfproxy was given %s "
		            "closed: no listen, admin or http asks for %s",
		    n, text_s(n), text_are(n), n == 1 ? "it" : "them");
}

/* Returns the absolute paths of the files with blanks between, for free(3), or
 * NULL.  Links are not followed: where they lead may change with each version
 * of a file. */
static char *
join_files(const struct options *options)
{
	char *joined = NULL, *folder = getcwd(NULL, 0);
	size_t size;
	FILE *out = open_memstream(&joined, &size);

	for (size_t i = 0; out && i < options->files_n; i++) {
		const char *file = options->files[i];
		bool is_relative = folder && file[0] != '/';

		fprintf(out, "%s%s%s%s", i > 0 ? " " : "",
		    is_relative ? folder : "", is_relative ? "/" : "", file);
	}
	free(folder);
	if (!out || fclose(out) != 0) {
		free(joined);
		return NULL;
	}
	return joined;
}

/* Starts and runs lfproxy with the changes of operators: those of the process
 * before, or of the state file. */
static bool
run_control(struct control *control, struct endpoints *endpoints,
    const char *files, struct err *err)
{
	char *state = takeover_under_way()
	                  ? NULL
	                  : endpoints_read_state(endpoints, files);
	const char *changes = state ? state : takeover_commands();
	bool started;

	/* No session may reach a server that is in maintenance. */
	endpoints_carry_over(endpoints, changes, false);
	started = control_start(control, err);
	if (started) {
		endpoints_started(endpoints);
		endpoints_carry_over(endpoints, changes, true);
	}
	text_wipe(state);
	if (!started)
		return false;
	close_unwanted_sockets();
	endpoints_keep_state(endpoints, files);
	control_take_over(control);
	control_run(control);
	return true;
}

static int
run_daemon(struct spec *spec, const struct options *options)
{
	struct control *control;
	struct endpoints *endpoints;
	struct err err;
	char *files;
	int status = EXIT_STATUS_SYSTEM;
	bool whole;

	/* lfproxy works without the service manager's sockets as well. */
	if (!inherited_from_manager(&err))
		log_warning("%s", err.text);
	control = control_new(spec, options->files, options->files_n, &err);
	if (!control) {
		takeover_failed(err.text);
		return print_error(status, &err);
	}
	files = join_files(options);
	err_oom(&err);
	endpoints = files ? endpoints_open(control, &err) : NULL;
	if (endpoints && run_control(control, endpoints, files, &err))
		status = EXIT_STATUS_OK;
	else
		takeover_failed(err.text);
	endpoints_close(endpoints);
	whole = control_free(control);
	notify_close();
	free(files);
	if (status != EXIT_STATUS_OK)
		(void)print_error(status, &err);
	/* A thread that was left behind may be using a library that the
	 * handlers of exit(3) take down. */
	if (!whole)
		_exit(status);
	return status;
}

/* Prints the name of each file that was read. */
static void
print_valid(const struct spec *spec)
{
	for (size_t i = 0; i < spec->files_n; i++)
		printf("%s%s", i > 0 ? ", " : "", spec->files[i]);
	printf("%s: configuration is valid\n",
	    spec->files_n > 0 ? "" : "command line");
}

/* Prepares the process for what the configuration names.  Returns an exit
 * status. */
static int
enter_surroundings(const struct options *options)
{
	bool runs = options->action == OPTIONS_RUN;
	struct err err;

	if (runs)
		parent_stay();
	root_inherit();
	if (runs && !takeover_begin(options->take_over, &err))
		return print_error(EXIT_STATUS_SYSTEM, &err);
	/* lfproxy works without the service manager as well. */
	if (runs && !notify_open(&err))
		log_warning("%s", err.text);
	if (!root_enter(options->files, options->files_n, !runs, &err)) {
		takeover_failed(err.text);
		return print_error(EXIT_STATUS_CONFIG, &err);
	}
	return EXIT_STATUS_OK;
}

static bool
load_again(const void *options, struct spec **ret_spec, struct err_list *errors)
{
	return options_load(options, ret_spec, errors);
}

/* -t: prints what is wrong with a valid configuration. */
static void
test_configuration(const struct options *options, const struct service *service,
    struct spec *spec)
{
	service_try(service, spec, load_again, options);
	server_names_check(spec, TEST_NAMES_WAIT_MS, stderr);
	sets_check(spec, stderr);
	print_valid(spec);
}

static int
use_configuration(const struct options *options, const struct service *service)
{
	struct spec *spec;
	struct err err;
	int status = enter_surroundings(options);

	if (status != EXIT_STATUS_OK)
		return status;
	if (!load_configuration(options, &spec))
		return EXIT_STATUS_CONFIG;
	if (options->action == OPTIONS_RUN) {
		if (root_is(spec->global.chroot, &err))
			return run_daemon(spec, options);
		spec_free(spec);
		takeover_failed(err.text);
		return print_error(EXIT_STATUS_CONFIG, &err);
	}
	if (options->action == OPTIONS_PRINT) {
		config_print(spec, stdout);
	} else {
		test_configuration(options, service, spec);
	}
	spec_free(spec);
	return EXIT_STATUS_OK;
}

static int
reload_process(pid_t pid)
{
	struct err err;
	bool refused;

	if (verdict_ask(pid, &refused, &err))
		return EXIT_STATUS_OK;
	return print_error(
	    refused ? EXIT_STATUS_CONFIG : EXIT_STATUS_SYSTEM, &err);
}

static int
run_action(const struct options *options)
{
	struct service service = {.text = NULL};
	int status;

	if (options->action != OPTIONS_RUN)
		signals_release();
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
	case OPTIONS_LIST_RECORDS:
		records_list(stdout);
		return EXIT_STATUS_OK;
	case OPTIONS_RELOAD:
		return reload_process(options->pid);
	case OPTIONS_TEST:
	case OPTIONS_PRINT:
		service_find(options->files, options->files_n, &service);
		break;
	case OPTIONS_RUN:
		break;
	}
	status = use_configuration(options, &service);
	service_fini(&service);
	return status;
}

/* If the caller has closed a standard descriptor, its number would go to some
 * connection, which would then receive log lines. */
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

	signals_hold();
	fill_standard_descriptors();
	upgrade_set_arguments(argv);
	syscall_filter_inherit();
	secrets_inherit();
	tls_memory_init();
	if (!fault_load(environ, &err))
		return print_error(EXIT_STATUS_USAGE, &err);
	if (!options_parse(argc, argv, &options, &err))
		return print_error(EXIT_STATUS_USAGE, &err);
	status = run_action(&options);
	events_forget();
	secrets_forget();
	options_fini(&options);
	/* A write error, such as a full disk, must not go unnoticed. */
	if (fflush(stdout) != 0 && status == EXIT_STATUS_OK)
		status = EXIT_STATUS_SYSTEM;
	return status;
}
