package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
)

const (
	// patience limits how long a command waits until the files of its folder are known,
	// and how long what changed before it is read.
	patience = 2 * time.Second
	// thoroughness limits how long what a step changed is read.
	thoroughness = 5 * time.Second
	// maxBaseline limits the contents in bytes that are read of a folder at first.
	maxBaseline = 512 << 20
)

// tree is what is known of a folder: its files as they were when a step last began
// or ended there. All sessions in the folder share it.
//
// A change belongs to one step only: to the one that ends when the change is found,
// or, if it is found when another step begins, to the one that has run longest. A
// change that is found while no step runs was made by somebody else, and is known
// from then on.
type tree struct {
	folder string // absolute, without links
	own    string // a folder that is never looked into, with slashes
	store  *objects.Store
	life
	progress

	mu      sync.Mutex
	watch   *watch  // nil if the system does not tell of changes
	index   *index  // nil if another process writes it
	running []*step // in the order in which they began
	working bool    // unread files are being read
	known
}

// progress says how far the folder is known.
type progress struct {
	// ready is closed when every file has been looked at, and settled when every file
	// has been read.
	ready, settled chan struct{}
	waiting        sync.Once
	waited         time.Time // until when commands wait for settled; set by waiting
}

// life is how long something is done in the background.
type life struct {
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// known is what is known of the files of a folder.
type known struct {
	top         *dir
	at          time.Time // when they were last looked at
	files, dirs int
	partial     bool     // there is more than is followed
	unread      []string // paths of files whose contents are not known yet
	exclude     stamp    // of the clone's rules for ignored files
	// cutOff is what changed since an earlier process ended in the middle of a step.
	cutOff []change
}

// newTree begins to look at a folder.
func (j *Journal) newTree(folder string) *tree {
	t := &tree{folder: folder, own: filepath.ToSlash(j.home), store: j.store, watch: j.watch()}
	t.ready, t.settled = make(chan struct{}), make(chan struct{})
	t.ctx, t.stop = context.WithCancel(context.Background())
	t.wg.Go(func() { // ends with its files, or with t.ctx
		defer close(t.settled)
		t.load(filepath.Join(j.dir, "trees"), func() bool { return j.cutOff(folder) })
		t.readAll(maxBaseline)
	})
	return t
}

// indexName is the name of a folder's index.
func indexName(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return hex.EncodeToString(sum[:16])
}

// load looks at all files, and learns from the index which are known from earlier.
func (t *tree) load(indexes string, wasCutOff func() bool) {
	defer close(t.ready)
	t.mu.Lock()
	defer t.mu.Unlock()
	var known map[string]*entry
	t.index, known = openIndex(filepath.Join(indexes, indexName(t.folder)))
	limitIndexes(t.ctx, indexes)
	t.top = &dir{}
	t.excluded()
	cutOff := map[string]*entry{}
	t.at = time.Now()
	t.scanFirst(known)
	if t.index != nil && len(known) > 0 && wasCutOff() {
		cutOff = t.since(known)
	}
	t.cutOff = t.capture(t.ctx, cutOff)
	t.unread = nil
	t.top.each(func(at string, e *entry) {
		if e.unkept == agent.UnkeptUnseen {
			t.unread = append(t.unread, at)
		}
	})
	slices.Sort(t.unread)
	t.working = true
	if t.ctx.Err() == nil {
		t.remember()
	}
}

// scanFirst looks at everything for the first time. t.mu is held.
func (t *tree) scanFirst(known map[string]*entry) {
	root, err := os.OpenRoot(t.folder)
	if err != nil {
		t.partial = true
		return
	}
	defer root.Close()
	s := scan{tree: t, known: known}
	t.top = s.directory(root, "", nil, nil, rulesAbove(t.folder), 0)
	t.partial = s.partial
}

// since returns the files that are not what they were, as they were. t.mu is held.
func (t *tree) since(known map[string]*entry) map[string]*entry {
	before := map[string]*entry{}
	for at, e := range known {
		if now := t.top.file(at); now == nil || now.stamp != e.stamp {
			before[at] = e
		}
	}
	t.top.each(func(at string, _ *entry) {
		if known[at] == nil {
			before[at] = nil
		}
	})
	return before
}

// work reads what is unread in the background. t.mu is held.
func (t *tree) work() {
	if !t.working && t.ctx.Err() == nil {
		t.working = true
		t.wg.Go(func() { t.readAll(maxBaseline) }) // ends with its files, or with t.ctx
	}
}

// readAll reads the contents of files that are not known. A file that changes before
// it has been read stays unknown. Nobody waits for a lock while a file is read.
func (t *tree) readAll(most int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.working = false }()
	reading := reader{tree: t}
	defer func() { reading.close() }()
	for len(t.unread) > 0 && t.ctx.Err() == nil {
		at := t.unread[0]
		t.unread = t.unread[1:]
		e := t.top.file(at)
		if e == nil || e.unkept != agent.UnkeptUnseen {
			continue
		}
		if most -= e.stamp.size; most < 0 && e.stamp.size <= t.store.MaxFile() {
			e.unkept = agent.UnkeptFull
			continue
		}
		root, name, ok := reading.open(at)
		if !ok {
			continue
		}
		t.mu.Unlock()
		now := read(t.ctx, t.store, root, name)
		t.mu.Lock()
		if now != nil && now.stamp == e.stamp && t.top.file(at) == e {
			*e = *now
			t.index.put(at, e)
		}
	}
	t.index.flush()
	if t.index.crowded() && t.ctx.Err() == nil {
		t.remember()
	}
}

// remember rewrites the index. t.mu is held.
func (t *tree) remember() {
	if err := t.index.rewrite(t.top); err != nil {
		slog.Warn("could not remember the files of a folder", "err", err)
	}
}

// await waits until the files are known, or ctx ends. Only the first commands of a
// folder wait, and together no longer than [patience]. It reports whether the files
// have at least been looked at.
func (t *tree) await(ctx context.Context) bool {
	t.waiting.Do(func() { t.waited = time.Now().Add(patience) })
	ctx, cancel := context.WithDeadline(ctx, t.waited)
	defer cancel()
	select {
	case <-t.settled:
	case <-ctx.Done():
	case <-t.ctx.Done():
	}
	select {
	case <-t.ready:
		return t.ctx.Err() == nil
	default:
		return false
	}
}

// close ends what is done in the background, and remembers what is known.
func (t *tree) close() {
	t.stop()
	t.wg.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.ready:
		t.index.flush()
	default:
	}
	t.index.close()
	t.index = nil
	t.watch.close()
	t.watch = nil
}
