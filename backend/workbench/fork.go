package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/trees"
)

// ForkFolder says where a fork works.
type ForkFolder string

// The choices.
const (
	ForkHere       ForkFolder = ""         // where the session works that is forked
	ForkInProject  ForkFolder = "project"  // in the project's folder
	ForkInWorktree ForkFolder = "worktree" // in a git worktree of its own, which begins with the last commit where the session works
)

// ForkRequest is for sessions.fork.
type ForkRequest struct {
	Session string `json:"session"`
	// NewID is the id of the fork; empty means that one is made up (OAS-605).
	NewID  string          `json:"new_id,omitempty"`
	At     agent.ForkPlace `json:"at,omitzero"`
	Folder ForkFolder      `json:"folder,omitempty"`
	// Title is made from that of the session if it is empty.
	Title string `json:"title,omitempty"`
	Label string `json:"label,omitempty"`
	// Settings hold for the fork; nil means those of the session. Allowing everything
	// is not taken over from it.
	Settings *agent.Settings `json:"settings,omitempty"`
}

// ForkReply answers sessions.fork.
type ForkReply struct {
	Session backend.SessionInfo `json:"session"`
	// Prompt is the input that the session was forked at, to be edited and sent again.
	Prompt string `json:"prompt,omitempty"`
	// Included counts the ignored files that its new worktree got, because a file
	// .worktreeinclude names them.
	Included int `json:"included,omitempty"`
}

// ForkSession makes a session that begins with a copy of another one's log, which
// may be working meanwhile. Nothing of the other session changes.
func (w *Workbench) ForkSession(ctx context.Context, in ForkRequest) (ForkReply, error) {
	id := cmp.Or(in.NewID, newID())
	if err := backend.CheckSessionID(id); err != nil {
		return ForkReply{}, err
	}
	source, err := w.session(ctx, in.Session)
	if err != nil {
		return ForkReply{}, err
	}
	log, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: source.ID, Before: source.Seq + 1})
	if err != nil {
		return ForkReply{}, err
	}
	cut, err := agent.FindCut(log, in.At)
	if err != nil {
		return ForkReply{}, backend.Problem(backend.ProblemForkPlace).Because(err)
	}
	f := w.foldFork(source, id, log, cut)
	settings, err := f.wanted(in.Settings)
	if err != nil {
		return ForkReply{}, err
	}
	title, err := w.forkTitle(ctx, source, in.Title)
	if err != nil {
		return ForkReply{}, err
	}
	remove, err := w.placeFork(ctx, &f, source, in.Folder, cmp.Or(in.Label, in.Title, source.Title))
	if err != nil {
		return ForkReply{}, err
	}
	then := append(f.ends, f.forked, agent.Title{Text: title, ByUser: in.Title != ""}, agent.SettingsChange{Settings: settings})
	if marks := (agent.SessionMarks{Label: strings.TrimSpace(in.Label), Tags: f.info.Marks.Tags}); !isUnmarked(marks) || !isUnmarked(f.info.Marks) {
		then = append(then, marks)
	}
	info, stored, err := w.storeFork(ctx, f, then)
	if err != nil && !stored {
		remove()
		return ForkReply{}, err
	}
	if err == nil && in.Folder == ForkInWorktree {
		err = w.admitFork(ctx, info)
	}
	if err != nil { // the fork goes, and its worktree too unless a hook has left something there
		_, removing := w.list.Remove(context.WithoutCancel(ctx), SessionRef{Session: id})
		return ForkReply{}, errors.Join(err, removing)
	}
	if settings.Mode == agent.ModeBypass {
		err = w.permitBypass(ctx, id)
	}
	return ForkReply{Session: info, Prompt: cut.Prompt, Included: f.included}, err
}

func isUnmarked(m agent.SessionMarks) bool {
	return len(m.Tags) == 0 && m.Label == "" && !m.Pinned && !m.Archived && m.Deleted == 0
}

// fork is a session that is being forked.
type fork struct {
	copy   backend.Copy
	info   backend.SessionInfo // after the copied events
	turn   int
	ends   []agent.Payload // of what was under way
	forked agent.Forked
	// included counts the ignored files that its worktree got.
	included int
}

// foldFork folds the part of a log that is copied.
func (w *Workbench) foldFork(source backend.SessionInfo, id string, log []agent.Event, cut agent.CutPoint) fork {
	now := time.Now().UnixMilli()
	f := fork{info: backend.SessionInfo{
		ID: id, Folder: w.cfg.Folder, State: agent.StateIdle, CreatedAt: now, UpdatedAt: now, Usage: llm.Usage{Known: true},
	}}
	var t agent.Transcript
	for _, ev := range log {
		if ev.Seq > cut.Through {
			break
		}
		f.info.Apply(ev)
		t.Apply(ev)
	}
	f.info.Seq = cut.Through
	f.turn, f.ends = t.Turn, t.Sever(cut)
	f.copy = backend.Copy{From: source.ID, Through: cut.Through}
	f.forked.Origin = agent.ForkOrigin{Session: source.ID, Seq: cut.Through, Through: f.info.Messages}
	if conversation.ValidSettings(f.info.Settings) != nil { // the copy begins before them, or they are lost
		f.info.Settings = source.Settings
	}
	return f
}

// wanted returns the settings of the fork.
func (f *fork) wanted(chosen *agent.Settings) (agent.Settings, error) {
	if chosen != nil {
		return *chosen, conversation.ValidSettings(*chosen)
	}
	settings := f.info.Settings
	if settings.Mode == agent.ModeBypass {
		settings.Mode = agent.ModeDefault
	}
	return settings, conversation.ValidSettings(settings)
}

// numbered is the title of a fork that has no name of its own.
var numbered = regexp.MustCompile(`^(.*) \((\d{1,6})\)$`)

// forkTitle returns the fork's title: the chosen one, or that of the session with the
// next number.
func (w *Workbench) forkTitle(ctx context.Context, source backend.SessionInfo, chosen string) (string, error) {
	if title := backend.TitleFrom(chosen); title != "" || source.Title == "" {
		return title, nil
	}
	base := source.Title
	if m := numbered.FindStringSubmatch(base); m != nil {
		base = m[1]
	}
	sessions, err := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	newest := 1
	for _, info := range sessions {
		if m := numbered.FindStringSubmatch(info.Title); m != nil && m[1] == base {
			n, _ := strconv.Atoi(m[2])
			newest = max(newest, n)
		}
	}
	return fmt.Sprintf("%s (%d)", base, newest+1), err
}

// placeFork decides where the fork works, and makes its worktree. remove takes the
// worktree away again.
func (w *Workbench) placeFork(ctx context.Context, f *fork, source backend.SessionInfo, folder ForkFolder, words string) (remove func(), err error) {
	remove = func() {}
	switch folder {
	case ForkHere:
		if source.Helper == nil {
			f.forked.Worktree = source.Worktree
			err = w.project.CheckTree(source)
		}
	case ForkInProject:
	case ForkInWorktree:
		if w.cfg.ReadOnly {
			return remove, backend.Problem(backend.ProblemForkReadOnly)
		}
		from := w.folderOf(source)
		if _, err := os.Stat(from); err != nil { // its worktree is gone
			from = w.cfg.Folder
		}
		tree, err := w.trees.Make(ctx, from, words, f.info.ID)
		if err != nil {
			return remove, backend.Problem(backend.ProblemWorktreeUnmade).Detailed(err.Error()).Because(err)
		}
		below, err := filepath.Rel(w.cfg.Folder, tree.Folder)
		if err != nil {
			return remove, fmt.Errorf("find the worktree in the project: %w", err)
		}
		f.forked.Worktree, f.included = filepath.ToSlash(below), tree.Included
		remove = func() { _, _ = w.trees.RemoveIdle(context.WithoutCancel(ctx), tree) }
	default:
		return remove, backend.Problem(backend.ProblemForkFolder, string(folder))
	}
	if f.forked.Moved = source.Helper != nil || f.forked.Worktree != source.Worktree; f.forked.Moved {
		f.forked.Branch = project.Branch(filepath.Join(w.cfg.Folder, filepath.FromSlash(f.forked.Worktree)))
	}
	return remove, err
}

// storeFork stores the fork and shows the events that are its own. It reports whether the
// fork is stored, which it may be although it cannot be read.
func (w *Workbench) storeFork(ctx context.Context, f fork, then []agent.Payload) (info backend.SessionInfo, stored bool, err error) {
	f.copy.Session = f.info
	for _, p := range then {
		f.copy.Then = append(f.copy.Then, agent.Event{Session: f.info.ID, Turn: f.turn, At: f.info.CreatedAt, Data: p})
	}
	seq, err := w.cfg.Store.Fork(ctx, f.copy)
	if err != nil {
		return backend.SessionInfo{}, false, err
	}
	for i, ev := range f.copy.Then {
		ev.Seq = seq - int64(len(f.copy.Then)-1-i)
		w.show(ev)
	}
	info, err = w.cfg.Store.Session(ctx, f.info.ID)
	return info, true, err
}

// admitFork asks the hooks of a fork about its new worktree. It returns an error if one
// refuses it, or if they cannot be asked.
func (w *Workbench) admitFork(ctx context.Context, info backend.SessionInfo) error {
	tree, ok := w.project.Tree(info)
	if !ok {
		return nil
	}
	l, release, err := w.sessions.Open(ctx, info.ID)
	if err != nil {
		return err
	}
	refused := trees.Ask(ctx, l, tree)
	release()
	if refused == nil {
		return nil
	}
	return backend.Problem(backend.ProblemWorktreeUnmade).Detailed(refused.Error()).Because(refused)
}

// permitBypass lets a session that was just made run everything.
func (w *Workbench) permitBypass(ctx context.Context, id string) error {
	l, release, err := w.sessions.Open(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	l.PermitBypass()
	return nil
}
