package sandbox

import "time"

// A tree is a command with every process that it starts. Each system has its
// own type of that name; this is what [Process] asks of it:
//
//	start      starts the command so that nothing it starts escapes
//	interrupt  does what Ctrl-C does at a terminal
//	terminate  asks all processes to end, or ends them where nobody can ask
//	kill       gives them until a deadline to be gone, then ends them
//	release    lets go of a tree whose command is over; what it left behind
//	           stays until [sweep]
//
// The command's own process is handed in: it exists only once it is started.

// dying is how long killed processes may take to disappear. A process that
// sleeps in the kernel, or that nobody reaps, is not waited for longer.
const dying = 500 * time.Millisecond

// goneBy waits until gone returns true, or for the deadline.
func goneBy(deadline time.Time, gone func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !gone() {
		if !time.Now().Before(deadline) {
			return false
		}
		<-tick.C
	}
	return true
}
