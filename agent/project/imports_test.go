package project

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// claude are the names that Claude's models are shown.
var claude = []string{"AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/rules/"}

// brief writes documents as lines of "path: text" or "path! problem".
func brief(documents []Document) []string {
	out := []string{}
	for _, d := range documents {
		if d.Problem != "" {
			out = append(out, d.Path+"! "+string(d.Problem))
		} else {
			out = append(out, d.Path+": "+strings.TrimSpace(d.Text))
		}
	}
	return out
}

func same(t *testing.T, name string, documents []Document, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), brief(documents)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// What a document imports with "@path" is read, relative to the importing file,
// and comes before it. Words that only look alike stay words; what cannot be read
// is said once.
func TestImports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"beside":           {map[string]string{"CLAUDE.md": "See @docs/a.md for more.", "docs/a.md": "A"}, []string{"docs/a.md: A", "CLAUDE.md: See @docs/a.md for more."}},
		"of the importer":  {map[string]string{"CLAUDE.md": "@docs/a.md", "docs/a.md": "@b.md", "docs/b.md": "B", "b.md": "wrong"}, []string{"docs/b.md: B", "docs/a.md: @b.md", "CLAUDE.md: @docs/a.md"}},
		"up":               {map[string]string{"CLAUDE.md": "x", "AGENTS.md": "@./docs/a.md", "docs/a.md": "@../b.txt", "b.txt": "B"}, []string{"b.txt: B", "docs/a.md: @../b.txt", "AGENTS.md: @./docs/a.md", "CLAUDE.md: x"}},
		"a full stop":      {map[string]string{"CLAUDE.md": "Read (@a.md), then @b.md.", "a.md": "A", "b.md": "B"}, []string{"a.md: A", "b.md: B", "CLAUDE.md: Read (@a.md), then @b.md."}},
		"no ending":        {map[string]string{"CLAUDE.md": "- @Makefile", "Makefile": "all:"}, []string{"Makefile: all:", "CLAUDE.md: - @Makefile"}},
		"a blank":          {map[string]string{"CLAUDE.md": `@my\ notes.md`, "my notes.md": "N"}, []string{"my notes.md: N", `CLAUDE.md: @my\ notes.md`}},
		"emphasis":         {map[string]string{"CLAUDE.md": "**@a_b_c.md**", "a_b_c.md": "A"}, []string{"a_b_c.md: A", "CLAUDE.md: **@a_b_c.md**"}},
		"a quotation":      {map[string]string{"CLAUDE.md": "> see\n> @a.md\n", "a.md": "A"}, []string{"a.md: A", "CLAUDE.md: > see\n> @a.md"}},
		"code":             {map[string]string{"CLAUDE.md": "`@a.md` ``x @a.md``\n```\n@a.md\n```\n\n    @a.md\n<!-- @a.md -->\n\n- x\n  ~~~\n  @a.md\n  ~~~", "a.md": "A"}, []string{"CLAUDE.md: `@a.md` ``x @a.md``\n```\n@a.md\n```\n\n    @a.md\n<!-- @a.md -->\n\n- x\n  ~~~\n  @a.md\n  ~~~"}},
		"words":            {map[string]string{"CLAUDE.md": "me@a.md @Injectable() @org/package @docs @alice", "a.md": "A", "docs/x": "x"}, []string{"CLAUDE.md: me@a.md @Injectable() @org/package @docs @alice"}},
		"missing, once":    {map[string]string{"CLAUDE.md": "@gone.md and (@gone.md).", "AGENTS.md": "@./gone.md"}, []string{"gone.md! missing", "AGENTS.md: @./gone.md", "CLAUDE.md: @gone.md and (@gone.md)."}},
		"a cycle":          {map[string]string{"CLAUDE.md": "@a.md", "a.md": "@b.md", "b.md": "@a.md @CLAUDE.md"}, []string{"b.md: @a.md @CLAUDE.md", "a.md: @b.md", "CLAUDE.md: @a.md"}},
		"one file twice":   {map[string]string{"CLAUDE.md": "@AGENTS.md", "AGENTS.md": "A"}, []string{"AGENTS.md: A", "CLAUDE.md: @AGENTS.md"}},
		"outside":          {map[string]string{"CLAUDE.md": "@../x.md @/etc/passwd @~/x.md"}, []string{"../x.md! unopened", "/etc/passwd! unopened", filepath.ToSlash(filepath.Join(userHome(t), "x.md")) + "! unopened", "CLAUDE.md: @../x.md @/etc/passwd @~/x.md"}},
		"secrets":          {map[string]string{"CLAUDE.md": "@.env @id_rsa", ".env": "KEY=1", "id_rsa": "k"}, []string{".env! secret", "id_rsa! secret", "CLAUDE.md: @.env @id_rsa"}},
		"no text":          {map[string]string{"CLAUDE.md": "@logo.png", "logo.png": "\x89PNG\x00"}, []string{"logo.png! binary", "CLAUDE.md: @logo.png"}},
		"a folder":         {map[string]string{"CLAUDE.md": "@./docs", "docs/x": ""}, []string{"docs! irregular", "CLAUDE.md: @./docs"}},
		"the same text":    {map[string]string{"AGENTS.md": "Two spaces.\n", "CLAUDE.md": "Two spaces."}, []string{"CLAUDE.md: Two spaces."}},
		"five deep":        {map[string]string{"CLAUDE.md": "@1.md", "1.md": "@2.md", "2.md": "@3.md", "3.md": "@4.md", "4.md": "@5.md", "5.md": "@6.md @word", "6.md": "six"}, []string{"6.md! imports", "5.md: @6.md @word", "4.md: @5.md", "3.md: @4.md", "2.md: @3.md", "1.md: @2.md", "CLAUDE.md: @1.md"}},
		"Claude's others":  {map[string]string{".claude/CLAUDE.md": "c", "CLAUDE.local.md": "l", ".claude/x.md": "not read"}, []string{".claude/CLAUDE.md: c", "CLAUDE.local.md: l"}},
		"from .claude":     {map[string]string{".claude/CLAUDE.md": "@x.md @../y.md", ".claude/x.md": "X", "y.md": "Y"}, []string{".claude/x.md: X", "y.md: Y", ".claude/CLAUDE.md: @x.md @../y.md"}},
		"line ends":        {map[string]string{"CLAUDE.md": "# Rules\r\n@a.md\r\n@b.md\r\n", "a.md": "A", "b.md": "B"}, []string{"a.md: A", "b.md: B", "CLAUDE.md: # Rules\r\n@a.md\r\n@b.md"}},
		"names like paths": {map[string]string{"CLAUDE.md": "@" + strings.Repeat("long", 100) + ".md"}, []string{strings.Repeat("long", 100) + ".md! missing", "CLAUDE.md: @" + strings.Repeat("long", 100) + ".md"}},
	} {
		dir := folder(t, c.files)
		same(t, name, Query{Folder: dir, Names: claude}.Documents(), c.want...)
	}
}

func userHome(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// However many names a document has after "@", only some are looked for.
func TestImportsAreLimited(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	files := map[string]string{}
	for i := range maxImports + 3 {
		fmt.Fprintf(&many, "@%d.md\n", i)
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("text %d", i)
	}
	files["CLAUDE.md"] = many.String()
	got := Query{Folder: folder(t, files), Names: claude}.Documents()
	if len(got) != maxImports+4 || got[maxImports-1].Problem != "" || got[maxImports].Problem != ProblemImports {
		t.Errorf("%d documents, %v", len(got), brief(got)[min(len(got), maxImports)-1:])
	}
}

// K-52: the user's own document may be a link to anywhere, and imports what lies in
// the user's home folder, beside the document or beside what the link leads to.
func TestUserImports(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	put(t, home, "dotfiles/agents.md", "@more.md @~/notes/n.md @/etc/passwd @~/.ssh/id_ed25519 @./gone.md")
	put(t, home, "dotfiles/more.md", "more")
	put(t, home, "notes/n.md", "note")
	put(t, home, ".ssh/id_ed25519", "key")
	own := t.TempDir()
	if err := os.Symlink(filepath.Join(home, "dotfiles/agents.md"), filepath.Join(own, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	same(t, "user", User(own), filepath.Join(home, "dotfiles/more.md")+": more", filepath.Join(home, "notes/n.md")+": note", "/etc/passwd! unopened",
		filepath.Join(home, ".ssh/id_ed25519")+"! secret", filepath.Join(home, "dotfiles/gone.md")+"! missing",
		filepath.Join(own, "AGENTS.md")+": @more.md @~/notes/n.md @/etc/passwd @~/.ssh/id_ed25519 @./gone.md")
}

// Rules without "paths" are told at once; those with it when the agent works on a
// file that matches, and again once they were told.
func TestRules(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		".claude/rules/a.md":            "always",
		".claude/rules/web/deep/b.md":   "---\ndescription: x\n---\nno paths",
		".claude/rules/go.md":           "---\npaths: **/*.go\n---\ngo",
		".claude/rules/list.md":         "---\npaths:\n  - \"src/**/*.{ts,tsx}\"\n  - docs/*.md\n---\nlist",
		".claude/rules/commas.md":       "---\npaths: lib/**/*.py, {a,b}/*.rb\n---\ncommas",
		".claude/rules/inline.md":       "\ufeff---\r\npaths: [ \"*.sql\" ]\r\n---\r\ninline",
		".claude/rules/broken.md":       "---\npaths: [\n---\nbroken",
		".claude/rules/not.txt":         "not a rule",
		"src/.claude/rules/relative.md": "---\npaths: ui/*.css\n---\nrelative",
		"src/.claude/rules/below.md":    "below",
	})
	q := Query{Folder: dir, Names: claude}
	same(t, "at once", q.Documents(), ".claude/rules/a.md: always", ".claude/rules/broken.md: broken", ".claude/rules/web/deep/b.md: no paths")
	for path, want := range map[string][]string{
		"main.go": {".claude/rules/go.md: go"}, "x/y/z.go": {".claude/rules/go.md: go"}, "x/y/z.txt": {},
		"src/app/a.tsx": {".claude/rules/list.md: list", "src/.claude/rules/below.md: below"}, "docs/a.md": {".claude/rules/list.md: list"}, "docs/x/a.md": {},
		"lib/a.py": {".claude/rules/commas.md: commas"}, "b/x.rb": {".claude/rules/commas.md: commas"}, "c/x.rb": {},
		"q.sql": {".claude/rules/inline.md: inline"}, "sub/q.sql": {},
		"src/ui/a.css": {"src/.claude/rules/below.md: below", "src/.claude/rules/relative.md: relative"}, "ui/a.css": {},
		"../main.go": {},
	} {
		same(t, path, q.Below(filepath.Join(dir, path)), want...)
	}
	q.Told = func(path string) bool { return path == ".claude/rules/go.md" }
	same(t, "told", q.Documents(), ".claude/rules/a.md: always", ".claude/rules/broken.md: broken", ".claude/rules/go.md: go", ".claude/rules/web/deep/b.md: no paths")
}

// A6, A26, K-48: a byte order mark is no part of a document, and decides its encoding. Without one
// a document is decoded as file tools do.
func TestDocumentsInTheirEncoding(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"UTF-8": "\xef\xbb\xbfgrün", "UTF-16LE": "\xff\xfeg\x00r\x00\xfc\x00n\x00", "UTF-16BE": "\xfe\xff\x00g\x00r\x00\xfc\x00n",
	} {
		dir := folder(t, map[string]string{"AGENTS.md": text})
		if diff := cmp.Diff([]Document{{Path: "AGENTS.md", Text: "grün", Size: 5, Told: 5}}, Query{Folder: dir, Names: both}.Documents()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	encoded := func(enc encoding.Encoding, text string) string {
		out, err := enc.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const chinese = "# 项目说明\n\n请使用中文回答。修改代码之前先运行测试。\n"
	many := strings.Repeat("规则：先运行测试，然后再提交代码。", 2000)
	for name, tt := range map[string]struct{ text, want string }{
		"GBK":                         {encoded(simplifiedchinese.GBK, chinese), chinese},
		"GB18030":                     {encoded(simplifiedchinese.GB18030, chinese), chinese},
		"Latin-1":                     {"Les r\xe8gles du projet, \xe0 respecter.\n", "Les règles du projet, à respecter.\n"},
		"UTF-32":                      {"\xff\xfe\x00\x00g\x00\x00\x00\xfc\x00\x00\x00", "gü"},
		"UTF-8":                       {chinese, chinese},
		"GBK, cut":                    {encoded(simplifiedchinese.GBK, "a"+many), ("a" + many)[:MaxDocuments-1]},
		"cut in a character of UTF-8": {"x" + many, ("x" + many)[:MaxDocuments-1]},
	} {
		got := Query{Folder: folder(t, map[string]string{"AGENTS.md": tt.text}), Names: both}.Documents()
		if len(got) != 1 || got[0].Problem != "" || got[0].Text != strings.ToValidUTF8(tt.want, "") {
			t.Errorf("%s: %.300s", name, strings.Join(brief(got), "|"))
		}
	}
	long := "\xff\xfe" + strings.Repeat("x\x00", MaxDocuments+10)
	got := Query{Folder: folder(t, map[string]string{"AGENTS.md": long}), Names: both}.Documents()
	if len(got) != 1 || got[0].Told != MaxDocuments || got[0].Size <= got[0].Told {
		t.Errorf("%d of %d", got[0].Told, got[0].Size)
	}
}
