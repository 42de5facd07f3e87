package backend

import (
	"context"
	"strconv"
)

// StoreHealth is what is known of the database's state.
type StoreHealth struct {
	File string `json:"file"`
	// ReadOnly says that a newer Atelier wrote the database, so that it is only read.
	ReadOnly bool `json:"read_only,omitempty"`
	// Checking says that the whole database is being checked. Until then the counts
	// are those of the start, and damage may be found yet.
	Checking bool `json:"checking,omitempty"`
	// Stored counts the sessions of all projects with those that they started, by
	// their logs and their rows; Shown counts those that lists have.
	Stored int `json:"stored"`
	Shown  int `json:"shown"`
	// Damage is what SQLite says is wrong with the file; empty if nothing is.
	Damage string `json:"damage,omitempty"`
	// Lost are events that were stored and are missing.
	Lost []LostEvents `json:"lost,omitempty"`
}

// Sound reports whether nothing is wrong.
func (h StoreHealth) Sound() bool { return h.Stored == h.Shown && h.Damage == "" && len(h.Lost) == 0 }

// Problems says what is wrong, in sentences.
func (h StoreHealth) Problems() (out []*Error) {
	if h.ReadOnly {
		out = append(out, Problem(ProblemStoreReadOnly, h.File))
	}
	if h.Damage != "" {
		out = append(out, Problem(ProblemStorePartly, h.File).Detailed(h.Damage))
	}
	if h.Stored != h.Shown {
		out = append(out, Problem(ProblemSessionsHidden, h.File, strconv.Itoa(h.Stored), strconv.Itoa(h.Shown)))
	}
	if len(h.Lost) > 0 {
		events := int64(0)
		for _, lost := range h.Lost {
			events += lost.To - lost.From + 1
		}
		out = append(out, Problem(ProblemEventsLost, h.File, strconv.FormatInt(events, 10), strconv.Itoa(len(h.Lost))))
	}
	return out
}

// LostEvents are the events of a session from one place to another.
type LostEvents struct {
	Session string `json:"session"`
	From    int64  `json:"from"`
	To      int64  `json:"to"`
}

// Checked is a store that knows its state.
type Checked interface {
	Health() StoreHealth
	// Verify checks the whole database, in as long as it takes.
	Verify(context.Context) error
	// Accept forgets which events were lost, once the user was told.
	Accept() error
}
