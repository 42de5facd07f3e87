package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/transcript"
	"atelier.dev/atelier/backend/transcript/watch"
)

// ImportConfig is what imports need of the application.
type ImportConfig struct {
	Store backend.Store
	// Folder is the project's, and User the home folder of the user, where other programs
	// keep their sessions.
	Folder, User string
	Getenv       func(string) string
	// Settings returns those of a new session.
	Settings func(context.Context) (agent.Settings, error)
	// Start returns the first event of a new session.
	Start func() agent.SessionStart
	// Price prices what sessions of others used.
	Price watch.Price
	// Show is called with the event of an imported session, which is stored.
	Show func(agent.Event)
}

// Imports makes sessions of transcripts. It is safe for concurrent use.
type Imports struct {
	cfg     ImportConfig
	now     importing
	watcher watch.Watcher
}

// NewImports returns imports.
func NewImports(cfg ImportConfig) *Imports {
	return &Imports{cfg: cfg, now: importing{turn: make(chan struct{}, 1)}, watcher: watch.Watcher{Price: cfg.Price}}
}

// Register registers the methods of imports.
func (m *Imports) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "transcripts.found", m.found)
	dispatch.Handle(d, "transcripts.import", m.Import)
	dispatch.Handle(d, "transcripts.progress", m.progress)
	dispatch.Handle(d, "transcripts.stop_import", m.stop)
	dispatch.Handle(d, "transcripts.watch", m.watch)
	dispatch.Handle(d, "transcripts.search", m.search)
}

// maxFoundPage limits a page of transcripts.
const maxFoundPage = 200

// FoundRequest asks for a page of the transcripts on this machine.
type FoundRequest struct {
	Offset int `json:"offset,omitempty"`
	Limit  int `json:"limit,omitempty"` // 50 if it is 0
}

// FoundReply answers transcripts.found.
type FoundReply struct {
	Found []FoundTranscript `json:"found,omitempty"`
	// Total is how many there are, and Folder the project's.
	Total  int    `json:"total"`
	Folder string `json:"folder"`
	// More says that there are so many that some were not looked at.
	More bool `json:"more,omitempty"`
}

// FoundTranscript is a transcript that can be imported.
type FoundTranscript struct {
	transcript.Found
	// Session is the one that it was imported as; empty if it was not.
	Session string `json:"session,omitempty"`
	// Grown says that it has grown since.
	Grown bool `json:"grown,omitempty"`
}

// found lists the transcripts of other programs, the newest first
// (LIVE-02).
func (m *Imports) found(ctx context.Context, in FoundRequest) (FoundReply, error) {
	out := FoundReply{Folder: m.cfg.Folder}
	stores := transcript.Stores(m.cfg.User, m.cfg.Getenv)
	var all []transcript.Found
	for _, s := range stores {
		found, more, err := s.List(ctx)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		if err != nil {
			continue // a store that cannot be read has none for us
		}
		all, out.More = append(all, found...), out.More || more
	}
	slices.SortStableFunc(all, func(a, b transcript.Found) int { return cmp.Compare(b.At, a.At) })
	out.Total = len(all)
	imported, err := m.imported(ctx)
	if err != nil {
		return out, err
	}
	from := min(max(in.Offset, 0), len(all))
	to := min(from+min(cmp.Or(max(in.Limit, 0), 50), maxFoundPage), len(all))
	for _, found := range all[from:to] {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		s := storeOf(stores, found.Program)
		item := FoundTranscript{Found: s.Describe(found)}
		path := filepath.Join(s.Dir, filepath.FromSlash(found.Name))
		if i := slices.IndexFunc(imported, func(info backend.SessionInfo) bool { return info.Imported.Path == path }); i >= 0 {
			item.Session, item.Grown = imported[i].ID, found.Size > imported[i].Imported.Size
		}
		out.Found = append(out.Found, item)
	}
	return out, nil
}

func storeOf(stores []transcript.Store, p agent.Program) transcript.Store {
	i := slices.IndexFunc(stores, func(s transcript.Store) bool { return s.Program == p })
	if i < 0 {
		return transcript.Store{}
	}
	return stores[i]
}

// imported returns the folder's sessions that were read from files, the newest first.
// Their forks are not among them, and neither are deleted ones.
func (m *Imports) imported(ctx context.Context) ([]backend.SessionInfo, error) {
	all, err := m.cfg.Store.Sessions(ctx, m.cfg.Folder)
	return slices.DeleteFunc(all, func(info backend.SessionInfo) bool {
		return info.Imported == nil || info.Origin != nil || info.Marks.Deleted != 0
	}), err
}

// ImportRequest is for transcripts.import: a transcript in the store of a program, or
// the path of a file.
type ImportRequest struct {
	Program agent.Program `json:"program,omitempty"`
	Name    string        `json:"name,omitempty"`
	Path    string        `json:"path,omitempty"`
	// Again imports what was imported already, as another session.
	Again bool `json:"again,omitempty"`
}

// ImportReply answers transcripts.import.
type ImportReply struct {
	Session backend.SessionInfo `json:"session"`
	// Already says that the transcript had been imported before, as this session, and
	// Grown that it has grown since.
	Already bool `json:"already,omitempty"`
	Grown   bool `json:"grown,omitempty"`
}

// Import makes a session of a transcript. Nothing of it is in the ledger. It
// has the user's settings, whatever its own were.
func (m *Imports) Import(ctx context.Context, in ImportRequest) (ImportReply, error) {
	ctx, done, err := m.now.begin(ctx)
	if err != nil {
		return ImportReply{}, err
	}
	defer done()
	file, err := m.open(in)
	if err != nil {
		return ImportReply{}, unreadable(cmp.Or(in.Path, in.Name), err)
	}
	defer file.Close()
	id, err := file.ID(ctx)
	if err != nil {
		return ImportReply{}, unreadable(file.Path, err)
	}
	earlier, err := m.imported(ctx)
	if err != nil {
		return ImportReply{}, err
	}
	same := slices.IndexFunc(earlier, func(info backend.SessionInfo) bool {
		from := info.Imported
		return from.Program == file.Program && (id != "" && from.ID == id || from.Path == file.Path)
	})
	if same >= 0 && !in.Again {
		size, err := file.Extent(ctx)
		return ImportReply{Session: earlier[same], Already: true, Grown: size > earlier[same].Imported.Size}, err
	}
	settings, err := m.cfg.Settings(ctx)
	if err != nil {
		return ImportReply{}, err
	}
	m.now.show(file)
	info := backend.SessionInfo{ID: ulid.Make().String(), Folder: m.cfg.Folder, State: agent.StateIdle, Settings: settings, Usage: llm.Usage{Known: true}}
	set := agent.SettingsChange{Settings: settings}
	info, err = m.cfg.Store.CreateSessionFrom(ctx, info, file.Events(ctx, []agent.Payload{m.cfg.Start(), set}, []agent.Payload{set}))
	if err != nil && errors.Is(context.Cause(ctx), errImportStopped) {
		return ImportReply{}, backend.Problem(backend.ProblemImportStopped)
	}
	if err != nil {
		return ImportReply{}, unreadable(file.Path, err)
	}
	m.cfg.Show(agent.Event{Session: info.ID, Seq: info.Seq, At: info.UpdatedAt, Data: *info.Imported})
	return ImportReply{Session: info}, nil
}

// importing is the import that is under way, if there is one. There is one at a time,
// so that nothing is imported twice because two pages ask for it.
type importing struct {
	turn chan struct{} // held while something is imported
	mu   sync.Mutex
	file *transcript.File // nil while nothing is stored
	stop context.CancelCauseFunc
}

// errImportStopped is the cause with which the context of an import ends that a
// person stops.
var errImportStopped = errors.New("the import was stopped")

// begin waits for the turn. The import ends with the context that is returned.
func (i *importing) begin(ctx context.Context) (context.Context, func(), error) {
	select {
	case i.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx, nil, context.Cause(ctx)
	}
	ctx, stop := context.WithCancelCause(ctx)
	i.mu.Lock()
	i.stop = stop
	i.mu.Unlock()
	return ctx, func() {
		i.mu.Lock()
		i.file, i.stop = nil, nil
		i.mu.Unlock()
		stop(nil)
		<-i.turn
	}, nil
}

// show says which file is being read.
func (i *importing) show(file *transcript.File) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.file = file
}

// ImportProgress answers transcripts.progress. Without a path nothing is being read.
type ImportProgress struct {
	Path string `json:"path,omitempty"`
	// Done is the share of the file that has been read, from 0 to 1.
	Done float64 `json:"done"`
}

// progress says how much of the current import is done.
func (m *Imports) progress(context.Context, backend.Empty) (ImportProgress, error) {
	m.now.mu.Lock()
	defer m.now.mu.Unlock()
	file := m.now.file
	if file == nil {
		return ImportProgress{}, nil
	}
	return ImportProgress{Path: file.Path, Done: file.Done()}, nil
}

// stop stops the import that is under way. Nothing of it stays.
func (m *Imports) stop(context.Context, backend.Empty) (backend.Empty, error) {
	m.now.mu.Lock()
	defer m.now.mu.Unlock()
	if m.now.stop != nil {
		m.now.stop(errImportStopped)
	}
	return backend.Empty{}, nil
}

func (m *Imports) open(in ImportRequest) (*transcript.File, error) {
	if in.Program == "" {
		path := in.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.cfg.Folder, path)
		}
		return transcript.Open(path)
	}
	return storeOf(transcript.Stores(m.cfg.User, m.cfg.Getenv), in.Program).Open(in.Name)
}

// unreadable tells the user why a transcript cannot be imported. Errors of the store
// and of a request that was given up stay as they are.
func unreadable(path string, err error) error {
	var known *backend.Error
	problem := backend.ProblemImportUnread
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, transcript.ErrUnknown), errors.Is(err, transcript.ErrNotRegular):
		problem = backend.ProblemImportUnknown
	case errors.Is(err, transcript.ErrEmpty):
		problem = backend.ProblemImportEmpty
	case errors.Is(err, transcript.ErrTooLarge):
		problem = backend.ProblemImportLarge
	case errors.Is(err, transcript.ErrNewer):
		problem = backend.ProblemImportNewer
	case errors.Is(err, fs.ErrNotExist):
		problem = backend.ProblemImportMissing
	}
	return backend.Problem(problem, path).Because(fmt.Errorf("import a transcript: %w", err))
}
