package cli

import (
	"fmt"
	"os"
	"slices"

	"atelier.dev/atelier/cmd/cli/output"
)

const (
	offlineFlag     = "--offline"
	offlineVariable = "ATELIER_OFFLINE"
)

// goOffline keeps the program on this machine if the command line or the environment says so,
// and returns the arguments without the flag. What follows "--" is another program's.
func goOffline(c *command, args []string) []string {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	at := slices.Index(args[:end], offlineFlag)
	if at >= 0 {
		args = slices.Delete(slices.Clone(args), at, at+1)
	}
	if value := c.getenv(offlineVariable); at >= 0 || value != "" && value != "0" {
		output.GoOffline()
		_ = os.Setenv(offlineVariable, "1") // for the processes of other projects; the name is valid
	}
	return args
}

// hosts lists the hosts that were contacted.
func hosts(c *command, args []string) int {
	flags := c.flags("atelier hosts [flags]")
	asJSON := flags.Bool("json", false, "print JSON, an object a line")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if flags.NArg() > 0 {
		return c.misused(flags, "atelier hosts takes no arguments")
	}
	home, err := c.home()
	none := false
	if err == nil {
		none, err = output.Hosts(c.out, home, *asJSON)
	}
	if err != nil {
		return c.fail(err)
	}
	if none {
		fmt.Fprintln(c.err, "No host was contacted.")
	}
	return exitDone
}
