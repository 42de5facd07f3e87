// Package overlap tells sessions of others that work at the same time: in the same folder, and on
// the same files.
package overlap

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/filelog"
)

// The limits of what is remembered of a session's files, and of what is named.
const (
	maxTouched = 5000
	maxNamed   = 5
)

// Config is what a tracker needs of the application.
type Config struct {
	// Busy reports whether a session works.
	Busy func(session string) bool
	// Folder returns where a session works.
	Folder func(backend.SessionInfo) string
}

// Tracker knows the sessions that are in memory. It is safe for concurrent use.
type Tracker struct {
	cfg     Config
	mu      sync.Mutex
	members map[string]*Member
}

// New returns an empty tracker.
func New(cfg Config) *Tracker { return &Tracker{cfg: cfg, members: map[string]*Member{}} }

// Member is a session among others.
type Member struct {
	tracker *Tracker
	info    backend.SessionInfo
	// met says that it was told of another session in its folder. It then stays told: the
	// next turn of the other may begin at any time.
	met bool
	// touched has the files that it read or wrote, and whether it wrote them.
	touched map[string]bool
}

// Join adds a session, which may have been there before.
func (c *Tracker) Join(info backend.SessionInfo) *Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &Member{tracker: c, info: info, touched: map[string]bool{}}
	if before := c.members[info.ID]; before != nil {
		m.met, m.touched = before.met, before.touched
	}
	c.members[info.ID] = m
	return m
}

// Leave removes a session.
func (c *Tracker) Leave(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.members, session)
}

// Observe takes note of the files that a session has changed.
func (c *Tracker) Observe(ev agent.Event) {
	recorded, told := filelog.Changed(ev)
	if recorded == nil && len(told) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.members[ev.Session]
	if m == nil {
		return
	}
	folder := c.cfg.Folder(m.info)
	if recorded != nil {
		for _, f := range recorded.Files {
			m.touch(absolute(folder, f.Path), true)
		}
	}
	for _, f := range told {
		m.touch(absolute(folder, f.Path), true)
		if f.MovedTo != "" {
			m.touch(absolute(folder, f.MovedTo), true)
		}
	}
}

func absolute(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, filepath.FromSlash(path))
}

// touch notes a file. The lock is held.
func (m *Member) touch(path string, wrote bool) {
	if _, known := m.touched[path]; known || len(m.touched) < maxTouched {
		m.touched[path] = m.touched[path] || wrote
	}
}

// others returns the members that work now, except those above this one: who started an agent
// has given it the work. The lock is not held.
func (m *Member) others() (busy []*Member) {
	m.tracker.mu.Lock()
	all := slices.Collect(maps.Values(m.tracker.members))
	m.tracker.mu.Unlock()
	for _, o := range all {
		if o.info.ID != m.info.ID && !o.isAbove(m) && m.tracker.cfg.Busy(o.info.ID) {
			busy = append(busy, o)
		}
	}
	slices.SortFunc(busy, func(a, b *Member) int { return strings.Compare(a.info.ID, b.info.ID) })
	return busy
}

func (m *Member) isAbove(o *Member) bool {
	return o.info.Helper != nil && (m.info.ID == o.info.Helper.Parent || m.info.ID == o.info.Helper.By)
}

// Shared are files that another session writes while this one is at work on them.
type Shared struct {
	Path string // absolute
	By   string // its title, or the agent's name
}

// shared returns those of some files that others write; all that this one has touched if none
// are named.
func (m *Member) shared(paths ...string) (all []Shared) {
	others := m.others()
	m.tracker.mu.Lock()
	defer m.tracker.mu.Unlock()
	if paths == nil {
		paths = slices.Sorted(maps.Keys(m.touched))
	}
	for _, path := range paths {
		at := slices.IndexFunc(others, func(o *Member) bool { return o.touched[path] })
		if at >= 0 {
			all = append(all, Shared{path, others[at].name()})
		}
	}
	return all
}

// name is what others are told of whose the session is.
func (m *Member) name() string {
	if h := m.info.Helper; h != nil {
		return "agent " + cmp.Or(h.Name, h.Label, m.info.ID)
	}
	return "session " + cmp.Or(m.info.Title, m.info.ID)
}

// Notes returns what the model is told before a request: that others work in the folder, and that
// they write files which it has read or written.
func (m *Member) Notes() (notes []agent.Note) {
	folder := m.tracker.cfg.Folder(m.info)
	if m.info.Helper == nil && m.hasCompany(folder) {
		notes = append(notes, agent.Note{
			About: "others", Now: "there",
			Text: "Another session works in this folder at the same time as you. Files may change between two of your steps, and changes that you did not make are not yours to revert. " +
				"Read a file again before you change it, and avoid commands that touch files you do not work on, such as git stash, git checkout or a formatter over everything.",
			Gone:    "No other session is known to work in this folder now.",
			Warning: agent.Warn(agent.WarnCompany, filepath.Base(folder)),
		})
	}
	shared := m.shared()
	if len(shared) == 0 {
		return notes
	}
	var lines []string
	for _, s := range shared[:min(len(shared), maxNamed)] {
		lines = append(lines, fmt.Sprintf("%s (%s)", shown(folder, s.Path), s.By))
	}
	if more := len(shared) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	list := agent.EscapeTags(strings.Join(lines, ", "))
	return append(notes, agent.Note{
		About: "same_files", Now: list,
		Text: "Others are changing files that you have read or written, while you work: " + list + ". " +
			"What you know of them may be out of date. Before you write one, read it again and keep what is not yours, or leave it to the other and say so.",
		Gone:    "Nobody else is known to be changing the files that you have read or written now.",
		Warning: agent.Warn(agent.WarnSameFile, strings.Join(lines, ", ")),
	})
}

func shown(folder, path string) string {
	if rel, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// hasCompany reports whether another session of a person works in a folder, or did.
func (m *Member) hasCompany(folder string) bool {
	met := slices.ContainsFunc(m.others(), func(o *Member) bool { return o.info.Helper == nil && m.tracker.cfg.Folder(o.info) == folder })
	m.tracker.mu.Lock()
	defer m.tracker.mu.Unlock()
	m.met = m.met || met
	return m.met
}

// Gate is the gate of a session, which notes the files that it touches and says in a question that
// another session writes the same ones.
type Gate struct {
	*permission.Policy
	Member *Member
}

// Decide implements [agent.Gate].
func (g Gate) Decide(ctx context.Context, call agent.GateCall) agent.Verdict {
	verdict := g.Policy.Decide(ctx, call)
	if verdict.Decision != agent.Deny {
		g.Member.tracker.mu.Lock()
		for _, path := range slices.Concat(call.Access.Reads, call.Access.Writes) {
			g.Member.touch(filepath.Clean(path), false)
		}
		g.Member.tracker.mu.Unlock()
	}
	return verdict
}

// Foretell implements [agent.Foreteller].
func (g Gate) Foretell(ctx context.Context, call agent.GateCall) agent.Forecast {
	outlook := g.Policy.Foretell(ctx, call)
	if len(call.Access.Writes) == 0 {
		return outlook
	}
	folder := g.Member.tracker.cfg.Folder(g.Member.info)
	same := agent.Effect{ID: agent.EffectShared}
	for _, s := range g.Member.shared(call.Access.Writes...) {
		same.Args = append(same.Args, fmt.Sprintf("%s (%s)", shown(folder, s.Path), s.By))
	}
	if len(same.Args) == 0 {
		return outlook
	}
	return agent.OutlookOf(append(outlook.Effects, same)...)
}
