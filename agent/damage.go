package agent

import "fmt"

// WarningDamaged is the code of the warning that [Lost] returns.
const WarningDamaged = "damaged"

// Lost returns the warning that a host inserts for a range of events that its
// log has lost. The warning is not stored.
func Lost(from, to int64) Warning {
	what := fmt.Sprintf("Event %d of this session is", from)
	if to > from {
		what = fmt.Sprintf("%d events of this session (%d to %d) are", to-from+1, from, to)
	}
	return Warning{Code: WarningDamaged, Message: what + " damaged or missing on the disk and cannot be shown. " +
		"Everything else of the session is here, and nothing was changed. To get back what is missing, restore a backup of the session's data."}
}

// applyWarning tells the model that it does not know everything.
func (t *Transcript) applyWarning(w Warning) {
	if w.Code != WarningDamaged {
		return
	}
	t.remind(Reminder(
		"A part of this conversation was lost here, because it was damaged on the disk. Do not guess what it said; ask, or look at the files, where it matters."))
}
