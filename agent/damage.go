package agent

import "strconv"

// WarningDamaged is the code of the warning that [Lost] returns.
const WarningDamaged = "damaged"

// Lost returns the warning that a host inserts for a range of events that its
// log has lost. The warning is not stored.
func Lost(from, to int64) Warning {
	first, last := strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)
	if to > from {
		return Warn(WarnDamagedEvents, strconv.FormatInt(to-from+1, 10), first, last)
	}
	return Warn(WarnDamagedEvent, first)
}

// applyWarning tells the model that it does not know everything.
func (t *Transcript) applyWarning(w Warning) {
	if w.Code != WarningDamaged {
		return
	}
	t.remind(Reminder(
		"A part of this conversation was lost here, because it was damaged on the disk. Do not guess what it said; ask, or look at the files, where it matters."))
}
