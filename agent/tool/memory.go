package tool

import (
	"context"
	"fmt"
	"sync"

	"atelier.dev/atelier/agent/env"
)

// fileMemory knows the content of each file as the model last saw it, so that
// no edit is made blindly or over somebody else's change (K-28). It is safe
// for concurrent use.
type fileMemory struct {
	mu   sync.Mutex
	hash map[string]string // by absolute path
}

func newFileMemory() *fileMemory { return &fileMemory{hash: map[string]string{}} }

// saw records that the model has seen, or itself written, content with the
// given hash. An empty hash records nothing.
func (m *fileMemory) saw(path, hash string) {
	if hash == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hash[path] = hash
}

// maxShown is how many files of one command are remembered as shown.
const maxShown = 20

// shownFiles are the contents, by their hashes, that files had before a command
// printed them.
type shownFiles map[string]string

// before looks at files that a command is about to print.
func (m *fileMemory) before(ctx context.Context, files env.Files, paths []string) shownFiles {
	shown := shownFiles{}
	for _, path := range paths[:min(len(paths), maxShown)] {
		if data, err := files.ReadFile(ctx, path); err == nil {
			shown[path] = env.Hash(data)
		}
	}
	return shown
}

// after records that the model has seen what a command printed of files: text
// counts as read by whatever tool it came (K-42). A file that changed meanwhile
// does not.
func (m *fileMemory) after(ctx context.Context, files env.Files, shown shownFiles) {
	for path, hash := range shown {
		if data, err := files.ReadFile(ctx, path); err == nil && env.Hash(data) == hash {
			m.saw(path, hash)
		}
	}
}

// knows reports whether the model has seen exactly that content.
func (m *fileMemory) knows(path string, content []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.hash[path] == env.Hash(content)
}

// unchanged is current for what may be changed unseen, but not over somebody
// else's change.
func (m *fileMemory) unchanged(path, shown string, content []byte) error {
	m.mu.Lock()
	known := m.hash[path]
	m.mu.Unlock()
	if known == "" {
		return nil
	}
	return m.current(path, shown, content)
}

// current reports, as an error for the model, that content on disk is not
// what it saw. An empty file can be written unseen: nothing is lost.
func (m *fileMemory) current(path, shown string, content []byte) error {
	if len(content) == 0 {
		return nil
	}
	m.mu.Lock()
	known := m.hash[path]
	m.mu.Unlock()
	switch known {
	case "":
		return fmt.Errorf("%s exists and has not been read in this session. Read it first, then change it", shown)
	case env.Hash(content):
		return nil
	}
	return fmt.Errorf("%s has changed on disk since it was last read. Read it again, then change it", shown)
}
