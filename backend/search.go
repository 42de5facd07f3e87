package backend

import (
	"context"

	"atelier.dev/atelier/agent"
)

// Searcher finds texts in the logs of all sessions. It is safe for concurrent use.
type Searcher interface {
	// Search finds places. Nothing that a person types is an error.
	Search(context.Context, Search) (Found, error)
	// Changed says that there are new events, which will be read once no more
	// follow. It does not wait.
	Changed()
}

// Search selects places in logs. Text is what a person typed: words, "phrases",
// -exclusions, options such as -rf, and filters such as tool:Bash; see the package storage/search.
type Search struct {
	Text string
	// Folder and Session limit the search; empty means all. Those that the session
	// started belong to it.
	Folder, Session string
	// Next is where an earlier search of the same text said to go on.
	Next string
	// Limit is how many hits are wanted; 0 means 50. There may be a few more.
	Limit int
	// Every asks for every hit of a session; else there are a few of each.
	Every bool
}

// Found is a part of the places that were looked for, the newest first.
type Found struct {
	Sessions []FoundSession `json:"sessions,omitempty"`
	// Words are what is looked for, without filters and exclusions.
	Words   []string       `json:"words,omitempty"`
	Filters []SearchFilter `json:"filters,omitempty"`
	// Hyphens are the words of the query that a hyphen precedes.
	Hyphens []SearchHyphen `json:"hyphens,omitempty"`
	// Next says where to go on; empty means that everything was searched. A reply
	// without hits may have it, because each searches a limited part.
	Next string `json:"next,omitempty"`
	// Behind counts the sessions whose newest events are not searched yet.
	Behind int `json:"behind,omitempty"`
}

// FoundSession has the hits in one session, the newest first.
type FoundSession struct {
	Session string `json:"session"`
	Title   string `json:"title"`
	Folder  string `json:"folder"`
	// Parent is the session that started this one; ParentTitle is its title.
	Parent      string      `json:"parent,omitempty"`
	ParentTitle string      `json:"parent_title,omitempty"`
	Archived    bool        `json:"archived,omitempty"`
	Hits        []SearchHit `json:"hits,omitempty"`
	// More says that there may be more hits in this session than these.
	More bool `json:"more,omitempty"`
}

// SearchHit is a text of an event that was found, or the name of a session.
type SearchHit struct {
	Seq  int64      `json:"seq"`
	At   int64      `json:"at"`
	Kind agent.Kind `json:"kind"`
	Part TextPart   `json:"part"`
	// Of is the id of the call or command, Tool the name of the tool.
	Of   string `json:"of,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Snippet is what stands around the first place, on one line. Marks are the
	// places in it. Places counts them in the whole text.
	Snippet string     `json:"snippet"`
	Marks   []TextMark `json:"marks,omitempty"`
	Places  int        `json:"places,omitempty"`
	// TakenBack says that the conversation was rewound to before the event.
	TakenBack bool `json:"taken_back,omitempty"`
	// Copies counts the forks that have the same event.
	Copies int `json:"copies,omitempty"`
}

// TextMark is a part of a text, in UTF-16 code units, as JavaScript counts.
type TextMark struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// SearchFilter is a filter as it was understood. Raw is how it was typed.
type SearchFilter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Not   bool   `json:"not,omitempty"`
	// Unclear says that the value means nothing, so that the filter does nothing.
	Unclear bool   `json:"unclear,omitempty"`
	Raw     string `json:"raw"`
}

// SearchHyphen is a word or a phrase after one hyphen: an option of a command that is
// looked for, such as -rf, or what must not occur.
type SearchHyphen struct {
	// Word has no hyphen.
	Word     string `json:"word"`
	Excluded bool   `json:"excluded,omitempty"`
	// Raw is how it was typed, Instead how the other one is typed; empty if it cannot be.
	Raw     string `json:"raw"`
	Instead string `json:"instead,omitempty"`
}

// LogHead says how far the log of a session goes.
type LogHead struct {
	Session   string
	Folder    string
	Seq       int64
	UpdatedAt int64
}
