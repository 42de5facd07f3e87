package sandbox

import (
	"log/slog"
	"os"
)

// maxSpill limits the file of one command's output, so that endless output does
// not fill the disk.
const maxSpill = 64 << 20

// Spill is a file with output that exceeded the memory limit: all of it from
// the start or, for a [Process], from the last Read that left nothing out.
type Spill struct {
	// Path is absolute; empty if memory kept everything.
	Path string
	// Cut says that the output exceeded the file's limit, so that the file has
	// only its beginning.
	Cut bool
}

// spill writes a [Spill]. The file is created with the first text and only its
// owner can read it. The capture's lock guards it.
type spill struct {
	dir  string
	file *os.File
	size int
	full bool // or broken: nothing more is written
	Spill
}

func (s *spill) begun() bool { return s.file != nil || s.full }

func (s *spill) write(text []byte) {
	if s.full {
		s.Cut = s.Path != ""
		return
	}
	if s.file == nil && !s.open() {
		return
	}
	if room := maxSpill - s.size; len(text) > room {
		text, s.full, s.Cut = text[:completeRunes(text[:room])], true, true
	}
	n, err := s.file.Write(text)
	s.size += n
	if err != nil { // most likely the disk is full
		slog.Warn("could not write a command's output", "path", s.Path, "err", err)
		s.full, s.Cut = true, true
	}
}

func (s *spill) open() bool {
	err := os.MkdirAll(s.dir, 0o700)
	if err == nil {
		s.file, err = os.CreateTemp(s.dir, "output-*.txt")
	}
	if err != nil {
		slog.Warn("could not keep a command's output", "folder", s.dir, "err", err)
		s.full = true
		return false
	}
	s.Path = s.file.Name()
	return true
}

func (s *spill) close() {
	if s != nil && s.file != nil {
		_ = s.file.Close()
	}
}
