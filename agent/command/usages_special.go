package command

import (
	"slices"
	"strings"
)

// This file has the programs whose arguments follow their own rules.

func set(names string) map[string]bool {
	s := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		s[name] = true
	}
	return s
}

// findTests take no argument, findValues take one that is not a file.
var (
	findTests = set("! ( ) -a -and -o -or -not , -daystart -depth -empty -executable -false -ls -mount -noleaf -print -print0 -prune -quit " +
		"-readable -true -writable -xdev")
	findValues = set("-amin -atime -cmin -ctime -group -iname -inum -ipath -iregex -links -maxdepth -mindepth -mmin -mtime -name -path " +
		"-perm -printf -regex -regextype -size -type -user -wholename")
)

// judgeFind accepts expressions that look at names and file attributes, and
// follow no links.
func judgeFind(words []word) (reading, bool) {
	c := reading{program: "find"}
	begin, silent := true, false
	c.lists.name = soleName(words)
	var more []string // files that are not searched
	for i := 0; i < len(words); i++ {
		text := words[i].text
		switch {
		case words[i].pattern != "":
			return reading{}, false
		case begin && text == "-P":
		case begin && !strings.HasPrefix(text, "-") && text != "(" && text != "!" && isPath(text):
			c.paths = append(c.paths, text)
			continue
		case text == "-print0":
			c.lists.zero = true
		case findTests[text]:
			silent = silent || text == "-ls"
		case i+1 == len(words):
			return reading{}, false
		case findValues[text] && words[i+1].pattern == "":
			i++
			silent = silent || text == "-printf"
		case (text == "-newer" || text == "-anewer" || text == "-cnewer") && words[i+1].pattern == "" && isPath(words[i+1].text):
			i++
			more = append(more, words[i].text)
		case text == "-exec":
			end, paths, ok := c.executes(words[i+1:])
			if !ok {
				return reading{}, false
			}
			i, silent, more = i+end, true, append(more, paths...)
		default:
			return reading{}, false
		}
		begin = begin && text == "-P"
	}
	if len(c.paths) == 0 {
		c.paths = []string{"."}
	}
	if !silent {
		c.lists.trees = c.paths
	}
	c.paths = append(slices.Clip(c.paths), more...)
	return c, true
}

// soleName returns the pattern that the names of all that find finds match, or
// none.
func soleName(words []word) (pattern string) {
	if slices.ContainsFunc(words, func(w word) bool { return slices.Contains(strings.Fields("-o -or , ! -not"), w.text) }) {
		return ""
	}
	for i, w := range words {
		if w.text == "-exec" { // what follows is not for find
			break
		}
		if w.text == "-name" && i+1 < len(words) && !strings.ContainsAny(words[i+1].text, `[\/`) {
			pattern = words[i+1].text
		}
	}
	return pattern
}

// executes examines what find runs for the files that it finds. It returns how
// many words that are, and the other files that it reads.
func (c *reading) executes(words []word) (end int, paths []string, ok bool) {
	end = slices.IndexFunc(words, func(w word) bool { return w.pattern == "" && (w.text == ";" || w.text == "+") })
	if end < 1 {
		return 0, nil, false
	}
	names := nameList{trees: c.paths, name: c.lists.name}
	if len(names.trees) == 0 {
		names.trees = []string{"."}
	}
	run, ok := handing(words[:end], "find", "{}", names)
	if !ok || len(run.patterns) > 0 {
		return 0, nil, false
	}
	c.also = append(append(c.also, run.program), run.also...)
	c.handed = append(c.handed, run.handed...)
	return end + 1, run.paths, true
}

// judgeProcesses accepts questions about the running programs that do not show
// their variables.
func judgeProcesses(words []word) (reading, bool) {
	c := reading{program: "ps"}
	for i := 0; i < len(words); i++ {
		text := words[i].text
		switch {
		case words[i].pattern != "":
			return reading{}, false
		case i == 0 && slices.Contains(strings.Fields("aux ax x u auxf auxww axo"), text) && text != "axo":
		case strings.HasPrefix(text, "--sort="), text == "--no-headers", text == "--forest":
		case slices.Contains(strings.Fields("-e -f -ef -A -F -eF -efww -ww -w -l -a -x -ax -aux"), text):
		case slices.Contains(strings.Fields("-p -o -C -eo -Ao -u"), text) && i+1 < len(words) && processFields().MatchString(words[i+1].text) && !strings.Contains(words[i+1].text, "env"):
			i++
		default:
			return reading{}, false
		}
	}
	return c, true
}

var processFields = lazily(`^[a-z0-9_%,=]+$`)

var testOperators = set("! = == != -a -o -e -f -d -s -r -w -x -L -h -z -n -eq -ne -lt -le -gt -ge -nt -ot -ef")

// judgeTest counts every word that is not an operator as a file, even a number
// or a text.
func judgeTest(name string, words []word) (reading, bool) {
	if name == "[" {
		if len(words) == 0 || words[len(words)-1].text != "]" {
			return reading{}, false
		}
		words = words[:len(words)-1]
	}
	var c reading
	for _, w := range words {
		switch {
		case w.pattern != "":
			return reading{}, false
		case testOperators[w.text], w.text == "":
		case strings.HasPrefix(w.text, "-") || !isPath(w.text):
			return reading{}, false
		default:
			c.paths = append(c.paths, w.text)
		}
	}
	return c, true
}

// judgeVersion accepts questions that a program may be asked about itself.
func judgeVersion(name, questions string, words []word) (reading, bool) {
	c := reading{program: name}
	if len(words) == 0 || !slices.Contains(strings.Fields(questions), words[0].text) {
		return c, false
	}
	env := words[0].text == "env"
	for _, w := range words[1:] {
		if !env || w.pattern != "" || !goVariable().MatchString(w.text) {
			return c, false
		}
	}
	return c, !env || len(words) > 1
}

// goVariable matches what go env tells without running a C compiler, as it does
// for the flags of one. Without a name, it tells all.
var goVariable = lazily(`^GO(ARCH|BIN|CACHE|ENV|EXE|EXPERIMENT|FLAGS|HOSTARCH|HOSTOS|MOD|MODCACHE|NOPROXY|NOSUMDB|OS|PATH|PRIVATE|PROXY|ROOT|SUMDB|TMPDIR|TOOLCHAIN|TOOLDIR|VERSION|WORK)$`)
