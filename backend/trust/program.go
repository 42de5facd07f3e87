package trust

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/command"
)

// What the names of programs tell.
var (
	// interpreters run a script, or code after one of these options.
	interpreters = map[string][]string{
		"python": {"-c", "-m"}, "node": {"-e", "--eval", "-p", "--print", "-r", "--require", "--import"}, "deno": {"eval"}, "bun": {"-e", "--eval"},
		"ruby": {"-e", "-r"}, "perl": {"-e", "-E", "-M"}, "php": {"-r"}, "lua": {"-e", "-l"}, "tsx": {"-e"}, "ts-node": {"-e"},
		"pwsh": {"-c", "-Command"}, "powershell": {"-c", "-Command"}, "Rscript": {"-e"}, "osascript": {"-e"}, "pypy": {"-c", "-m"},
	}
	// packaged are interpreters that run what package.json says, after one of these words.
	packaged = map[string][]string{"node": {"--run"}, "bun": {"run", "x", "test", "install"}, "deno": {"task"}}
	// awks run commands from a program in a language of their own.
	awks = []string{"awk", "gawk", "mawk", "nawk"}
	// folders are options that name the folder in which a wrapper, or git, begins.
	folders = []string{"-C", "--chdir", "-D", "--directory", "--cwd"}
	// wrappers run the program that is among their arguments; see also [command.Wraps].
	wrappers = []string{"chronic", "watchexec", "entr", "dotenv", "proot", "torsocks"}
	version  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9.]+$`) })
	number   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9.]+[smhd]?$`) })
)

// isShell reports whether a program reads lines of a shell. It is not asked about eval.
func isShell(program string) bool { return command.IsShell(program) && program != "eval" }

func wraps(program string) bool {
	_, is := command.Wraps(program)
	return is || slices.Contains(wrappers, program)
}

// call reads one command.
func (r *reader) call(words []word, depth int) {
	if len(words) == 0 {
		return
	}
	if len(words) > maxNames {
		words = words[:maxNames]
	}
	for i, w := range words {
		written := i > 0 && slices.ContainsFunc(words[0].values, func(v string) bool { return filepath.Base(v) == "tee" })
		for _, v := range w.values {
			if !written {
				r.name(v, false)
			}
		}
	}
	r.program(words, depth)
	for i := 1; i < len(words); i++ {
		for _, v := range words[i].values {
			if name := base(v); isShell(name) || interpreters[name] != nil {
				r.program(words[i:], depth)
				break
			}
		}
	}
}

// base returns the name of a program without its folder and version.
func base(program string) string {
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(program)), ".exe")
	if short := version().ReplaceAllString(name, ""); interpreters[short] != nil {
		return short
	}
	return name
}

// program reads a command for what it runs.
func (r *reader) program(words []word, depth int) {
	first := words[0]
	if !first.known {
		r.note(NoteUntold, first.source)
	}
	for _, v := range first.values {
		name, path := base(v), strings.Contains(v, "/")
		if path {
			r.runs(v, depth)
		}
		switch {
		case !path && (name == "cd" || name == "pushd"):
			r.enters(words[1:])
		case !path && (name == "." || name == "source"):
			r.sourced(words[1:], depth)
		case !path && name == "eval":
			r.evaluated(words[1:], depth)
		case wraps(name):
			if rest := r.wrapped(name, words[1:]); len(rest) > 0 {
				r.program(rest, depth)
			}
		case name == "find" || name == "fd" || name == "fdfind":
			r.finds(words[1:], depth)
		case name == "git":
			r.configures(words[1:], depth)
		case slices.Contains(awks, name):
			r.note(NoteInline, name)
		case len(words) > 1 && slices.ContainsFunc(words[1].values, func(v string) bool { return slices.Contains(packaged[name], v) }) && !isScript(words[2:]):
			r.builds(name, []string{"package.json"})
		case len(command.ProjectFiles(name)) > 0:
			r.builds(name, command.ProjectFiles(name))
			if i := slices.IndexFunc(words, func(w word) bool { return w.values[0] == "exec" || w.values[0] == "--" }); i > 0 && i+1 < len(words) {
				r.run(name, words[i+1:], depth)
			}
		case isShell(name) || interpreters[name] != nil:
			r.interpreted(name, words, depth)
		}
	}
}

// runs records that a file is run, and reads it if it is a script.
func (r *reader) runs(name string, depth int) {
	r.name(name, true)
	r.follow(name, depth)
}

// builds records that a program runs what files of the project say.
func (r *reader) builds(name string, files []string) {
	r.note(NoteBuild, name)
	for _, file := range files {
		if r.within == "" {
			r.file(file, true)
		}
	}
}

// run reads the command that a program such as "direnv exec . x" or "docker exec box x" is
// given, without the folder before it.
func (r *reader) run(name string, words []word, depth int) {
	if name == "direnv" && len(words) > 1 {
		r.enters(words[:1])
		words = words[1:]
	}
	if rest := r.wrapped(name, words); len(rest) > 0 {
		r.program(rest, depth)
	}
}

// wrapped returns the command among the arguments of a wrapper. An option may name the
// folder in which it begins.
func (r *reader) wrapped(wrapper string, words []word) []word {
	before, _ := command.Wraps(wrapper) // operands of its own
	for i := 0; i < len(words); i++ {
		v := words[i].values[0]
		name, value, assigns := strings.Cut(v, "=")
		switch {
		case command.WrapperTakes(wrapper, v) && i+1 < len(words):
			if i++; slices.Contains(folders, v) {
				r.enters(words[i : i+1])
			}
		case assigns && slices.Contains(folders, name):
			r.enters([]word{{[]string{value}, words[i].known, words[i].source}})
		case (wrapper == "env" || wrapper == "sudo") && len(v) > 2 && (strings.HasPrefix(v, "-C") || strings.HasPrefix(v, "-D")):
			r.enters([]word{{[]string{v[2:]}, words[i].known, words[i].source}})
		case strings.HasPrefix(v, "-"), assigns && !strings.Contains(name, "/"):
		case before > 0:
			before--
		case number().MatchString(v):
		default:
			return words[i:]
		}
	}
	return nil
}

// finds reads the commands that find runs. What it finds may be run by them: all files
// below the folders that it begins in.
func (r *reader) finds(words []word, depth int) {
	var begins []word
	for i := 0; i < len(words); i++ {
		v := words[i].values[0]
		if !strings.HasPrefix(v, "-") && len(begins) == i {
			begins = append(begins, words[i])
		}
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, v) || i+1 >= len(words) {
			continue
		}
		run := words[i+1:]
		if end := slices.IndexFunc(run, func(w word) bool { return w.values[0] == ";" || w.values[0] == "+" }); end >= 0 {
			run = run[:end]
		}
		program := base(run[0].values[0])
		if run[0].values[0] == "{}" || isShell(program) || interpreters[program] != nil || wraps(program) {
			r.runsBelow(begins)
		}
		if run[0].values[0] != "{}" {
			r.program(run, depth)
		}
	}
}

// runsBelow records that files below folders may be run; none means where it starts.
func (r *reader) runsBelow(begins []word) {
	if len(begins) == 0 {
		begins = []word{{[]string{"."}, true, "."}}
	}
	for _, w := range begins {
		for _, v := range w.values {
			for _, dir := range r.places(v) {
				if dir == r.folder || !w.known {
					r.note(NoteUntold, "find "+w.source)
				} else if r.inside(dir) {
					r.folders = append(r.folders, dir)
				}
			}
		}
	}
}

// configures reads the settings that git is given for one command: some of them are
// commands, or folders of them.
func (r *reader) configures(words []word, depth int) {
	for i := 0; i+1 < len(words); i++ {
		v := words[i].values[0]
		if v == "-C" {
			r.enters(words[i+1 : i+2])
		}
		if v != "-c" {
			continue
		}
		key, value, _ := strings.Cut(words[i+1].values[0], "=")
		switch key = strings.ToLower(key); {
		case !words[i+1].known:
			r.note(NoteUntold, words[i+1].source)
		case key == "core.hookspath":
			r.runsBelow([]word{{[]string{value}, true, value}})
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
func isScript(words []word) bool {
	for _, w := range words {
		if v := w.values[0]; !strings.HasPrefix(v, "-") {
			return strings.ContainsAny(v, "/.")
		}
	}
	return false
}

// enters notes a folder in which what follows may run.
func (r *reader) enters(words []word) {
	for _, w := range words {
		if !w.known {
			r.note(NoteUntold, "cd "+w.source)
		}
		for _, v := range w.values {
			if strings.HasPrefix(v, "-") {
				continue
			}
			for _, dir := range r.places(v) {
				if !slices.Contains(r.dirs, dir) && len(r.dirs) < maxValues {
					r.dirs = append(r.dirs, dir)
				}
			}
		}
	}
}

// sourced reads the arguments of a command that runs the script among them.
func (r *reader) sourced(words []word, depth int) {
	if len(words) == 0 {
		return
	}
	if !words[0].known {
		r.note(NoteUntold, words[0].source)
	}
	for _, v := range words[0].values {
		r.runs(v, depth)
	}
}

func (r *reader) evaluated(words []word, depth int) {
	lines := []string{""}
	for _, w := range words {
		if !w.known {
			r.note(NoteUntold, w.source)
		}
		for i := range lines {
			lines[i] += " " + w.values[0]
		}
	}
	r.shell(strings.ReplaceAll(lines[0], unknown, "_"), depth+1)
}

// interpreted reads the call of a shell or an interpreter: its code, or its script.
func (r *reader) interpreted(name string, words []word, depth int) {
	shell := isShell(name)
	for i := 1; i < len(words); i++ {
		w := words[i]
		v := w.values[0]
		code := slices.Contains(interpreters[name], v) || shell && strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "--") && strings.Contains(v, "c")
		switch {
		case code && i+1 < len(words):
			r.code(name, words[i+1], shell, depth)
			return
		case v == "-":
			r.note(NoteUntold, name)
			return
		case strings.HasPrefix(v, "-") || (name == "deno" || name == "bun") && v == "run":
			continue
		}
		if r.sourced(words[i:], depth); !shell {
			r.note(NoteLoads, name)
		}
		return
	}
	r.note(NoteUntold, name)
}

// code reads code among the arguments.
func (r *reader) code(name string, w word, shell bool, depth int) {
	if !w.known {
		r.note(NoteUntold, w.source)
	}
	for _, v := range w.values {
		if shell {
			r.shell(strings.ReplaceAll(v, unknown, "_"), depth+1)
			continue
		}
		r.note(NoteInline, name)
		module := strings.ReplaceAll(v, ".", "/")
		r.file(module+".py", false)
		r.file(module+"/__main__.py", false)
	}
}
