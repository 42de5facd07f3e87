package confine

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The rules for macOS are compared with files. They have not been tried on a Mac
// by these tests, which run on other systems too.
func TestSeatbeltRules(t *testing.T) {
	t.Parallel()
	home := Profile{
		Writable: []string{"/Users/u/project", "/Users/u/Library/Caches/atelier"},
		Protected: []string{
			"/Users/u/project/.git", "/Users/u/project/.agent", "/Users/u/project/sub/dir/.envrc",
		},
		Hidden:   []string{"/Users/u/.ssh", "/Users/u/project/private", "/Users/u/Library"},
		Readable: []string{"/Users/u/Library/Fonts"},
		Temp:     "/private/var/folders/ab/T/atelier-1",
	}
	proxied, open := home, home
	proxied.Network = NetworkProxy
	open.Network, open.LocalBinding, open.Sockets = NetworkFull, true, SocketsAll
	for name, row := range map[string]struct {
		profile Profile
		seat    Seat
	}{
		"nothing":   {Profile{}, Seat{}},
		"project":   {home, Seat{}},
		"proxied":   {proxied, Seat{Port: 50123, Terminal: true}},
		"open":      {open, Seat{}},
		"quoted":    {Profile{Writable: []string{`/Users/u/a "b" \c`}, Protected: []string{`/Users/u/a "b" \c/(x).[y]*`}}, Seat{}},
		"listening": {Profile{LocalBinding: true}, Seat{}},
		"resolving": {Profile{Network: NetworkFull}, Seat{}},
	} {
		got, err := SeatbeltRules(row.profile, row.seat)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "seatbelt", name+".sb")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if open, closed := strings.Count(got, "("), strings.Count(got, ")"); name != "quoted" && open != closed {
			t.Errorf("%s: %d opening and %d closing parentheses", name, open, closed)
		}
	}
}

func TestSeatbeltRefusesControlCharacters(t *testing.T) {
	t.Parallel()
	for _, p := range []Profile{{Writable: []string{"/a\n(allow default)"}}, {Hidden: []string{"/a\x00"}}, {Temp: "/\x7f"}, {Protected: []string{"/\xff"}}} {
		if got, err := SeatbeltRules(p, Seat{}); err == nil {
			t.Errorf("%+v:\n%s", p, got)
		}
	}
}

// A denied path is denied in every spelling that the file system takes for the
// same, and no other path is.
func TestDeniedPathsMatchInAnyCase(t *testing.T) {
	t.Parallel()
	unquote := strings.NewReplacer(`\\`, `\`, `\"`, `"`)
	for _, name := range []string{"/Users/u/project/.git", "/a+b(c)/[d].{e}^$|*?", `/with \ and "`, "/päth/.Env"} {
		rule := anyCase(name)
		pattern := regexp.MustCompile(unquote.Replace(rule[len(`(regex "`) : len(rule)-len(`")`)]))
		for _, spelled := range []string{name, upper(name), name + "/hooks", strings.ToLower(name)} {
			if !pattern.MatchString(spelled) {
				t.Errorf("%s does not match %s", rule, spelled)
			}
		}
		for _, other := range []string{name + "x", "/x" + name, name[:len(name)-1], strings.Replace(name, ".", "x", 1)} {
			if other != name && pattern.MatchString(other) {
				t.Errorf("%s matches %s", rule, other)
			}
		}
	}
}

// upper returns a text with its ASCII letters in upper case.
func upper(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			c += 'A' - 'a'
		}
		return c
	}, text)
}
