package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/ignore"
	"atelier.dev/atelier/agent/journal/objects"
)

// maxTrees limits how many folders are followed at once: each takes a share of what
// the user's programs may watch.
const maxTrees = 8

// Journal records the steps of the sessions of one process. Several processes share
// its folder. It is safe for concurrent use.
type Journal struct {
	home  string // the folder above the journal's own
	dir   string
	store *objects.Store
	watch func() *watch // begins to watch a folder

	mu     sync.Mutex
	trees  []*tree // the one that was used last is the last
	closed bool
}

// Open returns the journal below the folder where Atelier keeps its data. Close ends
// it.
func Open(home string) *Journal {
	dir := filepath.Join(home, "journal")
	return &Journal{home: home, dir: dir, store: objects.Open(filepath.Join(dir, "objects"), objects.Limits{}), watch: newWatch}
}

// Objects returns the contents that the journal keeps.
func (j *Journal) Objects() *objects.Store { return j.store }

// Close ends everything that the journal does in the background. Later changes are
// not recorded.
func (j *Journal) Close() {
	j.mu.Lock()
	trees := j.trees
	j.trees, j.closed = nil, true
	j.mu.Unlock()
	for _, t := range trees {
		t.close()
	}
	j.store.Close()
}

// Prepare begins to read a folder in the background, because a session is about to
// work there.
func (j *Journal) Prepare(folder string) { j.tree(folder) }

// tree returns what is known of a folder; nil if the journal is closed.
func (j *Journal) tree(folder string) *tree {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	at := slices.IndexFunc(j.trees, func(t *tree) bool { return t.folder == folder })
	if at >= 0 {
		t := j.trees[at]
		j.trees = append(slices.Delete(j.trees, at, at+1), t)
		return t
	}
	if len(j.trees) >= maxTrees {
		unused := slices.IndexFunc(j.trees, (*tree).idle)
		if unused < 0 {
			return nil
		}
		j.trees[unused].close()
		j.trees = slices.Delete(j.trees, unused, unused+1)
	}
	t := j.newTree(folder)
	j.trees = append(j.trees, t)
	return t
}

// Recorder returns what records the steps of a session whose tools act in a folder.
// The folder is absolute and without links.
func (j *Journal) Recorder(session, folder string) agent.Recorder {
	return &recorder{journal: j, session: session, folder: folder}
}

// rulesAbove returns the rules for ignored files that hold in a folder.
func rulesAbove(folder string) *ignore.Rules { return ignore.Above(folder) }

// key names a step of a session in a file name. The id of a call is a model's.
func key(session, id string) string {
	sum := sha256.Sum256([]byte(session + "\x00" + id))
	return hex.EncodeToString(sum[:16])
}
