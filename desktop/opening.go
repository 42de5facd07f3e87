package desktop

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"atelier.dev/atelier/cmd/cli"
)

// retryAfter is the least time between two attempts to open the application, so
// that the calls of one page load make one attempt.
const retryAfter = time.Second

// errEnded answers calls that come while the window closes.
var errEnded = errors.New("the window is closing")

// opening is the application, or the reason why it is not open. It is safe for
// concurrent use.
type opening struct {
	mu    sync.Mutex
	host  cli.Host
	err   error
	tried time.Time
}

// get returns the application. If it is not open, get calls open, unless that
// was done just now.
func (o *opening) get(open func() (cli.Host, error)) (cli.Host, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.host != nil || errors.Is(o.err, errEnded) || time.Since(o.tried) < retryAfter {
		return o.host, o.err
	}
	o.host, o.err = open()
	o.tried = time.Now()
	if o.err != nil {
		slog.Error("could not open the application", "error", o.err)
	}
	return o.host, o.err
}

// end waits for a running attempt and returns what is to be closed, nil if
// nothing is open. From then on get fails.
func (o *opening) end() cli.Host {
	o.mu.Lock()
	defer o.mu.Unlock()
	host := o.host
	o.host, o.err = nil, errEnded
	return host
}
