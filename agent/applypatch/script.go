package applypatch

import (
	"regexp"
	"strings"
	"sync"
)

// call matches the start of a script that runs the patch command with a
// heredoc, optionally after a change of directory. The groups are the directory
// and the heredoc's delimiter, each in single quotes, double quotes or none.
var call = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*` +
		`(?:cd[ \t]+(?:'([^']+)'|"([^"$\x60\\]+)"|([^-\s'"$\x60\\;&|<>(){}\[\]*?~#!][^\s'"$\x60\\;&|<>(){}\[\]*?~#!]*))[ \t]*&&\s*)?` +
		`(?:apply_patch|applypatch)[ \t]*<<[ \t]*(?:'(\w+)'|"(\w+)"|(\w+))[ \t]*\r?\n`)
})

// FromScript returns the patch that a shell script applies and does nothing
// else, and the directory to which it changes, if any. Models have learnt to
// give patches to a command of this name, which no shell has. For any other
// script ok is false.
func FromScript(script string) (dir, patch string, ok bool) {
	groups := call().FindStringSubmatch(script)
	if groups == nil {
		return "", "", false
	}
	dir = groups[1] + groups[2] + groups[3]
	delimiter := groups[4] + groups[5] + groups[6]
	body := script[len(groups[0]):]
	end := 0
	for line := range strings.Lines(body) {
		if strings.TrimRight(line, "\r\n") == delimiter {
			return dir, body[:end], blank(body[end+len(line):])
		}
		end += len(line)
	}
	return "", "", false
}
