package journal

import (
	"io/fs"
	"path/filepath"
	"time"
)

// Sweep has the journal look at everything after each command, as on a system that
// does not tell of changes.
func (j *Journal) Sweep() { j.watch = func() *watch { return nil } }

// AreOld reports whether all files below a folder are older than a step that begins now,
// as far as the clock of files tells.
func AreOld(folder string) (areOld bool, err error) {
	areOld = true
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		s := stampOf(info)
		areOld = areOld && max(s.changed, s.touched) < time.Duration(time.Now().Add(-tick).UnixNano())
		return nil
	})
	return areOld, err
}
