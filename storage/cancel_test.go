package storage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// A caller that cancels a read or a write gets the cancellation as the error,
// not a hint about the disk.
func TestCancelledCalls(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	add(t, s, "a", agent.Warning{Code: "w"})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, end := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer end()
	for name, call := range map[string]func(context.Context) error{
		"events":   func(ctx context.Context) error { _, err := s.Events(ctx, backend.EventRange{Session: "a"}); return err },
		"sessions": func(ctx context.Context) error { _, err := s.Sessions(ctx, "/p"); return err },
		"waiting":  func(ctx context.Context) error { _, err := s.Waiting(ctx); return err },
		"session":  func(ctx context.Context) error { _, err := s.Session(ctx, "a"); return err },
		"append": func(ctx context.Context) error {
			_, err := s.Append(ctx, agent.Event{Session: "a", Data: agent.Warning{Code: "w"}})
			return err
		},
		"costs":   func(ctx context.Context) error { _, err := s.Costs(ctx, "/p", "a"); return err },
		"queue":   func(ctx context.Context) error { _, err := s.Queue(ctx, "a"); return err },
		"setting": func(ctx context.Context) error { _, err := s.Setting(ctx, "k"); return err },
		"set":     func(ctx context.Context) error { return s.SetSetting(ctx, "k", "v") },
		"create": func(ctx context.Context) error {
			return s.CreateSession(ctx, backend.SessionInfo{ID: "b", Folder: "/p"})
		},
		"delete":   func(ctx context.Context) error { return s.DeleteSessions(ctx, "a") },
		"approval": func(ctx context.Context) error { _, err := s.PendingApproval(ctx, "a"); return err },
	} {
		for _, tt := range []struct {
			ctx  context.Context
			want error
		}{{cancelled, context.Canceled}, {late, context.DeadlineExceeded}} {
			if err := call(tt.ctx); !errors.Is(err, tt.want) || code(err) != "" {
				t.Errorf("%s: %v, code %q; want %v", name, err, code(err), tt.want)
			}
		}
	}
}
