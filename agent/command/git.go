package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// gits looks at a git command that is not known to only read.
func gits(w *walker, _ string, args []value, s *scope) {
	s = s.inner()
	var elsewhere []string // the folders that -C names
	for len(args) > 0 && args[0].isOption() {
		option := args[0].text()
		args = args[1:]
		takes := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--namespace", "--config-env"}, option)
		if !takes || len(args) == 0 {
			name, _, given := strings.Cut(option, "=")
			if given && slices.Contains([]string{"--exec-path", "--config-env", "--git-dir", "--work-tree"}, name) || strings.HasPrefix(option, "-c") {
				w.add(agent.EffectUnknown, "git "+option)
			}
			continue
		}
		switch given := args[0]; {
		case option == "-C" && given.exact():
			s.dirs = w.paths(given[0], s)
			elsewhere = s.dirs
		case option == "-c" && given.exact() && isHarmlessSetting(given.text()):
		default:
			w.add(agent.EffectUnknown, "git "+option+" "+given.text())
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	if !args[0].exact() {
		w.add(agent.EffectUnknown, "git "+args[0].text())
		return
	}
	for _, dir := range s.dirs {
		if !w.at.inside(w.at.resolve(dir)) {
			w.add(agent.EffectOutside, w.at.shown(w.at.resolve(dir)))
		}
	}
	name, args := args[0].text(), args[1:]
	command := gitTable[name]
	if command.look != nil {
		rest, options := operands(args, command.values)
		g := gitCall{w: w, s: s, said: "git " + name, args: args, rest: rest, options: options}
		before := len(w.effects)
		command.look(g)
		if slices.ContainsFunc(w.effects[before:], func(e agent.Effect) bool { return slices.Contains(gitChanging, e.ID) }) {
			for _, dir := range elsewhere {
				w.now.noteWrite(dir)
			}
		}
		return
	}
	if !w.onlyReads(append([]value{literal("git"), literal(name)}, args...), s) {
		w.add(agent.EffectUnknown, "git "+name)
		w.optionFiles(row("git").files, args, s)
		w.optionFiles(command.files, args, s)
		if name == "diff" { // it compares files outside the repository, too
			rest, _ := operands(args, "")
			w.readsAll(rest, s)
		}
	}
}

// gitChanging are the effects of commands that change their repository's folder.
var gitChanging = []agent.EffectID{agent.EffectChanges, agent.EffectDiscards, agent.EffectReverts, agent.EffectRewrites, agent.EffectControls}

// isHarmlessSetting reports whether a setting runs nothing, whatever its value.
func isHarmlessSetting(setting string) bool {
	name, set, _ := strings.Cut(strings.ToLower(setting), "=")
	return slices.ContainsFunc(gitSettings, func(p string) bool { ok, _ := path.Match(p, name); return ok }) ||
		name == "core.pager" && strings.Contains(setting, "=") && (set == "cat" || set == "")
}

// gitCall is a git command with its arguments.
type gitCall struct {
	w       *walker
	s       *scope
	said    string
	args    []value
	rest    []value
	options map[string]value
}

func (g gitCall) has(names ...string) bool { return has(g.options, names...) }

// as says the command with the options that matter.
func (g gitCall) as(options ...string) string {
	said := g.said
	for _, arg := range g.args {
		if slices.Contains(options, strings.TrimLeft(arg.text(), "-")) || len(options) == 0 {
			said += " " + arg.text()
		}
	}
	return said
}

func gitChanges(g gitCall) { g.w.add(agent.EffectChanges) }

func gitInit(g gitCall) {
	gitChanges(g)
	for _, dir := range g.rest {
		g.w.writes(dir, g.s)
	}
	if g.has("template", "separate-git-dir") {
		g.w.add(agent.EffectUnknown, g.said)
	}
}

func gitApply(g gitCall) {
	gitChanges(g)
	g.w.readsAll(g.rest, g.s)
	if g.has("unsafe-paths", "directory") {
		g.w.add(agent.EffectUnknown, g.said)
	}
}

func gitBisect(g gitCall) {
	gitChanges(g)
	if len(g.rest) > 1 && g.rest[0].text() == "run" {
		g.w.run(g.rest[1:], g.s)
	}
}

func gitDestroys(g gitCall) { g.w.add(agent.EffectDiscards, g.said) }

func gitCollect(g gitCall) {
	if g.has("prune") {
		gitDestroys(g)
		return
	}
	gitChanges(g)
}

func gitReflog(g gitCall) {
	if len(g.rest) > 0 && slices.Contains([]string{"expire", "delete"}, g.rest[0].text()) {
		gitDestroys(g)
		return
	}
	g.unlessReading()
}

// unlessReading is for commands that read in some forms.
func (g gitCall) unlessReading() {
	words := append([]value{literal("git"), literal(strings.TrimPrefix(g.said, "git "))}, g.args...)
	if !g.w.onlyReads(words, g.s) {
		g.w.add(agent.EffectChanges)
	}
}

func gitCommit(g gitCall) {
	gitChanges(g)
	for _, name := range []string{"F", "t", "file", "template"} {
		g.w.reads(g.options[name], g.s)
	}
	if g.has("amend") {
		g.w.add(agent.EffectRewrites, g.as("amend"))
	}
}

func gitRebase(g gitCall) {
	g.w.add(agent.EffectRewrites, g.said)
	for _, name := range []string{"x", "exec"} {
		if v, ok := g.options[name]; ok {
			g.w.code(v, g.said, g.s)
		}
	}
}

func gitReset(g gitCall) {
	switch {
	case g.has("hard", "merge", "keep"):
		g.w.add(agent.EffectReverts, g.as("hard", "merge", "keep"))
	case g.has("soft", "mixed"), len(g.rest) == 1 && g.rest[0].text() != "HEAD" && !isPathspec(g.rest[0]) && !g.exists(g.rest[0]):
		g.w.add(agent.EffectRewrites, g.said)
	default:
		gitChanges(g) // of what is staged
	}
}

func gitClean(g gitCall) {
	if g.has("n", "dry-run") {
		return
	}
	for _, dir := range g.s.dirs {
		g.w.now.noteWrite(dir)
	}
	if g.has("x", "X") { // ignored files, which no undo brings back
		g.w.add(agent.EffectDiscards, g.as())
		return
	}
	g.w.add(agent.EffectReverts, g.as())
}

func gitCheckout(g gitCall) {
	at := slices.IndexFunc(g.args, func(v value) bool { return v.text() == "--" })
	paths := at >= 0 && at < len(g.args)-1 || len(g.rest) > 1 && !g.has("b", "B") || g.has("pathspec-from-file", "p", "patch")
	single := len(g.rest) == 1 && at < 0 && (isPathspec(g.rest[0]) || g.exists(g.rest[0]))
	switch {
	case paths, single, g.has("f", "force", "B"):
		g.w.add(agent.EffectReverts, g.as())
	default:
		gitChanges(g)
	}
}

// isPathspec reports whether a word is one that names files, and not a branch.
func isPathspec(v value) bool {
	text := v.text()
	return text == "." || strings.HasPrefix(text, ":") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.ContainsAny(text, "*?[")
}

// exists reports whether a word names a file; git then takes it for one.
func (g gitCall) exists(v value) bool {
	return v.exact() && slices.ContainsFunc(g.s.dirs, func(dir string) bool { return g.w.at.exists(filepath.Join(dir, v.text())) })
}

func gitSwitch(g gitCall) {
	if g.has("f", "force", "discard-changes", "C") {
		g.w.add(agent.EffectReverts, g.as("f", "force", "discard-changes", "C"))
		return
	}
	gitChanges(g)
}

func gitRestore(g gitCall) {
	if g.has("staged", "S") && !g.has("worktree", "W") {
		gitChanges(g)
		return
	}
	g.w.add(agent.EffectReverts, g.as())
}

func gitStash(g gitCall) {
	if len(g.rest) > 0 && slices.Contains([]string{"drop", "clear"}, g.rest[0].text()) {
		g.w.add(agent.EffectDiscards, g.as())
		return
	}
	if len(g.rest) > 0 && slices.Contains([]string{"show", "list"}, g.rest[0].text()) {
		return
	}
	gitChanges(g)
}

func gitBranch(g gitCall) {
	if g.has("D", "d", "delete", "M", "f", "force") {
		g.w.add(agent.EffectRewrites, g.as())
		return
	}
	g.unlessReading()
}

func gitTag(g gitCall) {
	if g.has("d", "delete", "f", "force") {
		g.w.add(agent.EffectRewrites, g.as())
		return
	}
	g.unlessReading()
}

func gitRemove(g gitCall) {
	if g.has("cached") {
		gitChanges(g)
		return
	}
	g.w.deletes(g.rest, g.has("r"), g.s)
}

func gitWorktree(g gitCall) {
	if len(g.rest) > 0 && g.rest[0].text() == "remove" && g.has("f", "force") { // else git keeps what is changed
		g.w.add(agent.EffectDiscards, g.as())
		return
	}
	if len(g.rest) > 1 && g.rest[0].text() == "add" {
		g.w.writes(g.rest[1], g.s)
	}
	g.unlessReading()
}

func gitPush(g gitCall) {
	forced := g.has("f", "force", "force-with-lease", "delete", "d", "mirror", "prune", "force-if-includes")
	for _, arg := range g.rest {
		forced = forced || strings.HasPrefix(arg.text(), "+") || strings.HasPrefix(arg.text(), ":")
		if !arg.exact() {
			g.w.add(agent.EffectUnknown, arg.text())
		}
	}
	if forced {
		g.w.add(agent.EffectForces, g.as())
	}
	g.w.add(agent.EffectSends, g.remote())
	if g.has("receive-pack", "exec") || slices.ContainsFunc(g.rest, func(v value) bool { return strings.HasPrefix(v.text(), "ext::") }) {
		g.w.add(agent.EffectUnknown, g.said)
	}
}

// remote names where a command goes to.
func (g gitCall) remote() string {
	if len(g.rest) == 0 {
		return "origin"
	}
	if host := hostOf(g.rest[0].text()); host != "" {
		return host
	}
	return g.rest[0].text()
}

func gitFetch(g gitCall) {
	g.w.add(agent.EffectNetwork, g.remote())
	if g.has("upload-pack") || slices.ContainsFunc(g.rest, func(v value) bool { return strings.HasPrefix(v.text(), "ext::") }) {
		g.w.add(agent.EffectUnknown, g.said)
	}
}

func gitPull(g gitCall) {
	gitFetch(g)
	gitChanges(g)
	if g.has("rebase", "r") {
		g.w.add(agent.EffectRewrites, g.as("rebase", "r"))
	}
	if g.has("f", "force") {
		g.w.add(agent.EffectRewrites, g.as("f", "force"))
	}
}

func gitClone(g gitCall) {
	gitFetch(g)
	for _, name := range []string{"c", "config"} {
		for _, p := range g.options[name] {
			if !p.exact || !isHarmlessSetting(p.text) {
				g.w.add(agent.EffectUnknown, g.said+" -"+name+" "+p.text)
			}
		}
	}
	if g.has("template", "u", "upload-pack") {
		g.w.add(agent.EffectUnknown, g.said)
	}
	into := value{}
	switch {
	case len(g.rest) > 1:
		into = g.rest[1]
	case len(g.rest) == 1 && g.rest[0].exact():
		into = literal(strings.TrimSuffix(path.Base(strings.TrimSuffix(g.rest[0].text(), "/")), ".git"))
	}
	g.w.writes(into, g.s)
	if into.exact() {
		g.w.fetched = append(g.w.fetched, g.w.paths(into[0], g.s)...)
	}
}

func gitSubmodule(g gitCall) {
	if len(g.rest) > 0 && g.rest[0].text() == "foreach" {
		g.w.code(value{{text: join(g.rest[1:]), exact: exact(g.rest[1:])}}, g.said, g.s)
		return
	}
	if len(g.rest) > 0 && slices.Contains([]string{"update", "add"}, g.rest[0].text()) {
		g.w.add(agent.EffectNetwork, g.said)
	}
	if len(g.rest) > 2 && g.rest[0].text() == "add" {
		g.w.writes(g.rest[len(g.rest)-1], g.s)
	}
	gitChanges(g)
}

func gitRemote(g gitCall) {
	if len(g.rest) > 0 && slices.Contains([]string{"update", "prune", "show"}, g.rest[0].text()) {
		g.w.add(agent.EffectNetwork, g.said)
		return
	}
	if len(g.rest) > 0 && g.rest[0].text() == "add" && g.has("f") {
		g.w.add(agent.EffectNetwork, g.said)
	}
	g.unlessReading()
}

func gitConfig(g gitCall) {
	reading := g.has("get", "get-all", "get-regexp", "l", "list") || len(g.rest) == 1 && !g.has("unset", "unset-all", "remove-section", "e", "edit")
	if reading || len(g.rest) > 0 && slices.Contains([]string{"get", "list"}, g.rest[0].text()) {
		return
	}
	for _, name := range []string{"f", "file"} {
		g.w.writes(g.options[name], g.s)
	}
	if len(g.rest) > 0 && g.rest[0].exact() && isHarmlessSetting(g.rest[0].text()) && !g.has("global", "system", "f", "file") {
		g.w.add(agent.EffectChanges, ".git/config")
		return
	}
	g.w.add(agent.EffectControls, g.as())
	if g.has("global") {
		g.w.writesTo(filepath.Join(g.w.at.Home, ".gitconfig"))
	}
	if g.has("system") {
		g.w.writesTo("/etc/gitconfig")
	}
}
