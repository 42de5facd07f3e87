package cli

import (
	"context"
	"errors"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/instance"
)

// errEnded says that a process ended before it had opened its folder.
var errEnded = errors.New("the new process ended at once")

// elsewhere opens folders in processes of their own: this program, started
// again. A process that has a folder already is used.
type elsewhere struct {
	home string
	// browser says that a folder is served to a browser by a process that ends
	// with this one. Otherwise it gets a window that outlives this process.
	browser bool
}

// Open opens a folder. It returns the address of a folder that is served to a
// browser, with a new one-time token, and an empty address if a window has the
// folder. That window is in front then.
func (e elsewhere) Open(ctx context.Context, folder string) (address string, err error) {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	do := instance.Focus
	if e.browser {
		do = instance.URL
	}
	reply, err := instance.AskRunning(ctx, e.home, folder, instance.Request{Do: do})
	if errors.Is(err, instance.ErrNotRunning) {
		reply, err = e.start(ctx, folder, do)
	}
	switch {
	case err != nil:
		return "", backend.Problem(backend.ProblemProjectUnopened, folder).Because(err)
	case e.browser && reply.URL == "": // a window has it
		if _, err := instance.Ask(ctx, e.home, folder, instance.Request{Do: instance.Focus}); err != nil {
			return "", backend.Problem(backend.ProblemProjectUnopened, folder).Because(err)
		}
	case !e.browser && reply.URL != "":
		// The address is not opened from here: its token would stand in the
		// arguments of a process, which every command of an agent can read.
		return "", backend.Problem(backend.ProblemProjectServed, folder)
	}
	return reply.URL, nil
}

// start starts a process for the folder and waits until it answers.
func (e elsewhere) start(ctx context.Context, folder string, do instance.Action) (instance.Reply, error) {
	args := []string{folder}
	if e.browser {
		args = []string{"serve", "--" + untilInputEnds, folder}
	}
	process, err := sandbox.StartAgain(e.browser, args...)
	if err != nil {
		return instance.Reply{}, err
	}
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // ends with start or with the process
		select {
		case <-process.Ended:
			cancel(errEnded)
		case <-asking.Done():
		}
	}()
	var reply instance.Reply
	for range maxAsked {
		// A window that takes long to appear lets the first question time out.
		reply, err = instance.Ask(asking, e.home, folder, instance.Request{Do: do})
		if err == nil {
			return reply, nil
		}
		if asking.Err() != nil {
			break
		}
	}
	process.End()
	return reply, errors.Join(context.Cause(asking), err)
}

// endWithInput calls leave when the standard input ends.
func (c *command) endWithInput(leave func()) {
	go func() { // as long as the program
		buffer := make([]byte, 256)
		for {
			if _, err := c.in.Read(buffer); err != nil {
				leave()
				return
			}
		}
	}()
}
