package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"atelier.dev/atelier/cmd/cli/output"
	"atelier.dev/atelier/internal/outbound"
)

const (
	offlineFlag     = "--offline"
	offlineVariable = "ATELIER_OFFLINE"
	// saveEvery is how often the hosts that were contacted are kept.
	saveEvery = 10 * time.Second
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
		outbound.GoOffline()
		_ = os.Setenv(offlineVariable, "1") // for the processes of other projects; the name is valid
	}
	return args
}

// saveHosts keeps the hosts that were contacted until the context ends, and once more then.
func saveHosts(ctx context.Context, home string) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(saveEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
			if err := outbound.Save(home); err != nil {
				slog.Warn("could not keep which hosts were contacted", "err", err)
			}
		}
	}()
	return ended
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
	if err != nil {
		return c.fail(err)
	}
	list, err := outbound.Load(home)
	if err != nil {
		return c.fail(err)
	}
	for _, h := range list {
		if *asJSON {
			if err := output.WriteJSON(c.out, h); err != nil {
				return c.fail(err)
			}
			continue
		}
		refused := ""
		if h.Refused > 0 {
			refused = fmt.Sprintf(", %d refused while offline", h.Refused)
		}
		fmt.Fprintf(c.out, "%s  %-8s %s  %d requests, %d bytes sent, %d received%s\n",
			time.UnixMilli(h.Last).Format("2006-01-02 15:04"), h.Purpose, output.OneLine(h.Host), h.Requests, h.Sent, h.Received, refused)
	}
	if len(list) == 0 && !*asJSON {
		fmt.Fprintln(c.err, "No host was contacted.")
	}
	return exitDone
}
