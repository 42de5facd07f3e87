package search_test

import (
	"context"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// countedLog is a log without sessions that counts how often it is listed.
type countedLog struct{ listed int }

func (l *countedLog) Version(context.Context) (int64, error) { return int64(l.listed), nil }

func (l *countedLog) Heads(context.Context) ([]backend.LogHead, error) {
	l.listed++
	return nil, nil
}

func (l *countedLog) Session(_ context.Context, id string) (backend.SessionInfo, error) {
	return backend.SessionInfo{}, backend.Problem(backend.ProblemSessionMissing, id)
}

func (l *countedLog) Events(context.Context, backend.EventRange) ([]agent.Event, error) {
	return nil, nil
}

func (l *countedLog) Close() error { return nil }

// done is closed once the log has been quiet for long.
func (l *countedLog) done() <-chan time.Time { return time.After(time.Minute) }
