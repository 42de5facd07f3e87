package workbench

import (
	"context"
	"os"
	"sync"
	"time"

	"atelier.dev/atelier/agent/project"
)

// glanceFor is how long a list waits for what its folders look like.
const glanceFor = 500 * time.Millisecond

// folderLook is what a folder looks like. Its zero value is also that of a folder
// that did not answer in time.
type folderLook struct {
	missing bool
	branch  string
}

func lookAt(folder string) folderLook {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return folderLook{missing: true}
	}
	return folderLook{branch: project.Branch(folder)}
}

// glances looks at several folders at once, because one on a mount that does not
// answer holds up whoever asks. Nothing can stop such a look; it ends when the
// system answers. Until then no other one begins at the same folder, so there are
// no more looks than recent folders.
type glances struct {
	at func(folder string) folderLook

	mu      sync.Mutex
	running map[string]*glance
}

// glance is one look at a folder. found is valid once done is closed.
type glance struct {
	done  chan struct{}
	found folderLook
}

// all looks at the folders. It returns after [glanceFor] or when ctx ends, without
// those that did not answer.
func (l *glances) all(ctx context.Context, folders []string) map[string]folderLook {
	ctx, cancel := context.WithTimeout(ctx, glanceFor)
	defer cancel()
	begun := map[string]*glance{}
	for _, folder := range folders {
		begun[folder] = l.begin(folder)
	}
	found := map[string]folderLook{}
	for folder, look := range begun {
		select {
		case <-look.done:
		case <-ctx.Done():
		}
		select {
		case <-look.done: // perhaps while another one was waited for
			found[folder] = look.found
		default:
		}
	}
	return found
}

func (l *glances) begin(folder string) *glance {
	l.mu.Lock()
	defer l.mu.Unlock()
	if running, ok := l.running[folder]; ok {
		return running
	}
	if l.running == nil {
		l.running = map[string]*glance{}
	}
	begun := &glance{done: make(chan struct{})}
	l.running[folder] = begun
	go func() {
		begun.found = l.at(folder)
		l.mu.Lock()
		delete(l.running, folder)
		l.mu.Unlock()
		close(begun.done)
	}()
	return begun
}
