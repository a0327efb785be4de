# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Programs that want a terminal get tmux's; `load terminal` after `load helpers`.

TMUX_SOCKET=$T/tmux.sock

in_tmux() {
	env -u TMUX LC_ALL=C.UTF-8 tmux -S "$TMUX_SOCKET" -f /dev/null "$@"
}

# in_terminal COLUMNSxROWS COMMAND...: runs it in a terminal of that size.  What
# stty said before and afterwards is in $T/before and $T/after, and then there
# is its exit code in $T/code.
in_terminal() {
	local size=$1

	shift
	{
		printf 'stty -a >%q\n' "$T/before"
		printf '%q ' "$@"
		cat <<-END

			echo \$? >"$T/code.new"
			stty -a >"$T/after"
			mv "$T/code.new" "$T/code"
			exec sleep 600
		END
	} >"$T/pane"
	spawn tmux env -u TMUX LC_ALL=C.UTF-8 tmux -S "$TMUX_SOCKET" \
	    -f /dev/null -D
	wait_for 10 test -S "$TMUX_SOCKET"
	wait_for 10 in_tmux set-option -g remain-on-exit on
	in_tmux new-session -d -s it -x "${size%x*}" -y "${size#*x}" "sh '$T/pane'"
}

screen() {
	in_tmux capture-pane -p -t it
}

# shows REGEX: a line of the screen has it.
shows() {
	screen | LC_ALL=C.UTF-8 grep -qE -- "$1"
}

# press KEY...: as tmux names them.
press() {
	in_tmux send-keys -t it "$@"
}

wait_to_see() {
	wait_for 10 shows "$1" || {
		screen
		return 1
	}
}
