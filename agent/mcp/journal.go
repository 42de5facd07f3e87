package mcp

import (
	"slices"
	"sync"
	"time"
)

const (
	mostEntries = 500
	mostEntry   = 2 << 10 // bytes of one entry
)

// journal keeps the newest entries of the log of a server. It outlives its
// connections.
type journal struct {
	now func() time.Time

	mu      sync.Mutex
	entries []LogEntry
}

func (j *journal) add(level, from, text string) {
	entry := LogEntry{Time: j.now(), Level: shorten(level, 16), From: shorten(from, 100), Text: shorten(text, mostEntry)}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.entries) >= 2*mostEntries {
		j.entries = slices.Clone(j.entries[len(j.entries)-mostEntries:])
	}
	j.entries = append(j.entries, entry)
}

func (j *journal) newest() []LogEntry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries[max(0, len(j.entries)-mostEntries):])
}
