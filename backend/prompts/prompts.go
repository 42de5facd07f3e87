// Package prompts finds what a person sent before, in the sessions of this project or of all, so
// that it can be sent again. It reads the search index, whose size bounds no answer here: each
// has a limited number of messages, and each message a limited length.
package prompts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/text"
)

const (
	usual     = 50  // messages of one answer
	most      = 200 // that can be asked for
	maxText   = 64 << 10
	maxWanted = 500 // bytes of what is looked for
	maxPasses = 8   // searches for one answer
)

// PromptQuery is for prompts.list. Every word of Text has to occur.
type PromptQuery struct {
	Text string `json:"text,omitempty"`
	// All looks into the sessions of all projects.
	All   bool `json:"all,omitempty"`
	Limit int  `json:"limit,omitempty"` // 0 means 50
}

// PromptList answers prompts.list, the newest first. What was sent several times is in it once.
type PromptList struct {
	Prompts []SentPrompt `json:"prompts,omitempty"`
	// More says that there are others.
	More bool `json:"more,omitempty"`
}

// SentPrompt is a message that a person sent.
type SentPrompt struct {
	Text    string `json:"text"`
	At      int64  `json:"at"`
	Session string `json:"session"`
	Title   string `json:"title,omitempty"`
	Folder  string `json:"folder"`
}

// Log reads the events of sessions.
type Log interface {
	Events(context.Context, backend.EventRange) ([]agent.Event, error)
}

// Config is what Prompts needs.
type Config struct {
	Folder string // the project
	Store  Log
	Search backend.Searcher // nil if nothing searches; then nothing is found
}

// Prompts finds messages. It is safe for concurrent use.
type Prompts struct{ cfg Config }

// New returns a Prompts.
func New(cfg Config) *Prompts { return &Prompts{cfg} }

// Register registers the method of the page.
func (p *Prompts) Register(d *dispatch.Dispatcher) { dispatch.Handle(d, "prompts.list", p.List) }

// List finds messages that a person sent.
func (p *Prompts) List(ctx context.Context, in PromptQuery) (PromptList, error) {
	if p.cfg.Search == nil {
		return PromptList{}, nil
	}
	limit := min(max(in.Limit, 0), most)
	if limit == 0 {
		limit = usual
	}
	search := backend.Search{Text: queryOf(in.Text), Limit: limit, Every: true}
	if !in.All {
		search.Folder = p.cfg.Folder
	}
	var list PromptList
	seen := map[string]bool{}
	for range maxPasses {
		found, err := p.cfg.Search.Search(ctx, search)
		if err != nil {
			return PromptList{}, err
		}
		for _, at := range placesOf(found) {
			sent, err := p.read(ctx, at)
			if err != nil {
				return PromptList{}, err
			}
			if sent.Text == "" || seen[sent.Text] {
				continue
			}
			if len(list.Prompts) == limit {
				list.More = true
				return list, nil
			}
			seen[sent.Text] = true
			list.Prompts = append(list.Prompts, sent)
		}
		search.Next = found.Next
		if found.Next == "" {
			return list, nil
		}
		if len(list.Prompts) == limit {
			break
		}
	}
	list.More = true
	return list, nil
}

// queryOf returns the search for messages of people with some words. They are in quotation marks,
// so that none of them is a filter.
func queryOf(typed string) string {
	query := "in:prompt -is:agent"
	for word := range strings.FieldsSeq(strings.ReplaceAll(text.Head(typed, maxWanted), `"`, " ")) {
		query += ` "` + word + `"`
	}
	return query
}

// place is where a message is.
type place struct {
	in  backend.FoundSession
	hit backend.SearchHit
}

// placesOf returns what was found, the newest first.
func placesOf(found backend.Found) (out []place) {
	for _, in := range found.Sessions {
		for _, hit := range in.Hits {
			out = append(out, place{in, hit})
		}
	}
	slices.SortStableFunc(out, func(a, b place) int { return cmp.Compare(b.hit.At, a.hit.At) })
	return out
}

// read reads a message as it was typed. It is empty if the event is damaged or no person wrote it.
func (p *Prompts) read(ctx context.Context, at place) (SentPrompt, error) {
	events, err := p.cfg.Store.Events(ctx, backend.EventRange{Session: at.in.Session, After: at.hit.Seq - 1, Before: at.hit.Seq + 1, Limit: 1})
	if err != nil {
		return SentPrompt{}, fmt.Errorf("read a message that was sent: %w", err)
	}
	sent := SentPrompt{At: at.hit.At, Session: at.in.Session, Title: at.in.Title, Folder: at.in.Folder}
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case agent.UserInput:
			if d.From == "" {
				sent.Text = d.Wrote()
			}
		case agent.SteeringInjected:
			if d.From == "" && !d.ByLoop {
				sent.Text = d.Wrote()
			}
		}
	}
	sent.Text = strings.TrimSpace(text.Head(sent.Text, maxText))
	return sent, nil
}
