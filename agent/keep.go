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

// remindOfKept tells the model, after a summary, what its tools keep and which skills are in
// use: what said so is gone.
func (t *Transcript) remindOfKept() {
	for _, use := range t.past.skills {
		if !use.Agent && !use.Ended {
			t.remind(Reminder("The skill " + EscapeTags(use.Name) + " is still in use. Its instructions were taken out with what came before: load it again before you go on with it."))
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(t.past.kept)) {
		if text := t.past.kept[tool].Text; text != "" {
			t.remind(Reminder(EscapeTags(text)))
		}
	}
}
