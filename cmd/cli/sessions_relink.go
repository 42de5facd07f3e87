package cli

import (
	"fmt"
	"path/filepath"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// relinkSessions brings the sessions of a folder that was moved to where it is now.
func (c *command) relinkSessions(use string, args []string) int {
	flags := c.flags(use)
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() < 1 || flags.NArg() > 2 {
		return c.misused(flags, "give the path that the folder had, and the one that it has unless that is the current folder")
	}
	old, err := filepath.Abs(flags.Arg(0)) // which need not exist
	if err != nil {
		return c.fail(err)
	}
	folder, home, err := c.places(flags.Arg(1))
	if err != nil {
		return c.fail(err)
	}
	defer c.logTo(home)()
	store, err := storage.Open(c.ctx, home)
	if err != nil {
		return c.fail(err)
	}
	defer store.Close()
	moved, err := store.Move(c.ctx, old, folder)
	if err != nil {
		return c.fail(err)
	}
	if len(moved) == 0 {
		return c.fail(backend.Problem(backend.ProblemNothingToMove, old))
	}
	fmt.Fprintf(c.out, "Brought over from %s to %s: %d sessions\n", old, folder, len(moved))
	return exitDone
}
