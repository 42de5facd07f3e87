package trust

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
)

// packaged are interpreters that run what package.json says, after one of these words.
var packaged = map[string][]string{"node": {"--run"}, "bun": {"run", "x", "test", "install"}, "deno": {"task"}}

// awks run commands from a program in a language of their own.
var awks = []string{"awk", "gawk", "mawk", "nawk"}

// wrappers run the program among their arguments, besides those that package command knows.
var wrappers = []string{"chronic", "watchexec", "entr", "dotenv", "proot", "torsocks"}

// step notes what one step names and runs.
func (r *reader) step(s command.Step, depth int) {
	before := r.dirs
	defer func() { r.dirs = before }()
	r.dirs = s.Dirs
	for _, arg := range s.Args[:min(len(s.Args), maxNames)] {
		if !slices.ContainsFunc(s.Writes, func(written string) bool { return slices.Contains(r.places(arg), written) }) {
			r.name(arg, false)
		}
	}
	for _, path := range s.Reads {
		r.file(path, false)
	}
	if s.Name == "" {
		return
	}
	r.name(s.Name, false)
	if r.program(s, depth) {
		return
	}
	for _, path := range s.Scripts {
		r.runs(path, depth)
	}
	if name := s.Program(); (name == "cd" || name == "pushd") && len(s.Vague) > 0 {
		r.note(NoteUntold, clip(s.Vague[0]))
	}
	switch {
	case !s.Known:
		r.unread(s.Name, []string{s.Name})
	case s.Code || slices.Contains(awks, s.Program()) || command.Interprets(s.Program()) && slices.Contains(s.Args, "-m"):
		r.note(NoteInline, s.Program())
		r.modules(s.Args)
	case s.Unread != "":
		r.unread(s.Unread, s.Args)
	case len(s.Scripts) == 0 && runsCode(s.Name) && slices.ContainsFunc(s.Effects, runsUnnamed):
		r.note(NoteUntold, s.Program())
	case len(s.Scripts) > 0 && !byShell(s) && !strings.Contains(s.Name, "/"):
		r.note(NoteLoads, s.Program())
	}
}

// runsUnnamed reports whether an effect is that of code which the step does not name.
func runsUnnamed(e agent.Effect) bool {
	return e.ID == agent.EffectUnknown || e.ID == agent.EffectRunsProject
}

// byShell reports whether a shell reads the scripts of a step.
func byShell(s command.Step) bool {
	return command.IsShell(s.Program()) || s.Program() == "." || s.Program() == "source"
}

// runs notes that a file is run, and reads it if it is a script.
func (r *reader) runs(path string, depth int) {
	r.file(path, true)
	r.follow(path, depth)
}

// unread notes code that cannot be looked at: any file that a pattern among the words
// matches or, if there is none, nobody knows what.
func (r *reader) unread(code string, words []string) {
	patterns := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !strings.ContainsAny(word, "*?[") })
	for _, pattern := range patterns {
		r.name(pattern, true)
	}
	if len(patterns) == 0 && !slices.ContainsFunc(r.places(code), r.runsAlready) {
		r.note(NoteUntold, clip(code))
	}
}

// runsAlready reports whether a path is in a folder all of which may run.
func (r *reader) runsAlready(path string) bool {
	return slices.ContainsFunc(r.folders, func(dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) })
}

// modules notes the files that names of modules in code may mean.
func (r *reader) modules(code []string) {
	for _, text := range code {
		module := strings.ReplaceAll(text, ".", "/")
		r.file(module+".py", false)
		r.file(module+"/__main__.py", false)
	}
}

// program notes what a program is known to run besides its step. It reports whether that
// is all.
func (r *reader) program(s command.Step, depth int) (all bool) {
	name := s.Program()
	if strings.Contains(s.Name, "/") && s.Known {
		for _, path := range r.places(s.Name) {
			r.runs(path, depth)
		}
	}
	switch files := command.ProjectFiles(name); {
	case name == "git":
		r.configures(s.Args, depth)
	case name == "find" || name == "fd" || name == "fdfind":
		r.finds(name, s.Args, depth)
	case len(s.Args) > 0 && slices.Contains(packaged[name], s.Args[0]) && !isScript(s.Args[1:]):
		r.builds(name, []string{"package.json"})
		return true
	case len(files) > 0:
		r.builds(name, files)
		r.given(name, s.Args, depth)
	case s.Launches():
		r.given(name, s.Args, depth)
	}
	return false
}

// finds notes what is run of the files that are found: any below the folders that it
// begins in. The command that find gives them to is a step of its own.
func (r *reader) finds(name string, args []string, depth int) {
	at := slices.IndexFunc(args, func(arg string) bool {
		return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, arg)
	})
	if at < 0 || at+1 == len(args) {
		return
	}
	run := args[at+1:]
	if run[0] == "{}" || command.Wraps(filepath.Base(run[0])) || runsCode(run[0]) {
		for _, begin := range args[:at] {
			if strings.HasPrefix(begin, "-") {
				break
			}
			for _, dir := range r.places(begin) {
				if dir != r.folder || name != "find" {
					r.runsBelow(dir, name+" "+begin)
				}
			}
		}
	}
	if run = slices.DeleteFunc(slices.Clone(run), func(word string) bool { return word == "{}" }); name != "find" && len(run) > 1 {
		r.line(run, depth)
	}
}

// runsCode reports whether a program runs code: that of a shell, or of another language.
func runsCode(program string) bool {
	name := filepath.Base(program)
	return command.IsShell(name) && name != "eval" || command.Interprets(name)
}

// builds notes that a program runs what files of the project say.
func (r *reader) builds(name string, files []string) {
	r.note(NoteBuild, name)
	r.dirs = append(slices.Clone(r.dirs), r.folder) // most are also looked for above where it runs
	for _, file := range files {
		if r.within == "" {
			r.file(file, true)
		}
	}
}

// given reads the command that a program such as "direnv exec . x", "docker exec box x" or
// "pm2 start -- x" is given, and that of a shell or an interpreter anywhere among the
// arguments.
func (r *reader) given(name string, args []string, depth int) {
	for i, arg := range args {
		switch {
		case (arg == "exec" || arg == "--") && i+1 < len(args):
			rest := args[i+1:]
			if name == "direnv" && len(rest) > 1 {
				r.dirs = append(slices.Clone(r.dirs), r.places(rest[0])...)
				rest = rest[1:]
			}
			for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
				rest = rest[1:]
			}
			r.line(rest, depth)
			return
		case runsCode(arg), slices.Contains(wrappers, name) && !strings.HasPrefix(arg, "-"):
			r.line(args[i:], depth)
			return
		}
	}
}

// line reads words as a command.
func (r *reader) line(words []string, depth int) {
	var line []string
	for _, word := range words {
		line = append(line, quoted(word))
	}
	r.shell(strings.Join(line, " "), depth+1)
}

// configures reads the settings that git is given for one command: some of them are
// commands, or folders of them.
func (r *reader) configures(args []string, depth int) {
	for i := 0; i+1 < len(args); i++ {
		if args[i] == "-C" {
			r.dirs = append(slices.Clone(r.dirs), r.places(args[i+1])...)
			if strings.Contains(args[i+1], "$") {
				r.note(NoteUntold, "git -C "+clip(args[i+1]))
			}
		}
		if args[i] != "-c" {
			continue
		}
		key, value, _ := strings.Cut(args[i+1], "=")
		switch key = strings.ToLower(key); {
		case strings.Contains(args[i+1], "$"):
			r.note(NoteUntold, clip(args[i+1]))
		case key == "core.hookspath":
			for _, path := range r.places(value) {
				r.runsBelow(path, "git -c "+key)
			}
		case strings.HasPrefix(key, "alias."):
			if line, ok := strings.CutPrefix(value, "!"); ok {
				r.shell(line, depth+1)
			}
		case gitPrograms().MatchString(key):
			r.shell(value, depth+1)
		}
	}
}

// gitPrograms matches the settings of git whose values are commands.
var gitPrograms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:command|program|editor|pager|fsmonitor|askpass|external|cmd|driver|textconv|clean|smudge|process|helper|uploadpack|receivepack)$`)
})

// isScript reports whether the arguments of an interpreter begin with the path of a script.
func isScript(args []string) bool {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return strings.ContainsAny(arg, "/.")
		}
	}
	return false
}
