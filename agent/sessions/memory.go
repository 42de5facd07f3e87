package sessions

import (
	"context"
	"maps"
	"slices"
	"sync"

	"atelier.dev/atelier/agent"
)

// Memory keeps sessions in memory. The zero Memory is empty.
type Memory struct {
	mu   sync.Mutex
	logs map[string][]agent.Event
}

// Append implements [Log].
func (m *Memory) Append(_ context.Context, session string, count int64, events []agent.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if int64(len(m.logs[session])) != count {
		return ErrConflict
	}
	if m.logs == nil {
		m.logs = map[string][]agent.Event{}
	}
	m.logs[session] = append(m.logs[session], events...)
	return nil
}

// Events implements [Log].
func (m *Memory) Events(_ context.Context, session string) ([]agent.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	events, ok := m.logs[session]
	if !ok {
		return nil, ErrNotFound
	}
	return slices.Clone(events), nil
}

// Sessions implements [Log].
func (m *Memory) Sessions(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.logs)), nil
}

// Delete implements [Log].
func (m *Memory) Delete(_ context.Context, session string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.logs, session)
	return nil
}
