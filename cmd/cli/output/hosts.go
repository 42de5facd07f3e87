package output

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"atelier.dev/atelier/internal/outbound"
)

// saveEvery is how often the hosts that were contacted are kept.
const saveEvery = 10 * time.Second

// GoOffline lets the program contact this machine alone from now on.
func GoOffline() { outbound.GoOffline() }

// KeepHosts keeps the hosts that were contacted until the context ends, and once more then.
func KeepHosts(ctx context.Context, home string) (done <-chan struct{}) {
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

// Hosts prints the hosts that were contacted. Without any, it prints nothing and reports so.
func Hosts(out io.Writer, home string, asJSON bool) (none bool, err error) {
	list, err := outbound.Load(home)
	if err != nil {
		return false, err
	}
	for _, h := range list {
		if asJSON {
			if err := WriteJSON(out, h); err != nil {
				return false, err
			}
			continue
		}
		refused := ""
		if h.Refused > 0 {
			refused = fmt.Sprintf(", %d refused while offline", h.Refused)
		}
		fmt.Fprintf(out, "%s  %-8s %s  %d requests, %d bytes sent, %d received%s\n",
			time.UnixMilli(h.Last).Format("2006-01-02 15:04"), h.Purpose, OneLine(h.Host), h.Requests, h.Sent, h.Received, refused)
	}
	return len(list) == 0, nil
}
