package confine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Blocked says what of a profile a command ran into.
type Blocked struct {
	What Block
	// Path is the file, or the host; empty if the output does not name it.
	Path string
}

// Block is a kind of thing that a confined command cannot do.
type Block string

// The kinds.
const (
	BlockedWrite   Block = "write"
	BlockedControl Block = "control" // writing a protected file
	BlockedGit     Block = "git"     // writing to the repository
	BlockedRead    Block = "read"
	BlockedNetwork Block = "network"
	BlockedDirect  Block = "direct" // reaching a host without the proxy
	BlockedLocal   Block = "local"  // reaching a program of this machine that is not confined
	BlockedSocket  Block = "socket"
	BlockedEntry   Block = "entry" // creating, renaming or deleting in a frozen folder
)

// maxExplained limits how much of an output is looked through, from its end.
const maxExplained = 64 << 10

// The system's words for what a confinement refuses, as programs pass them on.
var (
	readOnlyWords = lazily(`(?i)read-only file system|EROFS`)
	deniedWords   = lazily(`(?i)permission denied|EACCES`)
	deniedPath    = lazily(`(?i)EACCES: permission denied,? \w+ '([^']+)'|([^\s'"‘’:]+)['"’]?: permission denied`)
	entryWords    = lazily(`(?i)cannot (?:remove|move|create)|unlink|rename|mkdir`)
	busyWords     = lazily(`(?i)device or resource busy|EBUSY|is a directory|EISDIR|cannot overwrite directory`)
	addWords      = lazily(`can only add regular files`)
	socketWords   = lazily(`(?i)operation not permitted|EPERM`)
	networkWords  = lazily(`(?i)could not resolve host|temporary failure in name resolution|name or service not known|` +
		`network is unreachable|ENETUNREACH|ENOTFOUND|EAI_AGAIN|no such host|failed to lookup address|dial tcp|unknown host`)
	localWords = lazily(`(?i)(?:localhost|127\.0\.0\.1|::1)\b.*(?:connection refused|couldn't connect|failed to connect)|` +
		`(?:connection refused|ECONNREFUSED|failed to connect).*(?:localhost|127\.0\.0\.1|::1)`)
	// How programs begin a line about themselves: "cp: …", "/bin/sh: …", "npm error …", "OSError: …".
	messageWords = lazily(`^\s*(?:npm (?:error|ERR!)|[A-Za-z/][\w./+-]*:) `)
	socketNames  = lazily(`(?i)socket|\.sock\b|docker|dbus|agent`)
	hostWord     = lazily(`(?i)(?:host:?|lookup|ENOTFOUND|EAI_AGAIN) ([a-z0-9-]+(?:\.[a-z0-9-]+)+)`)
	pathWord     = lazily(`(?:/|~/|\.{1,2}/|\.?\w)[^\s'"‘’` + "`" + `:,()]*`)
)

// Explain tells from the output of a command what its profile kept it from. Relative
// paths are taken to begin at the first writable folder. It reports false if nothing
// in the output suggests that it was the profile. The exit code of a command that did
// not fail may be that of another part of its line, as behind a pipe: then only what
// a program says of itself counts.
func (p Profile) Explain(output string, failed bool) (Blocked, bool) {
	if cut := len(output) - maxExplained; cut > 0 {
		output = output[cut:]
	}
	for line := range strings.Lines(output) {
		switch {
		case !failed && !messageWords().MatchString(line):
		case !failed && strings.HasPrefix(line, "error: could not write config file "):
			// Git deleted a branch; its settings are removed when the line has ended.
		case readOnlyWords().MatchString(line):
			return p.write(line), true
		case busyWords().MatchString(line): // what is protected is a mount, and a folder where it does not exist
			if _, ok := p.named(line, p.Protected); ok {
				return p.write(line), true
			}
		case addWords().MatchString(line): // git, of a secret that is covered
			if path, ok := p.named(line, p.Secrets); ok {
				return Blocked{BlockedRead, path}, true
			}
		case deniedWords().MatchString(line):
			if b, ok := p.denied(line); ok {
				return b, true
			}
		case p.Network != NetworkFull && localWords().MatchString(line):
			if p.Network == NetworkProxy {
				return Blocked{BlockedDirect, "localhost"}, true
			}
			return Blocked{What: BlockedLocal}, true
		case p.Network != NetworkFull && networkWords().MatchString(line):
			host := ""
			if m := hostWord().FindStringSubmatch(line); m != nil {
				host = m[1]
			}
			if p.Network == NetworkProxy {
				return Blocked{BlockedDirect, host}, true
			}
			return Blocked{BlockedNetwork, host}, true
		case p.Sockets != SocketsAll && socketWords().MatchString(line) && socketNames().MatchString(line):
			return Blocked{What: BlockedSocket}, true
		}
	}
	return Blocked{}, false
}

// mostRefusals is how many refused hosts are named.
const mostRefusals = 8

// Refusals says in one sentence which hosts the proxy refused to the command. It
// is empty if there were none.
func (p Profile) Refusals() string {
	if p.Proxy == nil {
		return ""
	}
	refused := p.Proxy.Refused()
	if len(refused) == 0 {
		return ""
	}
	more := ""
	if rest := len(refused) - mostRefusals; rest > 0 {
		refused, more = refused[:mostRefusals], fmt.Sprintf("; and %d more", rest)
	}
	text := "The sandbox's proxy refused hosts to this command: " + strings.Join(refused, "; ") + more + "."
	if wanted := p.Proxy.Wanted(); len(wanted) > 0 {
		text += " If it runs again, the user is asked whether it may reach " + strings.Join(wanted[:min(mostRefusals, len(wanted))], ", ") + "."
	}
	return text
}

// write explains a write that was refused.
func (p Profile) write(line string) Blocked {
	if path, ok := p.named(line, p.Protected); ok {
		if inRepository(path) {
			return Blocked{BlockedGit, path}
		}
		return Blocked{BlockedControl, path}
	}
	for _, word := range pathWord().FindAllString(line, -1) {
		if inRepository(word) { // the project may be a folder of one
			return Blocked{BlockedGit, word}
		}
	}
	return Blocked{BlockedWrite, refusedPath(line)}
}

// refusedPath returns the path that a line about a refused write is about, which most
// programs name just before the system's words and some just after; empty if there is
// none.
func refusedPath(line string) string {
	before, after := line, ""
	if at := readOnlyWords().FindStringIndex(line); at != nil {
		before, after = line[:at[0]], line[at[1]:]
	}
	words := pathWord().FindAllString(before, -1)
	slices.Reverse(words)
	for _, word := range append(words, pathWord().FindAllString(after, -1)...) {
		if strings.Contains(word, "/") {
			return word
		}
	}
	return ""
}

// denied explains a word of the system that may have other reasons.
func (p Profile) denied(line string) (Blocked, bool) {
	if path, ok := p.named(line, slices.Concat(p.Hidden, p.Secrets)); ok {
		return Blocked{BlockedRead, path}, true
	}
	if len(p.Frozen) == 0 { // elsewhere the system has other words for what follows
		return Blocked{}, false
	}
	if _, ok := p.named(line, p.Protected); ok {
		return p.write(line), true
	}
	for _, m := range deniedPath().FindAllStringSubmatch(line, -1) {
		word := cmp.Or(m[1], m[2])
		path, ok := p.absolute(word)
		if !ok {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case slices.Contains(p.Frozen, filepath.Dir(path)):
			if err != nil || entryWords().MatchString(line) { // else it is another matter, such as its mode
				return Blocked{BlockedEntry, word}, true
			}
		case slices.ContainsFunc(append(p.Writable, p.Temp), func(dir string) bool { return within(dir, path) }):
		case err != nil:
			return Blocked{BlockedWrite, word}, true
		case info.IsDir():
			return Blocked{BlockedRead, word}, true
		}
	}
	return Blocked{}, false
}

// absolute returns the path that a word means. It reports false for a word that
// names none.
func (p Profile) absolute(word string) (string, bool) {
	if filepath.IsAbs(word) {
		return filepath.Clean(word), true
	}
	if len(p.Writable) == 0 {
		return "", false
	}
	return filepath.Join(p.Writable[0], word), true
}

func inRepository(path string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(path), "/"), ".git")
}

// named returns the path in a line that is one of some paths or below one.
func (p Profile) named(line string, paths []string) (string, bool) {
	for _, word := range pathWord().FindAllString(line, -1) {
		path, ok := p.absolute(word)
		if !ok {
			continue
		}
		for _, each := range paths {
			if within(each, path) {
				return word, true
			}
		}
	}
	return "", false
}

// Sentence says what was blocked.
func (b Blocked) Sentence() string {
	name := func(prefix string) string {
		if b.Path == "" {
			return ""
		}
		return prefix + b.Path
	}
	switch b.What {
	case BlockedGit:
		return "Commands run confined here, and this line cannot change the repository (.git): only a line of git commands alone can, and git init or git branch -m by itself. " +
			"What git takes programs and settings from (git config, git remote, hooks, --track) cannot be changed, and nothing in the background changes a repository."
	case BlockedControl:
		return "Commands run confined here and cannot change " + b.Path + ", because it tells other programs what to run."
	case BlockedRead:
		return "Commands run confined here and cannot read" + name(" ") + ", which may hold secrets."
	case BlockedEntry:
		return "Commands run confined here without namespaces, and can change the files that are directly in this folder but not create, rename or delete there" + name(": ") + ". They can do so in most folders below it and in $TMPDIR."
	case BlockedNetwork:
		return "Commands run confined here, without a network" + name(", and cannot reach ") + "."
	case BlockedDirect:
		return "Commands run confined here and reach allowed hosts only through the proxy in HTTPS_PROXY, which this program did not use" + name(" for ") + "."
	case BlockedLocal:
		return "Commands run confined here, with a localhost of their own, where they cannot reach a program that was started elsewhere."
	case BlockedSocket:
		return "Commands run confined here and cannot talk to other programs of this machine through sockets."
	}
	return "Commands run confined here and can write only in the project and in $TMPDIR" + name(", not to ") + "."
}

// lazily compiles an expression when it is first needed. Few programs need any of them, and
// compiling them all would delay every start.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
