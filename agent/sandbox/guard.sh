# Waits for the end of its input, which comes when the program that started it
# ends in whatever way, and kills the processes that carry its marker, $1.
read -r _
for _ in {1..50}; do
	marked=$(grep -lsaF -e "$1" /proc/[0-9]*/environ)
	[[ $marked ]] || exit 0
	for environ in $marked; do
		pid=${environ#/proc/}
		kill -KILL "${pid%/environ}"
	done
done
