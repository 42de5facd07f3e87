package journal

// Sweep has the journal look at everything after each command, as on a system that
// does not tell of changes.
func (j *Journal) Sweep() { j.watch = func() *watch { return nil } }
