package boundary

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
)

// maxScripts limits how deep scripts within scripts are checked.
const maxScripts = 4

// Command checks a line of bash that runs in a folder, which is absolute. Every
// program of the line is checked, also within others: substitutions, functions,
// wrappers such as sudo and xargs, nested shells and scripts. A line that
// cannot be read is denied if the lists say which programs may run.
func (c *Checker) Command(line, dir string) Verdict {
	return c.command(line, dir, maxScripts)
}

func (c *Checker) command(line, dir string, scripts int) Verdict {
	if _, ok := command.Parse(line); !ok && strings.TrimSpace(line) != "" {
		return denied("The command cannot be read: it is not valid, too long or nested too deeply.")
	}
	steps, effects := command.Trace(line, command.Place{
		Dir: dir, Project: c.project, Home: c.home, Resolve: Resolve,
		Exists: func(path string) bool { _, err := os.Lstat(path); return err == nil },
	})
	if slices.ContainsFunc(effects, func(e agent.Effect) bool { return e.ID == agent.EffectTooLong }) {
		return denied("The command is too long or nested too deeply to be read.")
	}
	verdict := c.steps(steps, scripts)
	for _, step := range steps {
		verdict = Stricter(verdict, c.gitText(step))
	}
	return verdict
}

// Steps is Command for a line that has been traced already, and for callers that
// find out themselves what git prints.
func (c *Checker) Steps(steps []command.Step) Verdict { return c.steps(steps, maxScripts) }

func (c *Checker) steps(steps []command.Step, scripts int) Verdict {
	verdict := allowed
	for _, step := range steps {
		verdict = Stricter(verdict, c.step(step, scripts))
		if verdict.Decision == agent.Deny {
			return verdict
		}
	}
	return Stricter(verdict, c.runsWritten(steps))
}

// Stricter returns the verdict that allows less; the first of equals.
func Stricter(a, b Verdict) Verdict {
	rank := map[agent.Decision]int{agent.Allow: 0, agent.Ask: 1, agent.Deny: 2}
	if rank[b.Decision] > rank[a.Decision] {
		return b
	}
	return a
}

func (c *Checker) step(s command.Step, scripts int) Verdict {
	verdict := allowed
	for _, check := range []func(command.Step) Verdict{c.program, c.unread, c.launched, c.files, c.repository, c.vague} {
		verdict = Stricter(verdict, check(s))
	}
	for _, script := range s.ReadScripts() {
		verdict = Stricter(verdict, c.script(script, s, scripts))
	}
	return verdict
}

// restrictsPrograms reports whether the lists say which programs may run.
func (c *Checker) restrictsPrograms() bool {
	return len(c.settings.DeniedCommands) > 0 || c.settings.AllowedCommands != nil
}

func (c *Checker) restrictsPaths() bool {
	return len(c.denied) > 0 || c.readable != nil || c.written != nil
}

// program checks the name of a program.
func (c *Checker) program(s command.Step) Verdict {
	switch {
	case s.Name == "" || s.Own:
		return allowed
	case !s.Known && c.restrictsPrograms():
		return denied("The program ", s.Name, " is only known when the command runs.")
	case !s.Known && c.restrictsPaths():
		return undecided("The program ", s.Name, " is only known when the command runs.")
	}
	switch entry, like := c.denies(s); like {
	case command.Meant:
		return denied("The command ", entry, " is in deniedCommands.")
	case command.MayBe:
		return undecided("It cannot be told whether this is the command ", entry, ", which is in deniedCommands.")
	}
	if !c.allows(s) {
		return denied("The command ", s.Program(), " is not in allowedCommands.")
	}
	if strings.ContainsRune(s.Name, filepath.Separator) {
		for _, dir := range s.Dirs {
			if path := c.absolute(s.Name, dir); c.isDenied(path) || c.isDenied(Resolve(path)) {
				return denied("The program ", s.Name, " is in deniedPaths.")
			}
		}
	}
	return allowed
}

// version matches what follows the name of a program in that of a version of
// it: python3.12.
var version = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-.]?[0-9][0-9.]*$`) })

// denies returns the entry of deniedCommands that a step is or may be, or none. The
// words after an entry's program are arguments, between which others may stand.
func (c *Checker) denies(s command.Step) (entry string, like command.Likeness) {
	program := strings.TrimSuffix(s.Program(), ".exe")
	if strings.HasPrefix(program, "git-") { // a command of git by its file
		program = "git"
	}
	for _, one := range c.settings.DeniedCommands {
		words := strings.Fields(one)
		if len(words) == 0 {
			continue
		}
		if len(words) == 1 && words[0] == "rm" && s.Deletes() {
			return one, command.Meant
		}
		name, open := strings.CutSuffix(filepath.Base(words[0]), "*")
		isIt := c.same(name, program)
		if after, ok := strings.CutPrefix(program, name); ok && (open || version().MatchString(after)) {
			isIt = true
		}
		if !isIt {
			continue
		}
		if found := s.Has(command.Wants(words[1:])); found > like {
			entry, like = one, found
		}
	}
	return entry, like
}

// hasInOrder reports whether words have others among them, in their order.
func hasInOrder(words, want []string) bool {
	for _, word := range words {
		if len(want) > 0 && isWord(word, want[0]) {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// isWord reports whether a word is that of an entry, which may end in "*".
func isWord(word, want string) bool {
	before, open := strings.CutSuffix(want, "*")
	return word == want || open && strings.HasPrefix(word, before)
}

// allows reports whether allowedCommands has a step. The words after an entry's
// program must be its first arguments.
func (c *Checker) allows(s command.Step) bool {
	return c.settings.AllowedCommands == nil || slices.ContainsFunc(c.settings.AllowedCommands, func(entry string) bool {
		words := strings.Fields(entry)
		return len(words) > 0 && filepath.Base(words[0]) == s.Program() && len(s.Args) >= len(words)-1 && slices.Equal(s.Args[:len(words)-1], words[1:])
	})
}

// launches matches code that may run other programs.
var launches = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?i)system|exec|spawn|popen|subprocess|child_process|fork|eval|__import__|importlib|ctypes|pty|`|qx|%x|shell|open *\\(? *[\"']\\|")
})

// unread checks code that cannot be read as a line of a shell, and options and
// variables that make a program run another one.
func (c *Checker) unread(s command.Step) Verdict {
	if s.Unread != "" {
		return c.code(s)
	}
	other := slices.ContainsFunc(s.Effects, func(e agent.Effect) bool {
		isFile := len(e.Args) == 0 || slices.ContainsFunc(e.Args, func(arg string) bool { return slices.Contains(s.Vague, arg) })
		return e.ID == agent.EffectNetCode || e.ID == agent.EffectBuiltCode || e.ID == agent.EffectUnknown && !isFile
	})
	switch {
	case s.Unfamiliar || s.Own || !s.Known && s.Name != "" || !other || !c.restrictsPrograms() && !c.restrictsPaths():
		return allowed
	case !c.restrictsPrograms() && s.Name == "":
		return c.moved(s)
	case s.Name == "":
		return denied("The command sets a variable that decides which programs run.")
	case c.mentions(strings.Join(s.Args, " ")):
		return denied("The command ", s.Program(), " may run one that is in deniedCommands.")
	}
	return undecided("What the command ", s.Program(), " runs cannot be told.")
}

// moved asks about variables that decide where ~ is and where words end.
func (c *Checker) moved(s command.Step) Verdict {
	for _, e := range s.Effects {
		if len(e.Args) > 0 && (strings.HasPrefix(e.Args[0], "HOME=") || strings.HasPrefix(e.Args[0], "IFS=")) {
			return undecided("The command sets ", e.Args[0], ", which decides what its paths are.")
		}
	}
	return allowed
}

// code checks a program that is handed code.
func (c *Checker) code(s command.Step) Verdict {
	isShell := command.IsShell(s.Program())
	switch {
	case !c.restrictsPrograms() && !c.restrictsPaths():
		return allowed
	case isShell && c.restrictsPrograms(), c.mentions(s.Unread):
		return denied("The code that ", s.Program(), " runs cannot be read.")
	case c.settings.AllowedCommands != nil && len(c.settings.DeniedCommands) == 0 && !c.restrictsPaths():
		return allowed // whoever allows an interpreter allows its programs
	case c.restrictsPrograms() && launches().MatchString(s.Unread):
		return denied("The code that ", s.Program(), " runs may start other programs.")
	}
	return undecided("The code that ", s.Program(), " runs cannot be read.")
}

// mentions reports whether a text has the name of a denied program in it.
func (c *Checker) mentions(text string) bool {
	words := command.NamesIn(text)
	return slices.ContainsFunc(c.settings.DeniedCommands, func(entry string) bool {
		first, _, _ := strings.Cut(strings.TrimSpace(entry), " ")
		return first != "" && slices.ContainsFunc(words, func(word string) bool { return isWord(word, filepath.Base(first)) })
	})
}

// launched asks about a program that may run a denied one, which its arguments
// name as a word or within a text of several.
func (c *Checker) launched(s command.Step) Verdict {
	mayRun := s.Launches() || slices.ContainsFunc(s.Effects, func(e agent.Effect) bool {
		return slices.Contains([]agent.EffectID{agent.EffectRunsProject, agent.EffectPackages, agent.EffectControls, agent.EffectDestroys, agent.EffectDiscards, agent.EffectReverts}, e.ID)
	})
	if !mayRun || s.Own {
		return allowed
	}
	if entry := c.names(s.Args); entry != "" {
		return undecided("The command ", s.Program(), " may run ", entry, ", which is in deniedCommands.")
	}
	return allowed
}

// script checks a file that is run as code.
func (c *Checker) script(script command.Script, s command.Step, scripts int) Verdict {
	verdict := c.path(script.Path, Read)
	switch {
	case !c.restrictsPrograms() && !c.restrictsPaths() || !script.Shell:
	case script.Clear && scripts == 0:
		verdict = Stricter(verdict, denied("Scripts run scripts too deeply to be read."))
	case script.Clear:
		for _, dir := range s.Dirs {
			inside := c.command(script.Text, dir, scripts-1)
			if inside.Decision != agent.Allow {
				inside.Reason = "In the script " + script.Path + ": " + inside.Reason
			}
			verdict = Stricter(verdict, inside)
		}
	case c.restrictsPrograms():
		verdict = Stricter(verdict, denied("The script ", script.Path, " cannot be read."))
	}
	return verdict
}

// files checks the files that a step is known to touch, and its arguments.
func (c *Checker) files(s command.Step) Verdict {
	verdict := allowed
	deep := s.Descends()
	for _, path := range s.Reads {
		if s.Name == "" || c.isNamed(path, s) {
			verdict = Stricter(verdict, c.path(path, Read))
		}
		if deep && c.above(path) {
			verdict = Stricter(verdict, denied("A path below ", path, " is in deniedPaths."))
		}
	}
	for _, path := range s.Writes {
		verdict = Stricter(verdict, c.path(path, Write))
		if deep && c.above(path) {
			verdict = Stricter(verdict, denied("A path below ", path, " is in deniedPaths."))
		}
	}
	if deep && (len(s.Reads)+len(s.Writes) == 0 || s.Unfamiliar || s.Program() == "ln") {
		verdict = Stricter(verdict, c.unnamed(s))
	}
	for _, arg := range s.Args {
		if s.IsText() {
			break
		}
		for _, path := range pathsIn(arg, s.Unfamiliar) {
			verdict = Stricter(verdict, c.argument(path, s))
		}
	}
	return verdict
}

// repository checks that a command of git which changes something may write the folder's
// repository, where branches, tags and settings are.
func (c *Checker) repository(s command.Step) Verdict {
	changes := func(e agent.Effect) bool {
		return !slices.Contains([]agent.EffectID{agent.EffectReads, agent.EffectOutside, agent.EffectSecrets, agent.EffectOwn}, e.ID)
	}
	if s.Program() != "git" || !slices.ContainsFunc(s.Effects, changes) {
		return allowed
	}
	verdict := allowed
	for _, dir := range s.Dirs {
		verdict = Stricter(verdict, c.path(filepath.Join(dir, ".git"), Write))
	}
	return verdict
}

// unnamed checks the folders that a program descends into and that are not
// known: those of its arguments, or without one where it runs. The target of a
// link begins at the link's folder.
func (c *Checker) unnamed(s command.Step) Verdict {
	operands := slices.DeleteFunc(slices.Clone(s.Args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	var paths []string
	for _, dir := range s.Dirs {
		if len(s.Reads)+len(s.Writes) == 0 {
			paths = append(paths, dir)
		}
		for _, arg := range operands {
			paths = append(paths, c.absolute(arg, dir))
			if s.Program() == "ln" {
				paths = append(paths, c.absolute(arg, filepath.Dir(c.absolute(operands[len(operands)-1], dir))), c.absolute(arg, c.absolute(operands[len(operands)-1], dir)))
			}
		}
	}
	for _, path := range paths {
		if c.above(path) || c.isDenied(path) || c.isDenied(Resolve(path)) {
			return denied("A path below ", path, " is in deniedPaths.")
		}
	}
	return allowed
}

// isNamed reports whether a path is read because an argument names it. A
// program that is given none reads the folder in which it runs.
func (c *Checker) isNamed(path string, s command.Step) bool {
	return !slices.Contains(s.Dirs, path) || slices.ContainsFunc(s.Args, func(arg string) bool {
		return slices.ContainsFunc(s.Dirs, func(dir string) bool { return Resolve(c.absolute(arg, dir)) == path })
	})
}

// argument checks a word that may be a path. Of a program about which nothing is
// known, an absolute path must also be one that may be read.
func (c *Checker) argument(word string, s command.Step) Verdict {
	for _, dir := range s.Dirs {
		path := c.absolute(word, dir)
		if c.isDenied(path) || c.isDenied(Resolve(path)) {
			return denied("The path ", path, " is in deniedPaths.")
		}
		leads := strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") || strings.Contains(word, "..")
		if s.Unfamiliar && leads {
			return c.path(path, Read)
		}
	}
	return allowed
}

// pathsIn returns what of an argument may be a path: all of it, or the value of
// an option. Of an unfamiliar program it may also be a part of a list or of a
// pair, such as /from:/to.
func pathsIn(arg string, unfamiliar bool) []string {
	paths := command.PathsIn(arg)
	if unfamiliar && len(arg) > 2 && arg[0] == '-' && arg[1] != '-' { // the value of a letter
		paths = append(paths, arg[2:])
	}
	if unfamiliar && !strings.Contains(arg, "://") {
		for _, whole := range slices.Clone(paths) {
			paths = append(paths, strings.FieldsFunc(whole, func(r rune) bool { return strings.ContainsRune(":,=", r) })...)
		}
	}
	return paths
}

// vague checks words for files that are only known when the line runs.
func (c *Checker) vague(s command.Step) Verdict {
	if len(s.Vague) == 0 || !c.restrictsPaths() {
		return allowed
	}
	changes := slices.ContainsFunc(s.Effects, func(e agent.Effect) bool {
		return slices.Contains([]agent.EffectID{agent.EffectChanges, agent.EffectDeletes, agent.EffectDeletesUnknown}, e.ID)
	})
	if changes {
		return denied("The path ", s.Vague[0], " is only known when the command runs.")
	}
	return undecided("The path ", s.Vague[0], " is only known when the command runs.")
}
