package sessionlist

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/trees"
	"atelier.dev/atelier/internal/text"
)

const (
	maxTags  = 20
	maxTag   = 40 // characters
	maxLabel = 60 // characters
)

// mark changes what a person says about a session. Marks that the request
// leaves out do not change.
func (l *List) mark(ctx context.Context, in MarkRequest) (backend.SessionInfo, error) {
	l.marking.Lock() // each event has all marks, so none may be lost in between
	defer l.marking.Unlock()
	info, err := l.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return info, err
	}
	if info.Helper != nil {
		return info, backend.Problem(backend.ProblemAgentMarked)
	}
	marks, err := in.change(info.Marks)
	if err != nil {
		return info, err
	}
	store := func([]string) error { return l.cfg.Publish(ctx, in.Session, marks) }
	if marks.Deleted > 0 && info.Marks.Deleted == 0 {
		err = l.whileClosed(ctx, in.Session, store)
	} else {
		err = store(nil)
	}
	if err != nil {
		return info, err
	}
	return l.cfg.Store.Session(ctx, in.Session)
}

// change returns the marks with the changes.
func (in MarkRequest) change(m agent.SessionMarks) (agent.SessionMarks, error) {
	if in.Tags != nil {
		var err error
		if m.Tags, err = tidyTags(*in.Tags); err != nil {
			return m, err
		}
	}
	if in.Label != nil {
		m.Label = text.Characters(strings.Join(strings.FieldsFunc(*in.Label, isGap), " "), maxLabel)
	}
	if in.Pinned != nil {
		m.Pinned = *in.Pinned
	}
	if in.Archived != nil {
		m.Archived = *in.Archived
	}
	if in.Deleted != nil {
		m.Deleted = 0
		if *in.Deleted {
			m.Deleted = time.Now().UnixMilli()
		}
	}
	return m, nil
}

// tidyTags returns tags as they are stored: in lower case, without number signs and
// spaces, each once, in order.
func tidyTags(tags []string) (tidy []string, err error) {
	for _, tag := range tags {
		tag = strings.ToLower(strings.Join(strings.FieldsFunc(strings.TrimLeft(strings.TrimSpace(tag), "#"), isGap), "-"))
		if tag != "" {
			tidy = append(tidy, text.Characters(tag, maxTag))
		}
	}
	slices.Sort(tidy)
	if tidy = slices.Compact(tidy); len(tidy) > maxTags {
		return nil, backend.Problem(backend.ProblemTagsFull)
	}
	return tidy, nil
}

func isGap(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// errNotDeleted answers the deletion of a session that is working, here or
// elsewhere.
var errNotDeleted = backend.Problem(backend.ProblemSessionUndeleted)

// whileClosed calls do while neither a session nor those that it started can run.
// It refuses if one of them is working or waits for a person.
func (l *List) whileClosed(ctx context.Context, session string, do func(ids []string) error) error {
	info, err := l.cfg.Project.Session(ctx, session)
	if err != nil {
		return err
	}
	started, err := l.cfg.Store.Helpers(ctx, session)
	if err != nil {
		return err
	}
	ids := []string{session}
	for _, h := range started {
		ids = append(ids, h.ID)
	}
	if backend.StateOf(info, started...) == agent.StateAwaitingInput {
		return errNotDeleted
	}
	switch closed, err := l.cfg.Sessions.CloseAtRest(ctx, ids); {
	case err != nil:
		return err
	case !closed:
		return errNotDeleted
	}
	for _, id := range ids {
		release, err := l.cfg.Store.Lease(id)
		if err != nil {
			return errNotDeleted
		}
		defer release()
	}
	return do(ids)
}

// Remove removes a session at rest and those that it started for good: all
// of them or none.
func (l *List) Remove(ctx context.Context, in place.SessionRef) (RemoveReply, error) {
	info, err := l.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return RemoveReply{}, err
	}
	var reply RemoveReply
	err = l.whileClosed(ctx, in.Session, func(ids []string) error {
		helpers, err := l.cfg.Store.Helpers(ctx, info.ID)
		if err != nil {
			return err
		}
		if err := l.cfg.Store.DeleteSessions(ctx, ids...); err != nil {
			return err
		}
		l.cfg.Forget(ctx, ids)
		reply.Worktrees = l.cfg.Trees.Forget(ctx, append(helpers, info))
		return nil
	})
	reply.Removed = err == nil
	return reply, err
}

// MarkRequest is for sessions.mark. Fields that are null do not change; empty tags
// and an empty label remove them.
type MarkRequest struct {
	Session  string    `json:"session"`
	Tags     *[]string `json:"tags,omitempty"`
	Label    *string   `json:"label,omitempty"`
	Pinned   *bool     `json:"pinned,omitempty"`
	Archived *bool     `json:"archived,omitempty"`
	Deleted  *bool     `json:"deleted,omitempty"`
}

// RemoveReply answers sessions.remove (OAS-606).
type RemoveReply struct {
	Removed bool `json:"removed"`
	// Worktrees are those of the session and its agents, of which one is kept if
	// something would be lost with it.
	Worktrees []trees.WorktreeFate `json:"worktrees,omitempty"`
}
