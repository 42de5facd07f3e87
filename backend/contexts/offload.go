package contexts

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"atelier.dev/atelier/agent/offload"
	"atelier.dev/atelier/backend/redact"
)

// Offload returns what keeps the results that a session's compactions shorten as files in a
// folder of the session's own, without secrets (COM-20, COM-21, COM-22). What cannot be kept
// is logged: the log of the session has it all the same.
func (c *Contexts) Offload(folder string) func(ctx context.Context, item, text string) string {
	return func(ctx context.Context, item, text string) string {
		room, err := storedRoom(ctx, c.cfg.Settings)
		if err != nil {
			slog.Warn("could not read when results become files; using the default", "err", err)
		}
		if room.OffloadFrom == NoOffload {
			return ""
		}
		store := offload.Store{Dir: filepath.Join(folder, "offload"), From: room.OffloadFrom * bytesPerToken, Redact: func(s string) (string, error) { return c.withoutSecrets(ctx, s) }}
		path, err := store.Put(ctx, item, text)
		if err != nil && !errors.Is(err, offload.ErrShort) {
			slog.Warn("could not keep a result as a file", "item", item, "err", err)
		}
		return path
	}
}

// withoutSecrets returns a text without the keys of providers and what else looks like a
// secret.
func (c *Contexts) withoutSecrets(ctx context.Context, text string) (string, error) {
	keys, err := c.cfg.Keys(ctx)
	if err != nil {
		return "", err
	}
	r := redact.New(redact.RedactPolicy{}, keys, "")
	if err := r.Scan(0, text); err != nil {
		return "", err
	}
	return redact.Value(r, text)
}
