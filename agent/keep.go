package agent

import (
	"maps"
	"slices"
)

// keep remembers what a tool keeps in the session.
func (t *Transcript) keep(tool string, k KeptState) {
	if t.past.kept == nil {
		t.past.kept = map[string]KeptState{}
	}
	t.past.kept[tool] = k
}

// remindOfKept tells the model, after a summary, what its tools keep: the calls that said
// so are gone.
func (t *Transcript) remindOfKept() {
	for _, tool := range slices.Sorted(maps.Keys(t.past.kept)) {
		if text := t.past.kept[tool].Text; text != "" {
			t.remind(Reminder(EscapeTags(text)))
		}
	}
}
