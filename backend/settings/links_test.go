package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"atelier.dev/atelier/backend"
)

// K-52: the user's own settings may be links to anywhere, and a project's to files of
// the project. They are read and written through the link, which stays. What is refused
// names where the link leads.
func TestLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file   int    // in the order of Files: 0 is the user's, 2 the project's
		link   string // what becomes a link, and below it where it leads: ~ is the user's folder, P the project, E elsewhere
		leads  string
		target string // the file that is read and written
		fails  backend.ProblemID
	}{
		"absolute, in the home folder":     {0, "~/.agent/settings.json", "~/dotfiles/agent.json", "~/dotfiles/agent.json", ""},
		"out of the home folder":           {0, "~/.agent/settings.json", "E/nix/agent.json", "E/nix/agent.json", ""},
		"relative, as stow makes them":     {0, "~/.agent/settings.json", "../dotfiles/agent.json", "~/dotfiles/agent.json", ""},
		"the folder is the link":           {0, "~/.agent", "E/dot/agent", "E/dot/agent/settings.json", ""},
		"of Claude Code":                   {1, "~/.claude", "E/claude", "E/claude/settings.json", ""},
		"a link to a link":                 {0, "~/.agent/settings.json", "E/first", "E/second.json", ""},
		"of the project, inside":           {2, "P/.agent/settings.json", "../config/agent.json", "P/config/agent.json", ""},
		"of the project, absolute":         {4, "P/.agent/local-settings.json", "P/config/agent.json", "P/config/agent.json", ""},
		"the project's folder, inside":     {2, "P/.agent", "config", "P/config/settings.json", ""},
		"of the project, out of it":        {2, "P/.agent/settings.json", "E/agent.json", "E/agent.json", backend.ProblemLinkOutside},
		"of the project, to the user's":    {3, "P/.claude/settings.json", "~/.claude/settings.json", "~/.claude/settings.json", backend.ProblemLinkOutside},
		"the project's folder, out of it":  {2, "P/.agent", "E/agent", "E/agent/settings.json", backend.ProblemLinkOutside},
		"to what does not exist":           {0, "~/.agent/settings.json", "E/gone/agent.json", "", backend.ProblemLinkNowhere},
		"of the project, to what does not": {2, "P/.agent/settings.json", "gone.json", "", backend.ProblemLinkNowhere},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, user := folders(t)
			elsewhere, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			at := strings.NewReplacer("~", user, "P/", project+"/", "E/", elsewhere+"/").Replace
			if c.target != "" {
				write(t, at(c.target), `{"a":1}`)
			}
			if c.leads == "E/first" {
				if err := os.Symlink(at("E/second.json"), at("E/first")); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Dir(at(c.link)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(at(c.leads), at(c.link)); err != nil {
				t.Fatal(err)
			}
			r := NewReader(project, user)
			f := r.Files()[c.file]
			got := r.Read(f)
			err = f.Edit(func(b []byte) ([]byte, error) { return Set(b, []byte("2"), "b") })
			if c.fails != "" {
				for _, err := range []error{got.Err, err} {
					var told *backend.Error
					if !errors.As(err, &told) || told.ID != c.fails || !strings.Contains(told.Message, filepath.Base(at(c.leads))) {
						t.Errorf("%v", err)
					}
				}
				return
			}
			if _, ok := got.Member("a"); !ok || got.Err != nil || err != nil {
				t.Fatalf("%+v, then %v", got, err)
			}
			if b, err := os.ReadFile(at(c.target)); err != nil || !strings.Contains(string(b), `"b": 2`) {
				t.Errorf("%q, %v", b, err)
			}
			if info, err := os.Lstat(at(c.link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link is gone: %v, %v", info, err)
			}
			if _, ok := r.Read(f).Member("b"); !ok {
				t.Error("the change is not read")
			}
		})
	}
}

// A byte order mark, which editors of Windows write, is not read and stays in the file.
func TestMark(t *testing.T) {
	t.Parallel()
	const mark = "\ufeff"
	for text, want := range map[string]string{
		mark + "{\n  \"a\": 1\n}\n":       mark + "{\n  \"a\": 1,\n  \"b\": 2\n}\n",
		mark + "{\"a\":1}":                mark + "{\"a\":1,\n  \"b\": 2}",
		mark + "// c\n{\n\t\"a\": 1,\n}":  mark + "// c\n{\n\t\"a\": 1,\n\t\"b\": 2,\n}",
		mark:                              mark + "{\n  \"b\": 2\n}",
		mark + " \r\n":                    mark + "{\n  \"b\": 2\n}",
		mark + "{\r\n  \"a\": 1\r\n}\r\n": mark + "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n",
	} {
		parsed := Parse([]byte(text))
		if parsed.Err != nil || len(parsed.Members) != strings.Count(text, `"a"`) {
			t.Errorf("%q: %+v", text, parsed)
		}
		if m, ok := parsed.Member("a"); ok && text[m.At:m.At+1] != "1" {
			t.Errorf("%q: its member stands at %d", text, m.At)
		}
		got, err := Set([]byte(text), []byte("2"), "b")
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if again := Parse(got); again.Err != nil {
			t.Errorf("%q: %v", got, again.Err)
		}
	}
}

// B5, K-48: PowerShell writes UTF-16. It is read, and a change makes it UTF-8 with a mark;
// what is no such text is refused and stays.
func TestUTF16(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order unicode.Endianness
		text  string
		fails bool
	}{
		"little endian":  {unicode.LittleEndian, "{\r\n  \"a\": \"ü\"\r\n}\r\n", false},
		"big endian":     {unicode.BigEndian, "{\n  \"a\": \"ü\"\n}\n", false},
		"comments":       {unicode.LittleEndian, "// ü\n{\n  \"a\": \"ü\",\n}\n", false},
		"beyond 16 bits": {unicode.BigEndian, "{\n  \"😀\": 0,\n  \"a\": \"ü\"\n}\n", false},
		"no JSON":        {unicode.LittleEndian, "a = ü", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project, user := folders(t)
			r := NewReader(project, user)
			f := r.Files()[0]
			b, err := unicode.UTF16(c.order, unicode.UseBOM).NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(err)
			}
			write(t, f.Path(), b)
			got := r.Read(f)
			err = f.Edit(func(b []byte) ([]byte, error) { return Set(b, []byte("2"), "b") })
			after, readErr := os.ReadFile(f.Path())
			if c.fails {
				if got.Err == nil || err == nil || string(after) != b {
					t.Errorf("%v, then %v: %q", got.Err, err, after)
				}
				return
			}
			m, ok := got.Member("a")
			if !ok || string(m.Raw) != `"ü"` || err != nil || readErr != nil {
				t.Fatalf("%+v, then %v, %v", got, err, readErr)
			}
			if !strings.HasPrefix(string(after), "\ufeff") || !strings.Contains(string(after), `"b": 2`) || !strings.Contains(string(after), `"ü"`) {
				t.Errorf("%q", after)
			}
		})
	}
}
