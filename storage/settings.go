package storage

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"atelier.dev/atelier/backend"
)

// settingsFor is how long a setting that was read is returned again without a
// look at the database. A running turn reads settings in every round, and only
// another process can change them without this one's knowledge.
const settingsFor = time.Second

// settings keeps what was read and written lately. It has one entry for each
// setting, of which there are few.
type settings struct {
	mu    sync.Mutex
	known map[string]setting
	// changes counts the writes, so that a read that began before one is not kept.
	changes int
}

type setting struct {
	value string
	at    time.Time
}

// recent returns a setting that was read less than [settingsFor] ago. The count
// of changes is for remember.
func (s *settings) recent(key string, now time.Time) (value string, ok bool, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known[key]
	return known.value, ok && now.Sub(known.at) < settingsFor, s.changes
}

// remember keeps a setting that was read, unless one has changed since.
func (s *settings) remember(key, value string, now time.Time, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changes != s.changes {
		return
	}
	if s.known == nil {
		s.known = map[string]setting{}
	}
	s.known[key] = setting{value, now}
}

// changed forgets what is known.
func (s *settings) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = nil
	s.changes++
}

// Setting implements [backend.Store]. Changes by another process are seen within
// [settingsFor].
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	now := time.Now()
	value, ok, changes := s.settings.recent(key, now)
	if ok {
		return value, nil
	}
	var sum sql.NullInt64
	err := s.read.QueryRowContext(ctx, s.query["select-setting"], key).Scan(&value, &sum)
	if err == nil && !s.newer && sum.Valid && sum.Int64 != sumOf(key, value) || isConversion(err) {
		return "", backend.Problem(backend.ProblemSettingDamaged, key)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", s.failed("read a setting", err)
	}
	s.settings.remember(key, value, now, changes)
	return value, nil
}

// SetSetting implements [backend.Store].
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	err := s.execute(ctx, "upsert-setting", key, value, sumOf(key, value))
	s.settings.changed()
	return s.failed("save a setting", err)
}
