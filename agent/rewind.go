package agent

import (
	"fmt"
	"strconv"
	"strings"
)

// TakenBack returns a function that reports whether the event at a place of a log
// stands no more, because a [Rewound] among the events took it back and no
// [RewindUndone] brought it back, or a [CompactionUndone] did.
func TakenBack(events []Event) func(seq int64) bool {
	type span struct {
		id       string
		from, to int64
	}
	var spans []span
	compacted := map[int64]bool{}
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case CompactionEnd:
			compacted[ev.Seq] = true
		case CompactionUndone:
			if compacted[d.Compaction] {
				spans = append(spans, span{from: d.Compaction - 1, to: d.Compaction + 1})
			}
		case Rewound:
			spans = append(spans, span{d.ID, d.To, ev.Seq})
		case RewindUndone:
			for i := range spans {
				if spans[i].id == d.ID {
					spans[i].to = 0
				}
			}
		}
	}
	return func(seq int64) bool {
		for _, s := range spans {
			if s.from < seq && seq < s.to {
				return true
			}
		}
		return false
	}
}

// NotTakenBack returns the events that were not taken back.
func NotTakenBack(events []Event) []Event {
	taken := TakenBack(events)
	kept := make([]Event, 0, len(events))
	for _, ev := range events {
		if !taken(ev.Seq) {
			kept = append(kept, ev)
		}
	}
	return kept
}

// ApplyTakenBack folds in an event that was taken back. Models are not told of it, but
// what was spent stays spent, turns keep their numbers and calls their ids, and
// settings and names stay as they are.
func (t *Transcript) ApplyTakenBack(ev Event) {
	switch d := ev.Data.(type) {
	case CompactionEnd:
		t.past.compaction.open = nil
		if d.Trigger == CompactManual {
			t.State = StateIdle
		}
	case SettingsChange, Title, SideRequest, Forked, Imported, SessionStart, SessionEnd, CompactionUndone:
		t.Apply(ev)
	case UserInput:
		t.Turn, t.past.begun = ev.Turn, true
	case Retrying:
		t.applyRetry(d)
	case TextEnd:
		t.spend(d)
	}
}

// applyRewound lets nothing be under way. The conversation is right once the log was
// folded again; see [New].
func (t *Transcript) applyRewound() {
	if t.State != StateClosed {
		t.State = StateIdle
	}
	t.open = openCalls{}
	t.past.forget()
}

// maxRestoredNames limits how many restored files a model is told by name.
const maxRestoredNames = 20

// applyRestored tells the model that its changes are no longer, or again, in the files.
// A reverted change may stand between a call and its result; the model learns of it when
// it uses the file.
func (t *Transcript) applyRestored(d FilesRestored) {
	if len(d.Files) == 0 || d.Reverted {
		return
	}
	did := "undid changes to"
	if d.Redone != "" {
		did = "brought undone changes back to"
	}
	var names []string
	for _, f := range d.Files[:min(len(d.Files), maxRestoredNames)] {
		names = append(names, strconv.Quote(EscapeTags(f.Path)))
	}
	if more := len(d.Files) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	t.remind(Reminder(fmt.Sprintf("The user %s these files: %s. Read a file again before you rely on what was in it.", did, strings.Join(names, ", "))))
}
