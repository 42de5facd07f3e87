package trust

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What the names of programs tell.
var (
	shells = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"}
	// interpreters run a script, or code after one of these options.
	interpreters = map[string][]string{
		"python": {"-c", "-m"}, "node": {"-e", "--eval", "-p", "--print", "-r", "--require", "--import"}, "deno": {"eval"}, "bun": {"-e", "--eval"},
		"ruby": {"-e", "-r"}, "perl": {"-e", "-E", "-M"}, "php": {"-r"}, "lua": {"-e", "-l"}, "tsx": {"-e"}, "ts-node": {"-e"},
		"pwsh": {"-c", "-Command"}, "powershell": {"-c", "-Command"}, "Rscript": {"-e"}, "osascript": {"-e"}, "pypy": {"-c", "-m"},
	}
	// builders run what files of the project say.
	builders = map[string][]string{
		"make": {"GNUmakefile", "makefile", "Makefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"}, "just": {"justfile", "Justfile", ".justfile"},
		"task": {"Taskfile.yml", "Taskfile.yaml"}, "rake": {"Rakefile"}, "npm": {"package.json", ".npmrc"}, "npx": {"package.json", ".npmrc"},
		"pnpm": {"package.json", ".npmrc"}, "yarn": {"package.json", ".yarnrc.yml"}, "bunx": {"package.json"}, "cargo": {"Cargo.toml", ".cargo/config.toml", "build.rs"},
		"go": {"go.mod"}, "gradle": {"build.gradle", "build.gradle.kts"}, "mvn": {"pom.xml"}, "tox": {"tox.ini", "pyproject.toml"}, "pytest": {"conftest.py", "pyproject.toml", "pytest.ini"},
		"uv": {"pyproject.toml"}, "uvx": {"pyproject.toml"}, "poetry": {"pyproject.toml"}, "bundle": {"Gemfile"}, "composer": {"composer.json"}, "nox": {"noxfile.py"},
		"gradlew": {"build.gradle", "build.gradle.kts"}, "mvnw": {"pom.xml"},
	}
	// wrappers run the program that is among their arguments.
	wrappers = []string{"env", "sudo", "doas", "timeout", "gtimeout", "nice", "nohup", "command", "exec", "builtin", "time", "stdbuf", "xargs", "setsid", "ionice", "busybox", "unbuffer", "caffeinate", "chronic"}
	version  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9.]+$`) })
	number   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9.]+[smhd]?$`) })
)

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
			if name := base(v); slices.Contains(shells, name) || interpreters[name] != nil {
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
		case slices.Contains(wrappers, name):
			if rest := wrapped(words[1:]); len(rest) > 0 {
				r.program(rest, depth)
			}
		case builders[name] != nil:
			r.note(NoteBuild, name)
			for _, file := range builders[name] {
				if r.within == "" {
					r.file(file, true)
				}
			}
		case slices.Contains(shells, name) || interpreters[name] != nil:
			r.interpreted(name, words, depth)
		}
	}
}

// runs records that a file is run, and reads it if it is a script.
func (r *reader) runs(name string, depth int) {
	r.name(name, true)
	r.follow(name, depth)
}

// wrapped returns the command among the arguments of a wrapper.
func wrapped(words []word) []word {
	for i, w := range words {
		v := w.values[0]
		name, _, assigns := strings.Cut(v, "=")
		if strings.HasPrefix(v, "-") || number().MatchString(v) || assigns && !strings.Contains(name, "/") {
			continue
		}
		return words[i:]
	}
	return nil
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
	shell := slices.Contains(shells, name)
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
		r.sourced(words[i:], depth)
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
