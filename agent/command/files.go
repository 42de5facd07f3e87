package command

import (
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/sensitive"
)

// paths returns what a word names, absolute and without links, from each folder
// in which the line may be.
func (w *walker) paths(p possible, s *scope) []string {
	if filepath.IsAbs(p.text) {
		return []string{w.at.resolve(p.text)}
	}
	all := make([]string, 0, len(s.dirs))
	for _, dir := range s.dirs {
		all = append(all, w.at.resolve(dir+string(filepath.Separator)+p.text))
	}
	return all
}

// places is paths for what is not followed where it is a link itself.
func (w *walker) places(p possible, s *scope) []string {
	last := filepath.Base(p.text)
	if strings.HasSuffix(p.text, "/") || last == "." || last == ".." || last == "/" {
		return w.paths(p, s)
	}
	folder := p
	folder.text = filepath.Dir(p.text)
	all := w.paths(folder, s)
	for i := range all {
		all[i] = filepath.Join(all[i], last)
	}
	return all
}

func (at Place) resolve(path string) string {
	if at.Resolve == nil {
		return filepath.Clean(path)
	}
	return at.Resolve(path)
}

// inside reports whether a path is the project's folder or below it.
func (at Place) inside(path string) bool { return below(at.Project, path) }

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// isTemporary reports whether a path is below a folder for temporary files.
func isTemporary(path string) bool {
	return slices.ContainsFunc([]string{"/tmp", "/var/tmp", "/private/tmp"}, func(dir string) bool {
		return path != dir && below(dir, path)
	})
}

// isFetched reports whether a path is, or is below, what the line itself took
// from the network.
func (w *walker) isFetched(path string) bool {
	return slices.ContainsFunc(w.fetched, func(dir string) bool { return below(dir, path) })
}

// shown is a path as a person knows it.
func (at Place) shown(path string) string {
	if rel, err := filepath.Rel(at.Project, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	if at.Home != "" && below(at.Home, path) {
		rel, _ := filepath.Rel(at.Home, path)
		return filepath.Join("~", rel)
	}
	return path
}

// reads notes a file that is read.
func (w *walker) reads(v value, s *scope) {
	for _, p := range v {
		if p.text == unnamed && s.input.named {
			continue
		}
		if !p.exact {
			w.now.noteVague(p.text)
			w.add(agent.EffectUnknown, p.text)
			continue
		}
		if p.text == "" || p.text == "-" || slices.Contains(streams, p.text) || w.device(p.text) {
			continue
		}
		for _, path := range w.paths(p, s) {
			w.now.noteRead(path)
			if secret(path, w.at.Project) || p.glob && matchesSecrets(path) || w.at.Exists != nil && sensitive.HasToken(path) {
				w.add(agent.EffectSecrets, w.at.shown(path))
			}
			if !w.at.inside(path) {
				w.add(agent.EffectOutside, w.at.shown(path))
			}
		}
	}
}

// usualSecrets are names of which a pattern may match one.
var usualSecrets = strings.Fields(".env .env.local .env.production .netrc .pgpass id_rsa id_ed25519")

// matchesSecrets reports whether a pattern matches names of secret files. One
// that matches any name is not meant for them.
func matchesSecrets(pattern string) bool {
	last := filepath.Base(pattern)
	if len(strings.Trim(last, "*?")) < 2 && !strings.HasPrefix(last, ".") || last == ".*" {
		return false
	}
	return slices.ContainsFunc(usualSecrets, func(name string) bool {
		ok, _ := filepath.Match(last, name)
		return ok && (name[0] != '.' || last[0] == '.')
	})
}

// secret looks at the part of a path below the project, if it is there.
func secret(path, project string) bool {
	if rel, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return sensitive.Secret(path) || path == "/etc/shadow" || strings.HasPrefix(path, "/proc/") && strings.HasSuffix(path, "/environ")
}

// device notes the network and disks among the names of bash and the system.
func (w *walker) device(path string) bool {
	if !isConnection(path) {
		return false
	}
	host, _, _ := strings.Cut(path[len("/dev/tcp/"):], "/")
	w.host(host)
	return true
}

// isConnection reports whether bash opens a connection for a name.
func isConnection(path string) bool {
	return strings.HasPrefix(path, "/dev/tcp/") || strings.HasPrefix(path, "/dev/udp/")
}

// readsAll notes the operands of a program that only reads them.
func (w *walker) readsAll(args []value, s *scope) {
	for _, arg := range args {
		if arg.isOption() {
			continue
		}
		for _, p := range arg {
			if looksLikePath(p.text) || !p.exact {
				w.reads(value{p}, s)
			}
		}
	}
}

// looksLikePath is for arguments that may be anything: what has no folder and
// does not exist matters only by its name.
func looksLikePath(text string) bool {
	return !strings.ContainsAny(text, " \n") && (strings.ContainsAny(text, "/.") || sensitive.Secret(text))
}

// writes notes a file that is written.
func (w *walker) writes(v value, s *scope) {
	for _, p := range v {
		if !p.exact {
			w.now.noteVague(p.text)
			w.add(agent.EffectUnknown, p.text)
			w.add(agent.EffectChanges, p.text)
			continue
		}
		if p.text == "" || p.text == "-" || slices.Contains(streams, p.text) {
			continue
		}
		if w.device(p.text) {
			continue
		}
		if strings.HasPrefix(p.text, "/dev/") && !strings.HasPrefix(p.text, "/dev/shm/") {
			w.add(agent.EffectDisks, p.text)
			continue
		}
		for _, path := range w.paths(p, s) {
			w.writesTo(path)
		}
	}
}

func (w *walker) writesTo(path string) {
	w.now.noteWrite(path)
	shown := w.at.shown(path)
	rel := path
	if w.at.inside(path) {
		rel, _ = filepath.Rel(w.at.Project, path)
	}
	if sensitive.Controls(rel) {
		w.add(agent.EffectControls, shown)
	}
	if secret(path, w.at.Project) {
		w.add(agent.EffectSecrets, shown)
	}
	if !w.at.inside(path) {
		w.add(agent.EffectOutside, shown)
		return
	}
	w.add(agent.EffectChanges, shown)
}

// writesAll notes the operands of a program that writes all of them.
func (w *walker) writesAll(program string, args []value, s *scope) {
	rest, _ := operands(args, row(program).values)
	if len(rest) == 0 {
		w.add(agent.EffectChanges)
	}
	for _, arg := range rest {
		if program == "chmod" || program == "chown" || program == "chgrp" {
			program = ""
			continue // the first says what they become
		}
		w.writes(arg, s)
	}
}

// deletes notes what is deleted.
func (w *walker) deletes(targets []value, recursive bool, s *scope) {
	for _, v := range targets {
		for _, p := range v {
			switch {
			case p.exact:
				for _, path := range w.places(p, s) {
					w.deletesPath(path, p, recursive)
				}
			case recursive:
				w.now.noteVague(p.text)
				w.add(agent.EffectDeletesUnknown, p.text)
			default:
				w.now.noteVague(p.text)
				w.add(agent.EffectDeletes, p.text)
				w.add(agent.EffectUnknown, p.text)
			}
		}
	}
	if len(targets) == 0 {
		w.add(agent.EffectDeletes)
	}
}

func (w *walker) deletesPath(path string, p possible, recursive bool) {
	// A pattern such as * matches everything in a folder.
	w.now.noteWrite(path)
	everything := path
	if last := filepath.Base(path); p.glob && recursive && strings.Trim(last, "*.?!") == "" {
		everything = filepath.Dir(path)
	}
	switch {
	case w.at.inside(path) && below(filepath.Join(w.at.Project, ".git"), path):
		w.add(agent.EffectDiscards, w.at.shown(path))
	case everything == w.at.Project || path == w.at.Project:
		w.add(agent.EffectDeletesAll, p.text)
	case w.at.inside(path):
		w.add(agent.EffectDeletes, w.at.shown(path))
	case isTemporary(path):
		w.add(agent.EffectDeletes, path)
	default:
		w.add(agent.EffectDeletesOutside, w.at.shown(path))
	}
}

// copies looks at a program that reads all its operands but the last, and
// writes that one.
func copies(w *walker, program string, args []value, s *scope) {
	rest, options := operands(args, "tSmgo")
	into, given := options["t"]
	if !given {
		into, given = options["target-directory"]
	}
	if !given && len(rest) > 0 {
		into, rest = rest[len(rest)-1], rest[:len(rest)-1]
	}
	for _, from := range rest {
		if program == "mv" {
			w.writes(from, s)
		} else if program != "ln" {
			w.reads(from, s)
		}
	}
	if len(rest) == 1 && rest[0].exact() && into.exact() && slices.ContainsFunc(w.paths(rest[0][0], s), w.isFetched) {
		w.fetched = append(w.fetched, w.paths(into[0], s)...)
	}
	w.writes(into, s)
	if into.text() == "" {
		w.add(agent.EffectChanges)
	}
}

func removes(w *walker, program string, args []value, s *scope) {
	rest, options := operands(args, "ns")
	switch program {
	case "rmdir":
		w.writesAll(program, args, s)
	case "shred", "unlink", "trash", "trash-put", "srm":
		w.deletes(rest, false, s)
	default:
		w.deletes(rest, has(options, "r", "R", "recursive"), s)
	}
}

func archives(w *walker, program string, args []value, s *scope) {
	if len(args) > 0 && program == "tar" && args[0].exact() && !args[0].isOption() {
		args = bundled(args)
	}
	rest, options := operands(args, "fCIdTXbHg")
	if program == "zip" && slices.ContainsFunc(args, func(v value) bool { return strings.HasPrefix(v.text(), "-") && strings.Contains(v.text(), "TT") }) {
		w.add(agent.EffectUnknown, program)
	}
	leaves := program == "tar" && (has(options, "P", "absolute-names") || strings.Contains(options["f"].text(), ":"))
	if leaves || has(options, "to-command", "checkpoint-action", "use-compress-program", "I", "rsh-command", "new-volume-script", "info-script", "F", "unzip-command") {
		w.add(agent.EffectUnknown, program)
	}
	into := literal(".")
	for _, name := range []string{"C", "directory", "one-top-level", "d"} {
		if v, ok := options[name]; ok && v.text() != "" {
			into = v
		}
	}
	file := options["f"]
	if program == "unzip" {
		if len(rest) > 0 {
			file = rest[0]
		}
		if has(options, "l", "v", "Z", "p", "c", "t") {
			options["t"] = literal("")
		} else {
			options["x"] = literal("")
		}
	}
	switch {
	case has(options, "x", "extract", "get"):
		w.reads(file, s)
		w.writes(into, s)
		if s.input.network || file.exact() && slices.ContainsFunc(w.paths(file[0], s), w.isFetched) {
			w.fetched = append(w.fetched, w.paths(into[0], s)...)
		}
	case has(options, "t", "list"):
		w.reads(file, s)
	default:
		if program == "zip" && len(rest) > 0 {
			file, rest = rest[0], rest[1:]
		}
		for _, arg := range rest {
			w.reads(arg, s)
		}
		w.writes(file, s)
		w.add(agent.EffectChanges)
	}
}

// bundled returns the arguments of tar in the old style, where the values of the
// first word's letters follow in order, as options.
func bundled(args []value) (options []value) {
	rest := args[1:]
	for _, letter := range args[0].text() {
		options = append(options, literal("-"+string(letter)))
		if strings.ContainsRune("fCIdTXbHg", letter) && len(rest) > 0 {
			options, rest = append(options, rest[0]), rest[1:]
		}
	}
	return append(options, rest...)
}

func dumps(w *walker, program string, args []value, s *scope) {
	for _, arg := range args {
		name, file, _ := strings.Cut(arg.text(), "=")
		v := value{{text: file, exact: arg.exact()}}
		switch name {
		case "of":
			w.writes(v, s)
		case "if":
			w.reads(v, s)
		}
	}
}

func tees(w *walker, program string, args []value, s *scope) {
	rest, _ := operands(args, "")
	for _, arg := range rest {
		w.writes(arg, s)
		if s.input.network && arg.exact() {
			w.fetched = append(w.fetched, w.paths(arg[0], s)...)
		}
	}
}

// finds looks at find, which may delete and run programs.
func finds(w *walker, program string, args []value, s *scope) {
	var starts []value
	i := 0
	for ; i < len(args) && (slices.Contains([]string{"-H", "-L", "-P", "-D"}, args[i].text()) || strings.HasPrefix(args[i].text(), "-O")); i++ {
		if args[i].text() == "-D" {
			i++
		}
	}
	i = min(i, len(args))
	for ; i < len(args) && !strings.HasPrefix(args[i].text(), "-") && args[i].text() != "(" && args[i].text() != "!"; i++ {
		starts = append(starts, args[i])
	}
	if len(starts) == 0 {
		starts = []value{literal(".")}
	}
	found := foundBy(starts, args[i:])
	for _, start := range starts {
		w.reads(start, s)
	}
	rest := args[i:]
	if slices.ContainsFunc(rest, func(v value) bool { return !v.exact() && len(v) == 1 && !v[0].glob || v.text() == "-files0-from" }) {
		w.add(agent.EffectUnknown, program)
	}
	for at, arg := range rest {
		switch arg.text() {
		case "-delete":
			w.deletes(found, true, s)
		case "-exec", "-execdir", "-ok", "-okdir":
			end := at + 1
			for end < len(rest) && rest[end].text() != ";" && rest[end].text() != "+" {
				end++
			}
			for _, one := range found {
				command := slices.Clone(rest[at+1 : end])
				if len(command) > 0 && slices.Contains([]string{"rm", "unlink", "shred", "trash"}, filepath.Base(command[0].text())) {
					leave := w.enter(command, s)
					w.deletes([]value{one}, true, s)
					leave()
					continue
				}
				for i, word := range command {
					if word.exact() && word.text() == "{}" {
						command[i] = one
					} else if word.exact() && strings.Contains(word.text(), "{}") {
						command[i] = value{{text: word.text()}}
					}
				}
				inside := s.inner()
				inside.functions = map[string]bool{}
				w.run(command, inside)
			}
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if at+1 < len(rest) {
				w.writes(rest[at+1], s)
			}
		}
	}
}

// foundBy returns what a search finds, as patterns below its starts.
func foundBy(starts, expression []value) []value {
	name := "*"
	several := false
	for i, arg := range expression {
		switch text := arg.text(); {
		case slices.Contains(strings.Fields("! -not -o -or ,"), text):
			several = true
		case (text == "-name" || text == "-iname") && i+1 < len(expression) && expression[i+1].exact():
			name = expression[i+1].text()
		case name == "*" && slices.Contains(strings.Fields("-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -newer -size -empty -user"), text):
			name = unnamed
		}
	}
	if several { // it is not only what the name matches
		name = unnamed
	}
	var found []value
	for _, start := range starts {
		for _, p := range start {
			p.text, p.glob = strings.TrimSuffix(p.text, "/")+"/"+name, true
			found = append(found, value{p})
		}
	}
	return found
}

// namesFiles reports whether a search lists files of the project by a name that
// no secret has.
func (w *walker) namesFiles(args []value, s *scope) bool {
	named := false
	for i, arg := range args {
		if text := arg.text(); (text == "-name" || text == "-iname") && i+1 < len(args) {
			pattern := args[i+1].text()
			named = args[i+1].exact() && strings.Trim(pattern, "*?.") != "" && !sensitive.Secret(strings.Trim(pattern, "*")) && !sensitive.Secret(pattern)
		}
	}
	for _, arg := range args {
		if arg.isOption() || !named {
			break
		}
		named = arg.exact() && !slices.ContainsFunc(w.paths(arg[0], s), func(path string) bool { return !w.at.inside(path) })
	}
	return named
}
