package rule

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/permission/boundary"
)

// maxScripts limits how many scripts of one line are read, and how deep scripts
// within scripts.
const maxScripts = 4

// line is a command line, read as far as it can be.
type line struct {
	text    string
	typed   bool // it is input of a running command, which need not be a shell
	clear   bool // it could be read
	steps   []command.Step
	effects []agent.Effect
	scripts []command.Step // of the scripts that it runs
}

// read reads the command line of a call. On Windows another shell runs it.
func read(access agent.Access, at place) *line {
	l := &line{text: strings.TrimSpace(access.Command), typed: access.Task != ""}
	if _, ok := command.Parse(l.text); !ok || runtime.GOOS == "windows" {
		return l
	}
	dir := at.project
	if access.Dir != "" {
		dir = boundary.Resolve(access.Dir)
	}
	l.steps, l.effects = trace(l.text, dir, at)
	l.clear = !has(l.effects, agent.EffectTooLong)
	l.scripts = l.inside(l.steps, at, maxScripts)
	return l
}

func trace(text, dir string, at place) ([]command.Step, []agent.Effect) {
	return command.Trace(text, command.Place{
		Dir: dir, Project: at.project, Home: at.home, Resolve: boundary.Resolve,
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil },
	})
}

// inside returns the steps of the scripts that steps run as a shell. One that
// cannot be read leaves the line unclear.
func (l *line) inside(steps []command.Step, at place, left int) []command.Step {
	var all []command.Step
	for _, s := range steps {
		for _, script := range s.ReadScripts() {
			switch {
			case !script.Shell: // no rule for commands sees another language
				continue
			case !script.Clear, left == 0:
				l.clear = false
				continue
			}
			left--
			for _, dir := range s.Dirs {
				found, _ := trace(script.Text, dir, at)
				all = append(all, found...)
				all = append(all, l.inside(found, at, left)...)
			}
		}
	}
	return all
}

func has(effects []agent.Effect, ids ...agent.EffectID) bool {
	return slices.ContainsFunc(effects, func(e agent.Effect) bool { return slices.Contains(ids, e.ID) })
}

// means reports whether a rule that denies or asks means a part of the line.
func (l *line) means(c commandPattern) answer {
	if c.exact() && c.line == l.text {
		return yes
	}
	if !l.clear {
		return maybe
	}
	found := no
	for _, s := range slices.Concat(l.steps, l.scripts) {
		found = max(found, c.means(s))
	}
	if found == no && c.starts != nil && c.starts.Steps(l.steps).Decision != agent.Allow {
		return maybe
	}
	return found
}

// starter returns a checker of lines in which what a rule means may start without
// being a step: by an option, by the code of another program or by a file that the
// line writes. It is nil for a rule that names no program.
func (c commandPattern) starter(at place) *boundary.Checker {
	if c.words[0].open() && !c.words[0].endless() || c.words[0].anything() {
		return nil
	}
	var entry []string
	for _, w := range c.words {
		if !w.anything() {
			entry = append(entry, w.text())
		}
	}
	return boundary.New(boundary.Settings{DeniedCommands: []string{strings.Join(entry, " ")}}, at.project, at.home)
}

// means reports whether a rule that denies or asks means a step.
func (c commandPattern) means(s command.Step) answer {
	program := strings.ToLower(strings.TrimSuffix(s.Program(), ".exe"))
	if strings.HasPrefix(program, "git-") { // a command of git by its file
		program = "git"
	}
	name := word{{text: strings.ToLower(filepath.Base(c.words[0].text()))}}
	if c.words[0].open() {
		name = c.words[0]
	}
	switch {
	case s.Own:
		return no
	case s.Name != "" && !s.Known:
		return maybe
	case s.Name != "" && (name.matches(program) || name.matches(withoutVersion(program))) && s.Has(c.wants) != command.Unlike:
		return answer(s.Has(c.wants))
	case s.Unread != "" && (command.IsShell(s.Program()) || s.Name == "" || mentions(s.Unread, name.text())):
		return maybe
	case has(s.Effects, agent.EffectNetCode, agent.EffectBuiltCode):
		return maybe
	case s.Name == "" && has(s.Effects, agent.EffectUnknown) && len(s.Vague) == 0: // a variable that decides which programs run
		return maybe
	}
	return either(s.Unfamiliar && mentions(strings.Join(s.Args, " "), name.text()), maybe)
}

// withoutVersion returns the name of a program without that of its version.
func withoutVersion(program string) string { return strings.TrimRight(program, "0123456789.-") }

// mentions reports whether a text has a name in it, as a word.
func mentions(text, name string) bool {
	return name != "" && slices.Contains(command.NamesIn(strings.ToLower(text)), name)
}

// touches reports whether the line reads or changes files that a rule, which
// denies or asks, means.
func (l *line) touches(r compiled, at place, now time.Time) answer {
	if !l.clear {
		return maybe
	}
	found := no
	for _, s := range slices.Concat(l.steps, l.scripts) {
		found = max(found, stepTouches(s, r, at))
	}
	reached := r.reached
	if found == no && r.files != nil && l.isIndirect() {
		reached = r.files.check(r.path, at, now)
	}
	if found == no && reached != nil && reached.Steps(l.steps).Decision != agent.Allow {
		return maybe
	}
	return found
}

// isIndirect reports whether a line may name a file otherwise than by its path: by
// a pattern, in code, or in the way of an unfamiliar program.
func (l *line) isIndirect() bool {
	return strings.ContainsAny(l.text, "*?[{$`'\"\\") || slices.ContainsFunc(l.steps, func(s command.Step) bool { return s.Unfamiliar || s.Unread != "" })
}

func stepTouches(s command.Step, r compiled, at place) answer {
	writes := r.kind() == kindWrite
	paths := slices.Clone(s.Writes)
	if !writes {
		paths = slices.Concat(paths, s.Reads, s.Scripts)
	}
	found := no
	deep := s.MayDescend()
	for _, path := range paths {
		switch {
		case r.path.matches(path, at, true), r.path.matches(boundary.Resolve(path), at, true):
			return yes
		case deep && r.path.mayHaveBelow(path, at):
			found = maybe
		}
	}
	for _, arg := range s.Args {
		for _, path := range pathsOf(arg, s.Dirs, at) {
			if r.path.matches(path, at, true) || r.path.matches(boundary.Resolve(path), at, true) {
				if !writes {
					return yes
				}
				found = either(found == maybe || s.Unfamiliar || s.Unread != "", maybe)
			}
		}
	}
	if !writes && r.path.mayBePrinted(s, at) {
		found = maybe
	}
	unknown := len(s.Vague) > 0 || s.Unread != "" || s.Name != "" && !s.Known
	if unknown && (!writes || s.Unread != "" || !s.Known || s.Unfamiliar || has(s.Effects, agent.EffectChanges, agent.EffectDeletes, agent.EffectDeletesUnknown)) {
		found = maybe
	}
	return found
}

// pathsOf returns the paths that an argument may be: all of it, or the value of an
// option.
func pathsOf(arg string, dirs []string, at place) []string {
	var paths []string
	for _, w := range command.PathsIn(arg) {
		switch rest, ok := strings.CutPrefix(w, "~"); {
		case w == "" || strings.HasPrefix(w, "-"):
		case ok && at.home != "" && (rest == "" || rest[0] == '/'):
			paths = append(paths, filepath.Join(at.home, rest))
		case filepath.IsAbs(w):
			paths = append(paths, filepath.Clean(w))
		default:
			for _, dir := range dirs {
				paths = append(paths, filepath.Join(dir, w))
			}
		}
	}
	return paths
}

// Outside reports whether a call touches, or may touch, what is outside the
// project.
func Outside(call agent.GateCall, at Place) bool {
	v := &view{call: call, set: New(at, nil)}
	for _, path := range slices.Concat(call.Access.Writes, call.Access.Reads) {
		if !v.inProject(boundary.Resolve(path)) {
			return true
		}
	}
	if call.Access.Command == "" {
		return false
	}
	l := v.trace()
	return has(l.effects, agent.EffectOutside, agent.EffectDeletesOutside) || slices.ContainsFunc(l.steps, func(s command.Step) bool {
		return slices.ContainsFunc(s.Dirs, func(dir string) bool { return !v.inProject(dir) })
	})
}
