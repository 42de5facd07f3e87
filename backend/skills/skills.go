package skills

import (
	"context"
	"sync"

	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/internal/watch"
	"atelier.dev/atelier/backend/trust"
)

// Config is what a Skills works with.
type Config struct {
	// Folder is the project and User the user's home folder, absolute and without links.
	Folder, User string
	// Home is Atelier's own folder, which has the trash.
	Home  string
	Store backend.Settings
	Trust *trust.Trust
	// FolderOf returns the folder of a session; empty if there is none. Without it, all
	// of them are in the project.
	FolderOf func(ctx context.Context, session string) string
	// Known says which tools there are; nil stands for those that all sessions have.
	Known skill.KnownTools
	// Changed is told of each change of the list. It must not block.
	Changed func()

	watch watch.Config // of tests
}

// Skills keeps the skills and commands of one folder. It is safe for concurrent use.
type Skills struct {
	cfg   Config
	watch *watcher
	uses  *uses

	ctx    context.Context // ends when it is closed
	cancel context.CancelFunc

	// reader has room for the one who reads the files.
	reader chan struct{}

	mu       sync.Mutex
	places   map[string]*place // by folder
	order    []string          // of the folders, the one that was asked for last at the end
	version  uint64            // of the last change of any library
	changing sync.Mutex        // held while something is stored or written
}

// New returns the skills of a folder. Close ends what runs.
func New(cfg Config) *Skills {
	s := &Skills{cfg: cfg, reader: make(chan struct{}, 1), places: map[string]*place{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.uses = newUses(cfg.Store)
	s.watch = newWatcher(s, cfg.watch)
	return s
}

// Close ends the watch over the folders and writes what is left to write.
func (s *Skills) Close(ctx context.Context) error {
	s.cancel()
	s.watch.Close()
	return s.uses.close(ctx)
}

// folderOf returns the place of a session; that of the project if it is empty.
func (s *Skills) folderOf(ctx context.Context, session string) string {
	if session != "" && s.cfg.FolderOf != nil {
		if folder := s.cfg.FolderOf(ctx, session); folder != "" {
			return folder
		}
	}
	return s.cfg.Folder
}
