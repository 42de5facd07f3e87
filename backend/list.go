package backend

import (
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// SessionView says which sessions a list has, by what the user did with them.
type SessionView string

// The views.
const (
	ViewUsual    SessionView = ""         // neither archived nor deleted
	ViewArchived SessionView = "archived" // and not deleted
	ViewDeleted  SessionView = "deleted"  // until they are removed for good
	ViewAll      SessionView = "all"
)

// SessionFilter selects sessions for a list. Empty fields match every session.
// An agent is never listed without the session that started it, and its title
// and state count as that session's.
type SessionFilter struct {
	View SessionView `json:"view,omitempty"`
	// Text is found in titles, labels and first prompts, in any case.
	Text   string `json:"text,omitempty"`
	Tag    string `json:"tag,omitempty"`
	Pinned bool   `json:"pinned,omitempty"`
	// State is idle for a closed session, too, and for one that was interrupted.
	State agent.State `json:"state,omitempty"`
	// Model is an id, or PROVIDER/ID.
	Model string `json:"model,omitempty"`
	// Since and Until bound the time of the last change, in milliseconds since
	// 1970. Until is not included.
	Since int64 `json:"since,omitempty"`
	Until int64 `json:"until,omitempty"`
	// Prefix is the beginning of the id. Case does not count.
	Prefix string `json:"prefix,omitempty"`
}

// SessionQuery selects a page of a folder's list; an empty folder means all of them.
type SessionQuery struct {
	Folder string
	SessionFilter
	// UrgentFirst puts what waits for the user, works or is pinned before the
	// rest. Otherwise the newest are first.
	UrgentFirst bool
	// After is where the page before this one ended; the zero value means that
	// there is none.
	After SessionPlace
	// Limit is how many sessions a page has, without agents.
	Limit int
}

// SessionPlace is a place in a list.
type SessionPlace struct {
	Urgent    bool   `json:"urgent,omitempty"`
	UpdatedAt int64  `json:"updated_at"`
	ID        string `json:"id"`
}

// SessionPage is a part of a list: sessions in order, each followed by its agents,
// the oldest first. Next is nil after the last page.
type SessionPage struct {
	Sessions []SessionInfo `json:"sessions,omitempty"`
	Next     *SessionPlace `json:"next,omitempty"`
}

// Selects reports whether a list has a session with these agents.
func (f SessionFilter) Selects(s SessionInfo, agents ...SessionInfo) bool {
	marks, view := s.Marks, ViewUsual
	if marks.Deleted > 0 {
		view = ViewDeleted
	} else if marks.Archived {
		view = ViewArchived
	}
	if f.View != ViewAll && f.View != view {
		return false
	}
	return f.selectsText(s, agents) && (f.Tag == "" || slices.Contains(marks.Tags, f.Tag)) && (!f.Pinned || marks.Pinned) &&
		(f.State == "" || f.State == StateOf(s, agents...)) &&
		(f.Model == "" || f.Model == s.Settings.Model || f.Model == s.Settings.Provider+"/"+s.Settings.Model) &&
		s.UpdatedAt >= f.Since && (f.Until == 0 || s.UpdatedAt < f.Until) &&
		len(s.ID) >= len(f.Prefix) && strings.EqualFold(s.ID[:len(f.Prefix)], f.Prefix)
}

func (f SessionFilter) selectsText(s SessionInfo, agents []SessionInfo) bool {
	texts := []string{s.Title, s.Marks.Label, s.Prompt}
	for _, a := range agents {
		texts = append(texts, a.Title)
	}
	return f.FindsText(texts...)
}

// FindsText reports whether one of the texts contains the text that is searched for.
func (f SessionFilter) FindsText(texts ...string) bool {
	wanted := strings.ToLower(f.Text)
	return f.Text == "" || slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), wanted) })
}

// StateOf returns the most urgent state of a session and its agents.
func StateOf(s SessionInfo, agents ...SessionInfo) agent.State {
	state := agent.StateIdle
	for _, each := range append([]SessionInfo{s}, agents...) {
		switch {
		case each.State == agent.StateAwaitingInput:
			return each.State
		case each.State == agent.StateProcessing && !each.Interrupted:
			state = each.State
		}
	}
	return state
}
