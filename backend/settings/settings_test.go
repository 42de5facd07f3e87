package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
)

const layered = `{
	"zeta": 1.50,  "hooks": {
		"Stop": [{"hooks": [{"command": "a"}, {"command": "b"}]}],
		"PreToolUse": []
	},
	"alpha": {"b": 1,   "a": 2}
}
`

// An edit changes the value that it names, and leaves every other byte.
func TestSet(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		text     string
		path     []any
		value    string // "" removes
		old, new string // the only difference
	}{
		{"replace", layered, []any{"hooks", "Stop", 0, "hooks", 1, "command"}, `"c"`, `"b"`, `"c"`},
		{"replace with an object", layered, []any{"alpha"}, `{"c":[1]}`, `{"b": 1,   "a": 2}`, "{\n\t\t\"c\": [\n\t\t\t1\n\t\t]\n\t}"},
		{"append to a list", layered, []any{"hooks", "Stop", 1}, `"x"`, `}]}],`, "}]},\n\t\t\t\"x\"],"},
		{"fill an empty list", layered, []any{"hooks", "PreToolUse", 0}, `{"a":1}`, `[]`, "[\n\t\t\t{\n\t\t\t\t\"a\": 1\n\t\t\t}\n\t\t]"},
		{"add a member", layered, []any{"hooks", "Setup", 0}, `1`, `[]`, "[],\n\t\t\"Setup\": [\n\t\t\t1\n\t\t]"},
		{"remove the first element", layered, []any{"hooks", "Stop", 0, "hooks", 0}, "", `{"command": "a"}, `, ``},
		{"remove the last element", layered, []any{"hooks", "Stop", 0, "hooks", 1}, "", `, {"command": "b"}`, ``},
		{"remove the only element", layered, []any{"hooks", "Stop", 0}, "", `{"hooks": [{"command": "a"}, {"command": "b"}]}`, ``},
		{"remove the first member", layered, []any{"zeta"}, "", `"zeta": 1.50,  `, ``},
		{"remove a member", layered, []any{"alpha", "a"}, "", `,   "a": 2`, ``},
		{"remove what is missing", layered, []any{"hooks", "Setup"}, "", ``, ``},
		{"keep the ends of lines", "{\r\n  \"a\": 1\r\n}\r\n", []any{"b"}, `[2]`, `1`, "1,\r\n  \"b\": [\r\n    2\r\n  ]"},
		{"begin a file", "", []any{"hooks", "Stop", 0}, `1`, ``, "{\n  \"hooks\": {\n    \"Stop\": [\n      1\n    ]\n  }\n}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var value []byte
			if tc.value != "" {
				value = []byte(tc.value)
			}
			got, err := Set([]byte(tc.text), value, tc.path...)
			if err != nil {
				t.Fatal(err)
			}
			want := tc.new
			if tc.text != "" {
				want = strings.Replace(tc.text, tc.old, tc.new, 1)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A path that leads nowhere, or a value that is not JSON, changes nothing.
func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, value string
		path        []any
	}{
		{`{"a": 1}`, `1`, []any{"a", "b"}},
		{`{"a": [1]}`, `1`, []any{"a", 2}},
		{`{"a": [1]}`, `1`, []any{"a", -1}},
		{`{"a": {}}`, `1`, []any{"a", 0}},
		{`{"a": 1, "a": 2}`, `1`, []any{"b"}},
		{`{"a": 1`, `1`, []any{"b"}},
		{`{}`, `{`, []any{"b"}},
		{`{}`, `1, "c": 2`, []any{"b"}},
		{`{}`, `1`, nil},
		{`[]`, `1`, []any{"b"}},
		{`{}`, `1`, []any{1.5}},
	} {
		if got, err := Set([]byte(tc.text), []byte(tc.value), tc.path...); err == nil {
			t.Errorf("%s %v: %s", tc.text, tc.path, got)
		}
	}
}

// FuzzSet finds no text that an edit turns into something else than JSON with the
// value in its place.
func FuzzSet(f *testing.F) {
	f.Add(`{"a": [1, {"b": 2}], "c": "]}"}`, "c", 1)
	f.Add("{\n\t\"a\" : [ 1 , 2 ]\n}", "a", 0)
	f.Add("", "a", 0)
	f.Fuzz(func(t *testing.T, text, name string, index int) {
		if !utf8.ValidString(name) {
			return // no file has such a name: reading one replaces what is not valid
		}
		for _, path := range [][]any{{name}, {name, index}} {
			got, err := Set([]byte(text), []byte(`"new"`), path...)
			if err != nil {
				continue
			}
			again, err := Set(got, []byte(`"new"`), path...)
			if err != nil || !cmp.Equal(got, again) {
				t.Errorf("%q %q: %v", got, again, err)
			}
			gone, err := Set(got, nil, path...)
			if parsed := Parse(gone); err != nil || parsed.Err != nil {
				t.Errorf("%q: %v, %v", gone, err, parsed.Err)
			}
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func folders(t *testing.T) (project, user string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, user = filepath.Join(base, "project"), filepath.Join(base, "user")
	for _, dir := range []string{project, user} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return project, user
}

// COM-70: the files of all scopes, the weakest first. Those of a project that is the
// user's home folder are the user's.
func TestFiles(t *testing.T) {
	t.Parallel()
	project, user := folders(t)
	var got []string
	for _, f := range NewReader(project, user).Files() {
		rel, err := filepath.Rel(filepath.Dir(project), f.Path())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(f.Scope)+" "+filepath.ToSlash(rel))
	}
	want := []string{
		"user user/.agent/settings.json", "user user/.claude/settings.json", "project project/.agent/settings.json",
		"project project/.claude/settings.json", "local project/.agent/local-settings.json", "local project/.agent/settings.local.json",
		"local project/.claude/settings.local.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(NewReader(user, user).Files()); n != 2 {
		t.Errorf("%d files", n)
	}
	if n := len(NewReader(project, "").Files()); n != 5 {
		t.Errorf("%d files", n)
	}
}

// A file is read again when it has changed, and says at which line it is wrong.
func TestRead(t *testing.T) {
	t.Parallel()
	project, user := folders(t)
	r := NewReader(project, user)
	f := r.Files()[2]
	if got := r.Read(f); got.There || got.Err != nil {
		t.Errorf("%+v", got)
	}
	write(t, f.Path(), "{\n  \"hooks\":\n  {\"a\": 1}\n}")
	first := r.Read(f)
	m, ok := first.Member("hooks")
	if !ok || string(m.Raw) != `{"a": 1}` || first.Line(m.At) != 3 {
		t.Errorf("%+v", m)
	}
	write(t, f.Path(), "{\n  \"hooks\":\n  {\"b\": 1}\n}")
	if m, _ := r.Read(f).Member("hooks"); string(m.Raw) != `{"b": 1}` {
		t.Errorf("%s", m.Raw)
	}
	write(t, f.Path(), "{\n  \"hooks\": 1,\n  \"hooks\": 2}")
	var syntax *SyntaxError
	if err := r.Read(f).Err; !errors.As(err, &syntax) || syntax.Line != 3 {
		t.Errorf("%v", err)
	}
	if err := f.Edit(func([]byte) ([]byte, error) { return []byte("{}"), nil }); err == nil {
		t.Error("a file that cannot be read was replaced")
	}
}

// All files together say what each says by itself, whatever of their folders is there.
func TestReadAll(t *testing.T) {
	t.Parallel()
	project, user := folders(t)
	r := NewReader(project, user)
	files := r.Files()
	steps := []func(){
		func() {},
		func() { write(t, files[4].Path(), `{"a": 1}`) },
		func() { write(t, files[2].Path(), `{"b": 1}`) },
		func() { write(t, files[2].Path(), `{"b": 2}`) },
		func() { write(t, files[0].Path(), `{"c": 1}`) },
		func() {
			if err := os.RemoveAll(filepath.Dir(files[2].Path())); err != nil {
				t.Fatal(err)
			}
		},
		func() {},
		func() { write(t, files[6].Path(), `{"d": 1}`) },
	}
	for i, step := range steps {
		step()
		for range 2 {
			for j, got := range r.ReadAll() {
				want := NewReader(project, user).Read(files[j])
				if got.There != want.There || string(got.Bytes()) != string(want.Bytes()) || got.Err != nil {
					t.Errorf("step %d: %s is there: %v, %q; want %v, %q", i, files[j].Name, got.There, got.Bytes(), want.There, want.Bytes())
				}
			}
		}
	}
}

// Folders without settings cost one question each, however many files they may have.
func TestAbsentFoldersAreAskedForOnce(t *testing.T) {
	project, user := folders(t)
	r := NewReader(project, user)
	r.ReadAll()
	one := testing.AllocsPerRun(20, func() { _, _ = os.Lstat(filepath.Join(project, ".agent")) })
	all := testing.AllocsPerRun(20, func() { r.ReadAll() })
	// Two slices, the path of each file, and four folders.
	if limit := 2 + float64(len(r.Files())) + 4*one; all > limit {
		t.Errorf("%.0f allocations, want at most %.0f", all, limit)
	}
}

// A file outside the folder, or one that is too long, is not read.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	project, user := folders(t)
	elsewhere := filepath.Join(user, "x.json")
	write(t, elsewhere, `{}`)
	r := NewReader(project, user)
	files := r.Files()[2:]
	if err := os.MkdirAll(files[0].Path(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(files[1].Path()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, files[1].Path()); err != nil {
		t.Fatal(err)
	}
	write(t, files[2].Path(), `{"a": "`+strings.Repeat("x", MaxFile)+`"}`)
	for _, f := range files[:3] {
		if got := r.Read(f); !got.There || got.Err == nil || len(got.Members) > 0 {
			t.Errorf("%s: %+v", f.Path(), got)
		}
		if err := f.Edit(func(b []byte) ([]byte, error) { return Set(b, []byte("1"), "a") }); err == nil {
			t.Errorf("%s was edited", f.Path())
		}
	}
}

// An edit keeps the file's mode, and begins again if another program wrote it
// meanwhile.
func TestEdit(t *testing.T) {
	t.Parallel()
	project, user := folders(t)
	for _, f := range NewReader(project, user).Files() {
		times := 0
		err := f.Edit(func(b []byte) ([]byte, error) {
			if times++; times == 1 {
				write(t, f.Path(), `{"other": 1}`)
				if err := os.Chmod(f.Path(), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			return Set(b, []byte("2"), "mine")
		})
		if err != nil || times != 2 {
			t.Fatalf("%v after %d attempts", err, times)
		}
		b, err := os.ReadFile(f.Path())
		if want := "{\n  \"other\": 1,\n  \"mine\": 2\n}\n"; err != nil || string(b) != want {
			t.Errorf("%q, %v", b, err)
		}
		if info, err := os.Stat(f.Path()); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if err := f.Edit(func(b []byte) ([]byte, error) { return make([]byte, MaxFile+1), nil }); err == nil {
			t.Error("a file became too long")
		}
	}
}

// A new file that a repository shares can be read by everybody, others by the user.
func TestModeOfNewFiles(t *testing.T) {
	t.Parallel()
	project, user := folders(t)
	for _, f := range NewReader(project, user).Files() {
		if err := f.Edit(func(b []byte) ([]byte, error) { return Set(b, []byte("1"), "a") }); err != nil {
			t.Fatal(err)
		}
		want := os.FileMode(0o600)
		if f.Scope == agent.ScopeProject {
			want = 0o644
		}
		if info, err := os.Stat(f.Path()); err != nil || info.Mode().Perm()&^want != 0 {
			t.Errorf("%s: %v, %v", f.Path(), info.Mode(), err)
		}
	}
}
