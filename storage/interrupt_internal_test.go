package storage

import (
	"context"
	"errors"
	"testing"

	"github.com/mattn/go-sqlite3"

	"atelier.dev/atelier/backend"
)

// SQLite has an error of its own for a statement that was cancelled while it
// ran.
func TestInterruptedStatementIsCancelled(t *testing.T) {
	t.Parallel()
	err := (&Store{}).failed("read the session", sqlite3.Error{Code: sqlite3.ErrInterrupt})
	var told *backend.Error
	if !errors.Is(err, context.Canceled) || errors.As(err, &told) {
		t.Errorf("%v", err)
	}
}
