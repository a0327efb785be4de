# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Undoes settings of the user's environment: the language of messages and the
# form of numbers, proxies and a .curlrc for curl, variables of a service manager
# that the suite may run under, and the mode of new files.

export LC_ALL=C.UTF-8 CURL_HOME=/nonexistent
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy
unset NO_PROXY INVOCATION_ID NOTIFY_SOCKET JOURNAL_STREAM WATCHDOG_USEC
unset LFPROXY_ADMIN UNSTABLE_MAX WATCHDOG_PID LISTEN_FDS LISTEN_PID LISTEN_FDNAMES LOGS_DIRECTORY STATE_DIRECTORY
unset PYTHONPATH PYTHONSTARTUP POSIXLY_CORRECT GREP_OPTIONS BASH_ENV CDPATH
# A file's own setup may have set this.
[[ ${RUNTIME_DIRECTORY:-} == "${BATS_FILE_TMPDIR:-none}"/* ]] ||
    unset RUNTIME_DIRECTORY
umask 022
