// Package trees knows the git worktrees of a project: which session works in which, what
// would be lost with each, and which may go. Its tools move a session into one and back.
package trees

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/worktree"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/live"
)

// Config is what the trees of a project need.
type Config struct {
	Project  string // the folder, absolute and without symbolic links
	ReadOnly bool   // nothing may be changed
	Store    backend.Store
	// AtRest fails if a session works.
	AtRest func(ctx context.Context, session string) (backend.SessionInfo, error)
	// Live returns the sessions in memory, whose hooks are told.
	Live func() *live.Sessions
	// Settle ends what the program itself runs in a folder, such as language servers.
	Settle func(ctx context.Context, folder string)
}

// Trees are the worktrees of a project. They are safe for concurrent use.
type Trees struct{ cfg Config }

// New returns the worktrees of a project.
func New(cfg Config) *Trees { return &Trees{cfg} }

// Tree, Held and Dir are those of package worktree.
type (
	Tree = worktree.Tree
	Held = worktree.Held
)

// Dir is the folder of a project that holds its worktrees.
const Dir = worktree.Dir

// Make makes a worktree that begins with the last commit of a folder of the project, and
// is named after its purpose and its user.
func (t *Trees) Make(ctx context.Context, from, words, user string) (Tree, error) {
	return worktree.CreateFrom(ctx, t.cfg.Project, from, worktree.Name(words, user))
}

// Remove is [worktree.Remove].
func Remove(ctx context.Context, tree Tree) (Held, error) { return worktree.Remove(ctx, tree) }

// fire runs the hooks of a session that is at work.
func (t *Trees) fire(ctx context.Context, session string, in agent.HookInput) (advice agent.HookAdvice) {
	if l := t.cfg.Live().Find(session); l != nil {
		advice = l.Fire(ctx, in)
	}
	return advice
}

// Ask asks a session's hooks about a new worktree, and returns why it is refused.
func Ask(ctx context.Context, l *live.Session, tree Tree) error {
	advice := l.Fire(ctx, agent.WorktreeCreateInput{Name: tree.Name, Path: tree.Path(), Branch: tree.Branch()})
	if advice.Decision != agent.Deny {
		return nil
	}
	return fmt.Errorf("a hook refused the worktree: %s", cmp.Or(advice.Reason, "it gave no reason"))
}

// observe runs the hooks of a session outside of its turns, if it is still there.
func (t *Trees) observe(ctx context.Context, session string, in agent.HookInput) {
	if l, release, err := t.cfg.Live().Open(ctx, session); err == nil {
		defer release()
		l.Observe(in.Point(), func(context.Context) agent.HookInput { return in })
	}
}

// Register registers the methods of the page.
func (t *Trees) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "worktrees.list", t.list)
	dispatch.Handle(d, "worktrees.remove", t.remove)
}

// settledTree is how old a worktree is that no session names, before it counts as left by
// a crash: another process may be making it.
const settledTree = 10 * time.Minute

// usersOf returns the sessions that work in worktrees of the project, by their names.
func (t *Trees) usersOf(ctx context.Context) (map[string]backend.SessionInfo, error) {
	sessions, err := t.cfg.Store.Sessions(ctx, t.cfg.Project)
	if err != nil {
		return nil, err
	}
	users := map[string]backend.SessionInfo{}
	for _, info := range sessions {
		if name := treeName(info); name != "" {
			users[name] = info
		}
	}
	for _, info := range sessions { // those that left one keep it
		for _, place := range info.Places {
			if name := nameIn(place); name != "" {
				if _, used := users[name]; !used {
					users[name] = info
				}
			}
		}
	}
	return users, nil
}

// treeName returns the name of the worktree that was made for a session; empty if none was.
func treeName(info backend.SessionInfo) string {
	if info.Helper != nil {
		return info.Helper.Worktree
	}
	return nameIn(info.Worktree)
}

// nameIn returns the name of the worktree in which a folder of the project is; empty if it
// is in none.
func nameIn(folder string) string {
	dir, rest, _ := strings.Cut(folder, "/")
	if dir != worktree.Dir || !filepath.IsLocal(filepath.FromSlash(folder)) {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// Removal is what hooks are told of a worktree that was removed.
func Removal(t worktree.Tree) agent.HookInput {
	return agent.WorktreeRemoveInput{Name: t.Name, Path: t.Path()}
}

// list lists the worktrees of the project, with those that work there and what
// would be lost with each.
func (t *Trees) list(ctx context.Context, _ backend.Empty) (WorktreesReply, error) {
	reply := WorktreesReply{Limit: worktree.MaxTrees}
	users, err := t.usersOf(ctx)
	if err != nil {
		return reply, err
	}
	trees, err := worktree.List(ctx, t.cfg.Project)
	if err != nil {
		return reply, backend.Problem(backend.ProblemWorktreeKept).Detailed(err.Error()).Because(err)
	}
	for _, tree := range trees {
		row := worktreeInfo(tree.Tree, tree.Held)
		row.Size = tree.Size
		if user, ok := users[tree.Name]; ok {
			row.Session, row.Title, row.Agent = user.ID, user.Title, user.Helper != nil
			row.Deleted = user.Marks.Deleted > 0
		}
		reply.Worktrees = append(reply.Worktrees, row)
	}
	return reply, nil
}

func worktreeInfo(t worktree.Tree, held worktree.Held) WorktreeInfo {
	return WorktreeInfo{
		Name: t.Name, Path: worktree.Dir + "/" + t.Name, Branch: t.Branch(),
		WorktreeHeld: WorktreeHeld{held.Why, held.Files, held.Bytes, held.Examples, held.String()},
	}
}

// remove removes a worktree that no session works in. Without All, only if nothing
// is lost with it; otherwise the reply says what would be.
func (t *Trees) remove(ctx context.Context, in WorktreeRemoveRequest) (WorktreeFate, error) {
	in.Name = strings.TrimSuffix(strings.TrimPrefix(in.Name, worktree.Dir+"/"), "/") // as the list writes it
	if t.cfg.ReadOnly {
		return WorktreeFate{}, backend.Problem(backend.ProblemForkReadOnly)
	}
	users, err := t.usersOf(ctx)
	if err != nil {
		return WorktreeFate{}, err
	}
	if user, ok := users[in.Name]; ok {
		if _, err := t.cfg.AtRest(ctx, user.ID); err != nil {
			return WorktreeFate{}, err
		}
	}
	tree := worktree.Tree{Project: t.cfg.Project, Name: in.Name}
	if _, err := os.Lstat(tree.Path()); filepath.Base(in.Name) == in.Name && errors.Is(err, fs.ErrNotExist) {
		return WorktreeFate{}, backend.Problem(backend.ProblemWorktreeKept).Detailed(worktree.Dir + " has no folder " + in.Name)
	}
	held, err := worktree.Remove(ctx, tree)
	if err == nil && held.Why != "" && in.All {
		held, err = worktree.Held{}, worktree.Discard(ctx, tree)
	}
	if err != nil {
		return WorktreeFate{}, backend.Problem(backend.ProblemWorktreeKept).Detailed(err.Error()).Because(err)
	}
	return WorktreeFate{worktreeInfo(tree, held), held.Why == ""}, nil
}

// Forget removes the worktrees of sessions that were removed, and those that a crash
// left without a session, unless something would be lost or another session works there.
// It returns what became of the former.
func (t *Trees) Forget(ctx context.Context, removed []backend.SessionInfo) (fates []WorktreeFate) {
	if t.cfg.ReadOnly {
		return nil
	}
	users, err := t.usersOf(ctx)
	if err != nil {
		slog.Warn("could not see who uses worktrees", "err", err)
		return nil
	}
	var done []string
	for _, info := range removed {
		tree := worktree.Tree{Project: t.cfg.Project, Name: treeName(info)}
		if _, used := users[tree.Name]; tree.Name == "" || used || slices.Contains(done, tree.Name) {
			continue
		}
		if _, err := os.Lstat(tree.Path()); err != nil {
			continue
		}
		done = append(done, tree.Name)
		held, isGone := t.RemoveIdle(ctx, tree)
		fates = append(fates, WorktreeFate{worktreeInfo(tree, held), isGone})
		if isGone && info.Origin != nil {
			t.observe(ctx, info.Origin.Session, Removal(tree))
		}
	}
	for _, tree := range worktree.Names(t.cfg.Project) {
		at, err := os.Lstat(filepath.Join(tree.Path(), ".git"))
		if _, used := users[tree.Name]; used || err != nil || slices.Contains(done, tree.Name) || time.Since(at.ModTime()) < settledTree {
			continue
		}
		t.RemoveIdle(ctx, tree)
	}
	return fates
}

// RemoveIdle removes a worktree if nothing is lost with it. It returns what would be, and
// whether it is gone.
func (t *Trees) RemoveIdle(ctx context.Context, tree worktree.Tree) (held worktree.Held, isGone bool) {
	held, err := worktree.Remove(ctx, tree)
	if err != nil || held.Why != "" {
		slog.Info("kept a worktree", "worktree", tree.Path(), "because", held.String(), "err", err)
	}
	if err != nil && held.Why == "" {
		held.Why = worktree.Strange
	}
	return held, err == nil && held.Why == ""
}

// WorktreesReply answers worktrees.list, ordered by name.
type WorktreesReply struct {
	Worktrees []WorktreeInfo `json:"worktrees,omitempty"`
	// Limit is how many the project may have.
	Limit int `json:"limit"`
}

// WorktreeInfo is a git worktree that was made for a session or an agent.
type WorktreeInfo struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // in the project
	Branch string `json:"branch"`
	// Session works there; empty if none does any more.
	Session string `json:"session,omitempty"`
	Title   string `json:"title,omitempty"`
	Agent   bool   `json:"agent,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
	Size    int64  `json:"size,omitempty"` // bytes, at least
	WorktreeHeld
}

// Words describes a worktree in two lines: its place and size, who works there, and what would be
// lost with it. Clean makes a name fit to be shown.
func (w WorktreeInfo) Words(clean func(string) string) string {
	who := "no session any more"
	if w.Session != "" {
		who = fmt.Sprintf("session %s %s", w.Session, clean(w.Title))
	}
	if w.Agent {
		who = "agent " + w.Session
	}
	if w.Deleted {
		who += " (deleted)"
	}
	what := cmp.Or(w.Because, "nothing would be lost with it")
	return fmt.Sprintf("%s  %.1f MB  %s\n  %s", clean(w.Path), float64(w.Size)/1e6, who, clean(what))
}

// WorktreeHeld says in Why what would be lost with a worktree; empty if nothing. Files,
// Bytes and Examples name it, and Because says it in English.
type WorktreeHeld struct {
	Why      worktree.Kept `json:"why,omitempty"`
	Files    int           `json:"files,omitempty"`
	Bytes    int64         `json:"bytes,omitempty"`
	Examples []string      `json:"examples,omitempty"`
	Because  string        `json:"because,omitempty"`
}

// WorktreeRemoveRequest is for worktrees.remove. All removes it with what would be lost,
// which the user was shown.
type WorktreeRemoveRequest struct {
	Name string `json:"name"`
	All  bool   `json:"all,omitempty"`
}

// WorktreeFate says whether a worktree was removed; otherwise what would be lost.
type WorktreeFate struct {
	WorktreeInfo
	Removed bool `json:"removed"`
}
