package desktop

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"atelier.dev/atelier/backend"
	"github.com/google/go-cmp/cmp"
)

// fakeBoard is a desktop. It fails with the given errors, the first ones first.
type fakeBoard struct {
	connects []error
	shows    []error
	held     chan struct{} // if set, show waits for it
	log      []string
}

func (b *fakeBoard) connect() error {
	b.log = append(b.log, "connect")
	return next(&b.connects)
}

func (b *fakeBoard) show(id, _, _ string) error {
	if b.held != nil {
		<-b.held
	}
	b.log = append(b.log, id)
	return next(&b.shows)
}

func next(all *[]error) error {
	if len(*all) == 0 {
		return nil
	}
	err := (*all)[0]
	*all = (*all)[1:]
	return err
}

// Notices connect to the desktop with the first of them, again if that failed,
// and a failure holds nothing up.
func TestNoticesConnectWhenNeeded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(t.Context())
		board := &fakeBoard{connects: []error{errors.New("no bus")}, shows: []error{errors.New("no daemon")}}
		n := newNotices()
		synctest.Wait()
		if len(board.log) > 0 {
			t.Errorf("before the first notice: %v", board.log)
		}
		for _, session := range []string{"a", "b", "c"} {
			n.put(life, board, backend.Notice{Session: session, Kind: "done"})
			synctest.Wait()
		}
		if diff := cmp.Diff([]string{"connect", "connect", "b done", "c done"}, board.log); diff != "" {
			t.Error(diff)
		}
		end() // the goroutine ends, or this test does not
	})
}

// A desktop that does not answer holds nobody up, and what waits is bounded.
func TestNoticesDoNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(t.Context())
		board := &fakeBoard{held: make(chan struct{})}
		n := newNotices()
		n.put(life, board, backend.Notice{Session: "first"})
		synctest.Wait() // it is being shown
		for range 100 {
			n.put(life, board, backend.Notice{Session: "more"})
		}
		close(board.held)
		synctest.Wait()
		if want := 1 + 1 + maxNotices; len(board.log) != want {
			t.Errorf("%d steps, want %d: %v", len(board.log), want, board.log)
		}
		end()
	})
}
