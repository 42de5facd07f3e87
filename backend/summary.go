package backend

import (
	"strings"
	"unicode"

	"atelier.dev/atelier/agent"
)

// Apply folds one durable event into what lists show of a session. The store
// does so in the transaction that appends the event.
func (s *SessionInfo) Apply(ev agent.Event) {
	s.Seq, s.UpdatedAt = ev.Seq, ev.At
	switch d := ev.Data.(type) {
	case agent.SessionStart:
		s.State = agent.StateIdle
	case agent.SettingsChange:
		s.Settings = d.Settings
	case agent.Title:
		s.Title = d.Text
	case agent.UserInput, agent.TurnContinued, agent.LocalCommandStart:
		s.State = agent.StateProcessing
	case agent.ApprovalRequest:
		s.State = agent.StateAwaitingInput
	case agent.ApprovalAnswer:
		s.State = agent.StateProcessing
	case agent.TextEnd:
		s.Usage = s.Usage.Add(d.Usage)
		s.Cost.Add(d.Cost)
		if d.Usage.Known {
			s.Context = d.Usage.Total()
		}
	case agent.SideRequest:
		s.Usage = s.Usage.Add(d.Usage)
		s.Cost.Add(d.Cost)
	case agent.Retrying:
		if d.Usage.Known {
			s.Usage = s.Usage.Add(d.Usage)
		}
		if d.Counts() {
			s.Cost.Add(d.Cost)
		}
	case agent.CompactionStart:
		if d.Trigger == agent.CompactManual {
			s.State = agent.StateProcessing
		}
	case agent.CompactionEnd:
		if d.Trigger == agent.CompactManual {
			s.State = agent.StateIdle
		}
		if d.Outcome == agent.OutcomeDone {
			s.Context = d.After
		}
	case agent.ProcessingEnd:
		s.State, s.LastEnd = agent.StateIdle, d.Reason
	case agent.LocalCommandEnd:
		s.State = agent.StateIdle
	case agent.SessionEnd:
		s.State = agent.StateClosed
	}
}

// maxTitle is the length of a derived title, in characters.
const maxTitle = 60

// firstTitle is the name that a session gets by an event: that of its first
// prompt or, until there is one, of the first command that the user ran. It is
// empty where the session keeps the name it has.
func firstTitle(has agent.Title, ev agent.Event) string {
	switch d := ev.Data.(type) {
	case agent.UserInput:
		if has.Text == "" || !has.ByUser && ev.Turn == 1 {
			return titleFrom(d.Text)
		}
	case agent.LocalCommandStart:
		if has.Text == "" {
			return titleFrom("! " + d.Command)
		}
	}
	return ""
}

// titleFrom makes a title of a first prompt: its first line, without control
// characters, cut at a word.
func titleFrom(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	runes := []rune(line)
	if len(runes) <= maxTitle {
		return line
	}
	cut := string(runes[:maxTitle])
	if i := strings.LastIndexByte(cut, ' '); i > maxTitle/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
