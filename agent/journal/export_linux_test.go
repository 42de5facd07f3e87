package journal

// Cramp limits how many directories are watched.
func (j *Journal) Cramp(dirs int) {
	j.watch = func() *watch {
		w := newWatch()
		w.limit = dirs
		return w
	}
}
