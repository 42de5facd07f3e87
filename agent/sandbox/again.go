package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Again is this program, started another time by [StartAgain].
type Again struct {
	// Ended is closed when that process has ended.
	Ended <-chan struct{}
	input io.Closer // nil if the process outlives this one
}

// End asks a process that was started with an input to end. It does nothing to
// another one.
func (a *Again) End() {
	if a.input != nil {
		_ = a.input.Close() // the process may have ended
	}
}

// StartAgain starts this program with other arguments, as its user would: in a
// session of its own and with the whole environment, including what [Conceal]
// removed, because the new process conceals it as well. It inherits no
// descriptors. With withInput its standard input is a pipe, which ends when
// this process ends, however it dies; without, the new process outlives this
// one. Like [Detach], StartAgain does not wait for a [Hold].
func StartAgain(withInput bool, args ...string) (*Again, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = withoutOwn(Environ())
	cmd.SysProcAttr = ownSession()
	again := &Again{}
	if withInput {
		if again.input, err = cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("make an input for %s: %w", program, err)
		}
	}
	closeDescriptorsOnExec()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	ended := make(chan struct{})
	again.Ended = ended
	go func() { // reaps it; ends with the process or with us
		defer close(ended)
		_ = cmd.Wait()
	}()
	return again, nil
}
