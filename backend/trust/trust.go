package trust

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Kind says what an item is.
type Kind string

// The kinds of items.
const (
	KindHook   Kind = "hook"   // of a session
	KindServer Kind = "server" // of the Model Context Protocol
	KindSkill  Kind = "skill"  // with command lines, or files that can be run
	KindAgent  Kind = "agent"  // a definition with hooks of its own
	// KindLanguage is a language server.
	KindLanguage Kind = "language"
)

// Item is something that a project can make Atelier run.
type Item struct {
	Kind Kind
	// ID identifies the item in its folder. Another definition has another id.
	ID    string
	Title string
	// Origin is the file that defines it. Slot is what it is for. A new item takes
	// the place of an accepted one that is gone from the same origin and slot.
	Origin, Slot string
	// Definition is all of it, as it is shown. Private says that it has values, such as
	// those of headers, which are not kept.
	Definition string
	Private    bool
	Command    Command
	// Scope and Line are where in the project's or the user's files it stands.
	Scope agent.Scope
	Line  int
	// Notes are what its owner has to say about it.
	Notes []Note
	// Own says that the user wrote it outside the project. It needs to be accepted
	// only if it runs files of the project.
	Own bool
}

// Command is what an item starts or, if it starts nothing here, what it reaches.
type Command struct {
	URL string
	// Line is a line for a shell or, if there are Args, a program.
	Line string
	Args []string
	// Other says that the shell does not read POSIX syntax, so that only the
	// names in the line are found.
	Other bool
	// Dir is where it starts; empty for the folder itself. Env are its variables.
	Dir string
	Env map[string]string
	// With are files of the project, and folders with all that is in them, that belong to
	// it whether or not the line names them: relative to the folder, with slashes.
	With []string
}

// String returns the command on one line, as a person is shown it.
func (c Command) String() string {
	switch {
	case c.Line == "" && c.URL == "":
		return strings.Join(c.With, " ")
	case c.Line == "":
		return c.URL
	}
	return strings.Join(append([]string{c.Line}, c.Args...), " ")
}

// State says what the user decided about an item.
type State string

// The states.
const (
	StateUnknown State = "unknown"
	StateTrusted State = "trusted"
	StateChanged State = "changed" // it was trusted, and is something else now
	StateRefused State = "refused"
	StateGone    State = "gone" // it was trusted, and no longer exists
)

// Status is an item with what the user decided.
type Status struct {
	Item
	State State
	// Files are the project's files that are pinned with it, relative to the folder.
	Files []string
	Notes []Note
	// Blocked says that it cannot be accepted, for a reason in the notes.
	Blocked bool
}

// Config is what a Trust works with.
type Config struct {
	// Folder is the project and User the user's home folder, absolute and without
	// links.
	Folder, User string
	Store        backend.Settings
	Now          func() time.Time
}

// Trust keeps what the user accepted in one folder. It is safe for concurrent use.
type Trust struct {
	cfg Config

	mu       sync.Mutex
	kinds    map[Kind][]Item
	current  *itemSet // of all kinds
	run      index    // what was accepted until the program ends
	runTable *table   // of run; nil if it changed since
	read     reading
	changing sync.Mutex // held while the index is stored
}

// New returns a Trust.
func New(cfg Config) *Trust {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Trust{cfg: cfg, kinds: map[Kind][]Item{}, current: itemSetOf(nil)}
}

// SetItems says which items of a kind there are now. Only they can run.
func (t *Trust) SetItems(kind Kind, items []Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kinds[kind] = slices.Clone(items)
	var all []Item
	for _, kind := range slices.Sorted(maps.Keys(t.kinds)) {
		all = append(all, t.kinds[kind]...)
	}
	t.current = itemSetOf(all)
}

// items returns what stands there now.
func (t *Trust) items() *itemSet {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

func (t *Trust) item(id string) (Item, error) {
	now := t.items()
	if i, ok := now.byID[id]; ok {
		return now.all[i], nil
	}
	return Item{}, backend.Problem(backend.ProblemTrustMissing)
}

// Check says whether an item may run in a folder, which may be another work tree
// of the project; empty means the project's own. It reads every pinned file again.
// An item that is not defined there is gone, whether or not it was trusted.
func (t *Trust) Check(ctx context.Context, id, folder string) (State, error) {
	item, err := t.item(id)
	if err != nil {
		return StateGone, nil //nolint:nilerr // it does not stand there
	}
	return t.CheckThis(ctx, item, folder)
}

// CheckThis is [Trust.Check] for an item as its owner holds it, which is what runs, even
// if something else stands in its place by now.
func (t *Trust) CheckThis(ctx context.Context, item Item, folder string) (State, error) {
	before, err := t.record(ctx, item)
	if err != nil {
		return StateUnknown, err
	}
	return t.judge(item, before, t.snapshot(item, folder)), nil
}

// judge compares what was decided with what stands there.
func (t *Trust) judge(item Item, before record, now snapshot) State {
	here := t.forRun(item)
	switch {
	case before.Refused:
		return StateRefused
	case now.blocked():
		if before.Seal == "" && here.Seal == "" {
			return StateUnknown
		}
		return StateChanged
	case item.Own && !now.present(), before.Seal == now.seal(), here.Seal == now.seal():
		return StateTrusted
	case before.Seal != "" || here.Seal != "":
		return StateChanged
	}
	return StateUnknown
}

// forRun returns what was accepted of an item until the program ends.
func (t *Trust) forRun(item Item) record {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runTable == nil {
		t.runTable = tableOf(t.run)
	}
	return t.runTable.of(item, t.current)
}

// List lists what stands there and what was trusted and is gone.
func (t *Trust) List(ctx context.Context) ([]Status, error) {
	decided, err := t.load(ctx)
	if err != nil {
		return nil, err
	}
	now := t.items()
	var out []Status
	replaced := map[string]bool{}
	for _, item := range now.all {
		before := decided.table.of(item, now)
		replaced[before.key()] = true
		out = append(out, t.status(item, before, t.snapshot(item, "")))
	}
	for _, r := range decided.index {
		if !replaced[r.key()] && r.Seal != "" && t.stands(r.Kind) {
			out = append(out, Status{Item: Item{Kind: r.Kind, ID: r.ID, Title: r.Title, Origin: r.Origin, Slot: r.Slot, Scope: r.Scope}, State: StateGone})
		}
	}
	return out, nil
}

// stands reports whether it is known which items of a kind stand there.
func (t *Trust) stands(kind Kind) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kinds[kind] != nil
}

func (t *Trust) status(item Item, before record, now snapshot) Status {
	s := Status{Item: item, State: t.judge(item, before, now), Notes: now.notes, Blocked: now.blocked()}
	for _, f := range now.files {
		if f.State != fileMissing {
			s.Files = append(s.Files, quote(f.Path))
		}
	}
	return s
}

// Keeps reports whether the user trusts an item, whether or not it stands there: it
// was accepted, nothing took its place, and the trust was not revoked.
func (t *Trust) Keeps(ctx context.Context, kind Kind, id string) (bool, error) {
	decided, err := t.load(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(slices.Concat(decided.index, t.run), func(r record) bool {
		return r.Kind == kind && r.ID == id && r.Seal != ""
	}), err
}

// Accept trusts an item, if it is still what [Trust.Show] showed, and was not refused
// meanwhile.
func (t *Trust) Accept(ctx context.Context, id, seal string) error {
	item, err := t.item(id)
	if err != nil {
		return err
	}
	now := t.snapshot(item, "")
	switch {
	case now.blocked():
		return backend.Problem(backend.ProblemTrustBlocked, clip(item.Title))
	case now.seal() != strings.TrimSuffix(seal, refusedSeal):
		return backend.Problem(backend.ProblemTrustChanged, clip(item.Title))
	}
	return t.keep(ctx, item, record{Seal: now.seal()}, now.contents(item.Private), func(before record) error {
		if before.Refused && !strings.HasSuffix(seal, refusedSeal) {
			return backend.Problem(backend.ProblemTrustChanged, clip(item.Title))
		}
		return nil
	})
}

// refusedSeal ends the seal of what was refused when it was shown.
const refusedSeal = "-refused"

// Refuse refuses an item, whatever becomes of it, until the user accepts it or
// revokes the refusal.
func (t *Trust) Refuse(ctx context.Context, id string) error {
	item, err := t.item(id)
	if err != nil {
		return err
	}
	return t.keep(ctx, item, record{Refused: true}, nil, func(record) error { return nil })
}

// Revoke forgets what was decided about an item, also about one that is gone.
func (t *Trust) Revoke(ctx context.Context, id string) error {
	t.mu.Lock()
	t.run, t.runTable = slices.DeleteFunc(slices.Clone(t.run), func(r record) bool { return r.ID == id }), nil
	t.mu.Unlock()
	return t.forget(ctx, id)
}

// AcceptForRun trusts what stands there of a kind until the program ends, and
// returns how many items that is. Items that are refused or cannot be accepted
// are left out.
func (t *Trust) AcceptForRun(ctx context.Context, kind Kind) (int, error) {
	n := 0
	for _, item := range t.items().all {
		if item.Kind != kind {
			continue
		}
		before, err := t.record(ctx, item)
		if err != nil {
			return n, err
		}
		now := t.snapshot(item, "")
		if before.Refused || now.blocked() {
			continue
		}
		t.mu.Lock()
		t.run, t.runTable = append(t.run, record{Kind: kind, ID: item.ID, Origin: item.Origin, Slot: item.Slot, Seal: now.seal()}), nil
		t.mu.Unlock()
		n++
	}
	return n, nil
}
