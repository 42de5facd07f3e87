package cli

import (
	"fmt"
	"time"
)

// Something that takes longer than quietFor says how far it is, every sayEvery.
const (
	quietFor = 2 * time.Second
	sayEvery = 5 * time.Second
)

// patiently does something that may take long. Meanwhile it prints on the standard error
// how far that is; an empty text is not printed. say must be safe to call while do runs.
func (c *command) patiently(say func() string, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	next := time.NewTimer(quietFor)
	defer next.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-next.C:
			if text := say(); text != "" {
				fmt.Fprintln(c.err, text)
			}
			next.Reset(sayEvery)
		}
	}
}

// tellCut says that a list ended at its limit, and how to see the rest of it.
func (c *command) tellCut(limit int) {
	fmt.Fprintf(c.err, "The list was cut after %d. --limit N shows more, --limit 0 all.\n", limit)
}
