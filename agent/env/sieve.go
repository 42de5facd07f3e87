package env

import (
	"os"
	"path"
	"strings"

	"atelier.dev/atelier/agent/internal/ignore"
)

// sieve decides what a search skips.
type sieve struct {
	ignores *ignore.Rules
	globs   []ignore.Rule // the requested files; negated ones are excluded
	base    string        // the base of globs, absolute, with a trailing slash
}

// passes reports whether a file is searched or a directory entered. A glob
// includes even ignored files.
func (s *sieve) passes(abs string, dir bool) bool {
	if path.Base(abs) == ".git" {
		return false
	}
	switch ignore.Judge(s.globs, strings.TrimPrefix(abs, s.base), dir) {
	case ignore.Ignored: // inverted: an ignore file would ignore it, a glob includes it
		return true
	case ignore.Included:
		return false
	}
	if !dir && len(s.globs) > 0 && !s.globs[0].Negated {
		return false
	}
	return !s.ignores.Ignores(abs, dir)
}

// enter reads the rules of a directory before it is searched.
func (s *sieve) enter(root *os.Root, name, abs string) {
	s.ignores = ignore.Read(root, name, abs, s.ignores)
}

// leave drops the rules of directories that do not contain a path.
func (s *sieve) leave(abs string) { s.ignores = s.ignores.Leave(abs) }
