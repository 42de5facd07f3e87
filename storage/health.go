package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"atelier.dev/atelier/backend"
)

// checkedAtStart is the size up to which the whole database is checked before it
// is used: that takes a few milliseconds. A larger one is checked by
// [Store.Verify] while it is used, and only its sessions are counted before.
const checkedAtStart = 4 << 20

// health is what is known of the database's state. It is safe for concurrent
// use.
type health struct {
	mu    sync.Mutex
	state backend.StoreHealth
	// suspects are sessions that a query by folder may miss; see findDamage.
	suspects []string
}

func (h *health) change(do func(*backend.StoreHealth)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do(&h.state)
}

// gone notes that events were lost.
func (h *health) gone(lost backend.LostEvents) {
	h.change(func(s *backend.StoreHealth) {
		for i, known := range s.Lost {
			if known.Session == lost.Session {
				s.Lost[i].From, s.Lost[i].To = min(known.From, lost.From), max(known.To, lost.To)
				return
			}
		}
		s.Lost = append(s.Lost, lost)
	})
}

func (h *health) accept() { h.change(func(s *backend.StoreHealth) { s.Lost = nil }) }

func (h *health) suspected() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.suspects
}

// Health implements [backend.Checked].
func (s *Store) Health() backend.StoreHealth {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	state := s.health.state
	state.File = s.path()
	state.Lost = slices.Clone(state.Lost)
	return state
}

// Verify implements [backend.Checked]. It does nothing if the database was
// checked when it was opened.
func (s *Store) Verify(ctx context.Context) error {
	checking := false
	s.health.change(func(state *backend.StoreHealth) { checking = state.Checking })
	if !checking {
		return nil
	}
	err := s.verify(ctx)
	if err != nil && ctx.Err() == nil {
		s.health.change(func(state *backend.StoreHealth) { state.Damage = err.Error() })
	}
	s.health.change(func(state *backend.StoreHealth) { state.Checking = false })
	return s.failed("check the database", err)
}

// verify checks all tables, the sessions' rows and the ledger. It reads the
// tables one after another, so that the write-ahead log can be emptied meanwhile.
func (s *Store) verify(ctx context.Context) error {
	tables, err := s.texts(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := s.quickCheck(ctx, fmt.Sprintf("PRAGMA quick_check(%q)", table)); err != nil {
			return err
		}
	}
	return errors.Join(s.findDamage(ctx), s.repairLedger(ctx))
}

// quickCheck runs a check of SQLite and fails with the first fault that it finds.
func (s *Store) quickCheck(ctx context.Context, pragma string) error {
	var check string
	if err := s.read.QueryRowContext(ctx, pragma).Scan(&check); err != nil {
		return err
	}
	if check != "ok" {
		return corrupt(s.path(), check)
	}
	return nil
}

// checkStart checks a small database, and counts the sessions of a large one. It
// must take less than 50 ms whatever the database has.
func (s *Store) checkStart(ctx context.Context) error {
	info, err := os.Stat(s.path())
	if err != nil {
		return err
	}
	if info.Size() <= checkedAtStart {
		if err := s.quickCheck(ctx, "PRAGMA quick_check(1)"); err != nil {
			return err
		}
		return errors.Join(s.findDamage(ctx), s.repairLedger(ctx))
	}
	var listed, logged int
	if err := s.read.QueryRowContext(ctx, s.query["count-sessions"]).Scan(&listed, &logged); err != nil {
		return err
	}
	s.health.change(func(state *backend.StoreHealth) {
		state.Checking, state.Stored, state.Shown = true, max(listed, logged), listed
	})
	if logged <= listed {
		return nil // some may have no event yet
	}
	return s.findDamage(ctx)
}
