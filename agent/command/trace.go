package command

import (
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// Step is one thing that a line would do: a program that it runs, also within
// another one, or a redirection.
type Step struct {
	// Name is the program, with its folder if that is written; empty for a
	// redirection. If it is only known when the line runs, it is as it is
	// written, and Known is not set.
	Name  string
	Known bool
	// Own says that the line itself defines what runs, as a function.
	Own bool
	// Args are the program's arguments, or the text that a redirection has in
	// it. A part that is only known when the line runs stays as it is written:
	// $NAME.
	Args []string
	// Dirs are the folders in which it may run, absolute.
	Dirs []string
	Files
	// Scripts are the files that it runs as code, absolute. Unread is code that
	// cannot be looked at: the text, or what runs it.
	Scripts []string
	Unread  string
	// Code says that the code of an interpreter stands among the arguments.
	Code bool
	// Vague are words for files that are only known when the line runs.
	Vague []string
	// Unfamiliar says that nothing is known about the program.
	Unfamiliar bool
	Effects    []agent.Effect
	several    bool // Args has what one argument may be, one after the other
}

// Files are the files that a step is known to use; absolute, without links as far as
// Place resolves them.
type Files struct {
	// Writes are written or deleted.
	Reads, Writes []string
	// Trees are those of Reads below which whole files are read at any depth, if they
	// are folders. Hidden says that hidden files are read, too.
	Trees  []string
	Hidden bool
}

// Program returns the name of the program without its folder.
func (s Step) Program() string {
	if s.Name == "" {
		return ""
	}
	return filepath.Base(s.Name)
}

// Trace returns the steps of a line in the order in which they are written, and
// what [Of] returns.
func Trace(line string, at Place) ([]Step, []agent.Effect) {
	w := &walker{at: at, trace: []*Step{{Dirs: []string{at.Dir}}}}
	w.now = w.trace[0] // what belongs to no program
	effects := w.all(line)
	steps := make([]Step, 0, len(w.trace))
	for i, s := range w.trace {
		if i > 0 || len(s.Effects)+len(s.Reads)+len(s.Writes) > 0 {
			steps = append(steps, *s)
		}
	}
	return steps, effects
}

// enter notes that a program runs; what is noted until the returned function is
// called belongs to it.
func (w *walker) enter(words []value, s *scope) (leave func()) {
	if w.now == nil {
		return func() {}
	}
	before := w.now
	name := words[0].text()
	step := &Step{Name: name, Known: words[0].exact(), Own: s.functions[name], Dirs: slices.Clone(s.dirs)}
	for _, word := range words[1:] {
		for _, p := range word {
			step.Args = append(step.Args, p.text)
		}
		step.several = step.several || len(word) > 1
	}
	w.now, w.trace = step, append(w.trace, step)
	return func() { w.now = before }
}

// redirects is enter for a redirection.
func (w *walker) redirects(s *scope) (leave func()) {
	if w.now == nil {
		return func() {}
	}
	before := w.now
	w.now = &Step{Dirs: slices.Clone(s.dirs), Known: true}
	w.trace = append(w.trace, w.now)
	return func() { w.now = before }
}

// note changes the present step, if steps are noted.
func (w *walker) note(change func(*Step)) {
	if w.now != nil {
		change(w.now)
	}
}

// The functions below change a step; nil is one that nobody asked for.

func (s *Step) noteRead(path string)   { s.change(func() { s.Reads = append(s.Reads, path) }) }
func (s *Step) noteWrite(path string)  { s.change(func() { s.Writes = append(s.Writes, path) }) }
func (s *Step) noteScript(path string) { s.change(func() { s.Scripts = append(s.Scripts, path) }) }
func (s *Step) noteVague(word string)  { s.change(func() { s.Vague = append(s.Vague, word) }) }

// noteUnread keeps the first code that cannot be looked at.
func (s *Step) noteUnread(text string) {
	s.change(func() {
		if s.Unread == "" {
			s.Unread = strings.TrimSpace(text)
		}
	})
}

func (s *Step) change(it func()) {
	if s != nil {
		it()
	}
}
