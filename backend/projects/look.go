package projects

import (
	"context"
	"os"
	"sync"
	"time"

	"atelier.dev/atelier/agent/project"
)

// lookTime is how long a list waits for what its folders look like.
const lookTime = 500 * time.Millisecond

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

// folderLooks looks at several folders at once, because one on a mount that does not
// answer holds up whoever asks. Nothing can stop such a look; it ends when the
// system answers. Until then no other one begins at the same folder, so there are
// no more looks than recent folders.
type folderLooks struct {
	at func(folder string) folderLook

	mu      sync.Mutex
	running map[string]*pendingLook
}

// pendingLook is one look at a folder. found is valid once done is closed.
type pendingLook struct {
	done  chan struct{}
	found folderLook
}

// all looks at the folders. It returns after [lookTime] or when ctx ends, without
// those that did not answer.
func (l *folderLooks) all(ctx context.Context, folders []string) map[string]folderLook {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	begun := map[string]*pendingLook{}
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

func (l *folderLooks) begin(folder string) *pendingLook {
	l.mu.Lock()
	defer l.mu.Unlock()
	if running, ok := l.running[folder]; ok {
		return running
	}
	if l.running == nil {
		l.running = map[string]*pendingLook{}
	}
	begun := &pendingLook{done: make(chan struct{})}
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
