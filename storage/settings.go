package storage

import (
	"context"
	"database/sql"
	"errors"

	"atelier.dev/atelier/backend"
)

// Setting implements [backend.Store].
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	return readSetting(ctx, s, s.read, key)
}

// readSetting reads a setting from the database or within a transaction.
func readSetting(ctx context.Context, s *Store, from querier, key string) (value string, err error) {
	var sum sql.NullInt64
	err = from.QueryRowContext(ctx, s.query["select-setting"], key).Scan(&value, &sum)
	if err == nil && !s.newer && sum.Valid && sum.Int64 != sumOf(key, value) || isConversion(err) {
		return "", backend.Problem(backend.ProblemSettingDamaged, key)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", s.failed("read a setting", err)
	}
	return value, nil
}

// SetSetting implements [backend.Store].
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	return s.failed("save a setting", s.execute(ctx, "upsert-setting", key, value, sumOf(key, value)))
}

// ChangeSetting implements [backend.Store].
func (s *Store) ChangeSetting(ctx context.Context, key string, change func(string) (string, error)) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return s.failed("save a setting", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	value, err := readSetting(ctx, s, tx, key)
	if err != nil {
		return err
	}
	if value, err = change(value); err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, s.query["upsert-setting"], key, value, sumOf(key, value)); err == nil {
		err = tx.Commit()
	}
	return s.failed("save a setting", err)
}
