package place

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/worktree"
	"atelier.dev/atelier/backend"
)

// Project is a folder with its sessions. It is safe for concurrent use.
type Project struct {
	Dir   string // absolute, with links resolved
	Store interface {
		Session(ctx context.Context, id string) (backend.SessionInfo, error)
	}
}

// Session returns a session of this project.
func (p *Project) Session(ctx context.Context, id string) (backend.SessionInfo, error) {
	if err := backend.CheckSessionID(id); err != nil {
		return backend.SessionInfo{}, err
	}
	info, err := p.Store.Session(ctx, id)
	if err != nil {
		return backend.SessionInfo{}, err
	}
	if err := p.Owns(info); err != nil {
		return backend.SessionInfo{}, err
	}
	return info, nil
}

// Owns refuses a session of another folder, because its tools would act here and its log
// would not say so.
func (p *Project) Owns(info backend.SessionInfo) error {
	if info.Folder == p.Dir {
		return nil
	}
	return backend.Problem(backend.ProblemSessionForeign, info.Folder)
}

// Folder returns the folder where a session's tools act.
func (p *Project) Folder(info backend.SessionInfo) string {
	if info.Helper != nil {
		return info.Helper.Folder
	}
	if tree, ok := p.Tree(info); ok {
		return tree.Folder
	}
	return p.Dir
}

// FolderAt is [Project.Folder] when the event at a place of the session's log came. It reports
// false if the session has worked elsewhere since and that folder is gone.
func (p *Project) FolderAt(info backend.SessionInfo, seq int64) (folder string, there bool) {
	was := info
	if was.Worktree = info.WorktreeAt(seq); was.Worktree == info.Worktree {
		return p.Folder(info), true
	}
	folder = p.Folder(was)
	_, err := os.Stat(folder)
	return folder, err == nil
}

// Bounds returns the folder that a session's tools may change without leaving their
// place: the project, or its own worktree. An agent may work in all of the project.
func (p *Project) Bounds(info backend.SessionInfo) string {
	if info.Helper != nil {
		return p.Dir
	}
	return p.Folder(info)
}

// Tree returns the worktree in which a session works that was forked into one. It reports
// false for other sessions, and for agents.
func (p *Project) Tree(info backend.SessionInfo) (worktree.Tree, bool) {
	folder := filepath.FromSlash(info.Worktree)
	dir, rest, _ := strings.Cut(info.Worktree, "/")
	name, _, _ := strings.Cut(rest, "/")
	if dir != worktree.Dir || name == "" || !filepath.IsLocal(folder) {
		return worktree.Tree{}, false
	}
	return worktree.Tree{Project: p.Dir, Name: name, Folder: filepath.Join(p.Dir, folder)}, true
}

// AgentTree returns the worktree that was made for an agent.
func (p *Project) AgentTree(helper *agent.Helper) worktree.Tree {
	return worktree.Tree{Project: p.Dir, Name: helper.Worktree}
}

// TreeName returns the name of the worktree that was made for a session; empty if none was.
func (p *Project) TreeName(info backend.SessionInfo) string {
	if info.Helper != nil {
		return info.Helper.Worktree
	}
	tree, _ := p.Tree(info)
	return tree.Name
}

// WorktreeOf returns the worktree of a session below the project, with slashes; empty if
// it has none, or if no session is named.
func (p *Project) WorktreeOf(ctx context.Context, session string) (string, error) {
	if session == "" {
		return "", nil
	}
	info, err := p.Session(ctx, session)
	if err != nil || info.Helper != nil {
		return "", err
	}
	return info.Worktree, nil
}

// FolderOf returns where a session works; empty means the project's folder. The errors are
// those of Session and CheckTree.
func (p *Project) FolderOf(ctx context.Context, session string) (string, error) {
	if session == "" {
		return p.Dir, nil
	}
	info, err := p.Session(ctx, session)
	if err != nil {
		return "", err
	}
	return p.Folder(info), p.CheckTree(info)
}

// CheckTree returns an error if a session has lost its worktree.
func (p *Project) CheckTree(info backend.SessionInfo) error {
	if info.Worktree == "" || info.Helper != nil {
		return nil
	}
	tree, ok := p.Tree(info)
	if !ok {
		return backend.Problem(backend.ProblemWorktreeGone, info.Worktree)
	}
	switch at, err := os.Stat(tree.Folder); {
	case err != nil:
		return backend.Problem(backend.ProblemWorktreeGone, info.Worktree).Because(err)
	case !at.IsDir():
		return backend.Problem(backend.ProblemWorktreeGone, info.Worktree)
	}
	return nil
}

// LostTree reports whether an agent had a worktree that is not there any more.
func LostTree(info backend.SessionInfo) bool {
	if info.Helper == nil || info.Helper.Worktree == "" {
		return false
	}
	_, err := os.Stat(info.Helper.Folder)
	return os.IsNotExist(err)
}

// SessionRef names a session.
type SessionRef struct {
	Session string `json:"session"`
}

// EventRef names an event, to read in full what was cut for display.
type EventRef struct {
	Session string `json:"session"`
	Seq     int64  `json:"seq"`
}
