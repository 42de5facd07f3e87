# Waits for the end of its input, which comes when the program that started it
# ends in whatever way, and kills the processes that carry its marker, $1. It
# ends after a few passes that found none, because a process may hide from one
# pass: it forks during it, or executes a program and shows no environment.
read -r _
empty=0
for _ in {1..50}; do
	marked=$(grep -lsaF -e "$1" /proc/[0-9]*/environ)
	if [[ ! $marked ]]; then
		((++empty < 3)) || exit 0
		continue
	fi
	empty=0
	for environ in $marked; do
		pid=${environ#/proc/}
		kill -KILL "${pid%/environ}"
	done
done
