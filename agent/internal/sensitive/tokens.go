package sensitive

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

const maxConfiguration = 1 << 20

// configurations are names of files that hold settings and sometimes a token, as
// elements of a path in lower case. Whether one does is told by its text. The others of
// git's files may have addresses in them.
var (
	configurations = strings.Fields(`
		.git/config .git/config.worktree .git/*/*/config .git/*/*/config.worktree .gitmodules .gitconfig .config/git/config
		.npmrc .yarnrc .yarnrc.yml .pnpmrc bunfig.toml pip.conf pip.ini .cargo/credentials .cargo/credentials.toml .cargo/config.toml
		.m2/settings.xml gradle.properties nuget.config .bundle/config auth.json .terraformrc .condarc .curlrc .wgetrc
	`)
	gitFiles = strings.Fields(".git/* .git/logs/* .git/worktrees/*/*")
)

// addresses matches an address with a password, or with a name as long as a token.
var addresses = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[a-z][a-z0-9+.-]*://(?:[^/\s:@"]*:[^/\s@"$]+|[^/\s:@"$]{20,})@`)
})

// settings matches a setting whose value is a token. One that is taken from a
// variable is none.
var settings = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^[^#;\n]*(?:(?:extraheader|token|(?:^|[^k\n])pass|passwd|password|passphrase|_auth|secret|api_?key|oauth)["']?` +
		`(?:\s+value)?\s*[=:>]\s*["']?[^\s$"'<>{]{2,}|user\s*[= ]\s*"?[^\s:"]+:[^\s"$]+)`)
})

// HasToken reports whether a file of settings, told by its name, holds a token or a
// password, or cannot be looked at. Any other file, and one that is not there, has none.
func HasToken(path string) bool {
	switch {
	case matches(configurations, path):
		return holds(path, func(text []byte) bool { return addresses().Match(text) || settings().Match(text) })
	case matches(gitFiles, path):
		return holds(path, addresses().Match)
	}
	return false
}

// HasAddress reports whether a file has an address with a password in it, or is too
// large to tell. One that is not there has none.
func HasAddress(path string) bool { return holds(path, addresses().Match) }

func holds(path string, token func([]byte) bool) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Size() > maxConfiguration {
		return true
	}
	text, err := os.ReadFile(path)
	return err != nil || token(text)
}
