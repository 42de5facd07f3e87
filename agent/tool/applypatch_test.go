package tool

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// newPatchBench is a bench with ApplyPatch.
func newPatchBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := newBench(t, files)
	local, err := env.NewLocal(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range Builtin(local, Options{ApplyPatch: true}) {
		b.tools[tool.Spec().Name] = tool
	}
	return b
}

// patch returns the input for a patch with the given lines between its markers.
func patch(lines ...string) args {
	return args{"input": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

// files returns the contents of a folder by path.
func (b *bench) files() map[string]string {
	b.t.Helper()
	found := map[string]string{}
	for _, name := range strings.Fields(b.succeed("Glob", args{"pattern": "**"}).Output) {
		if info, err := os.Stat(b.path(name)); err == nil && info.Mode().IsRegular() {
			found[name] = b.content(name)
		}
	}
	return found
}

func TestApplyPatch(t *testing.T) { // LOOP-29, LOOP-50, LOOP-51, LOOP-109, LOOP-175
	t.Parallel()
	before := map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n", "old.txt": "x\ny\n"}
	b := newPatchBench(t, before)
	in := patch("*** Update File: a.txt", "@@ one", "-two  ", "+2", " three",
		"*** Update File: b.txt", "*** Move to: sub/b.txt", "*** Add File: new/c.txt", "+c", "*** Delete File: "+b.path("old.txt"))
	tool := b.tools["ApplyPatch"]

	var writes []string
	for _, name := range []string{"a.txt", "b.txt", "sub/b.txt", "new/c.txt", "old.txt"} {
		writes = append(writes, b.path(name))
	}
	if diff := cmp.Diff(agent.Access{Writes: writes}, tool.(agent.Accessor).Access(t.Context(), in.json(t))); diff != "" {
		t.Errorf("access (-want +got):\n%s", diff)
	}
	want := []agent.FileChange{
		{Path: "a.txt", Added: 1, Removed: 1, Diff: "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"},
		{Path: "b.txt", MovedTo: "sub/b.txt"},
		{Path: "new/c.txt", Created: true, Added: 1, Diff: "@@ -0,0 +1 @@\n+c\n"},
		{Path: "old.txt", Deleted: true, Removed: 2, Diff: "@@ -1,2 +0,0 @@\n-x\n-y\n"},
	}
	preview, err := tool.(agent.Previewer).Preview(t.Context(), in.json(t))
	if diff := cmp.Diff(want, preview); diff != "" || err != nil {
		t.Errorf("preview (-want +got):\n%s%v", diff, err)
	}
	if diff := cmp.Diff(before, b.files()); diff != "" {
		t.Errorf("the preview changed files:\n%s", diff)
	}

	r := b.succeed("ApplyPatch", in)
	if diff := cmp.Diff(want, r.Details.Changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("Success. Updated the following files:\nA new/c.txt\nM a.txt (matched with spaces at line ends ignored)\nM sub/b.txt\nD "+b.path("old.txt")+"\n", r.Output); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"a.txt": "one\n2\nthree\n", "sub/b.txt": "b\n", "new/c.txt": "c\n"}, b.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestAPatchThatDoesNotFitChangesNothing(t *testing.T) { // LOOP-51, K-39
	t.Parallel()
	outside := newBench(t, map[string]string{"secret": "s\n"})
	before := map[string]string{"a": "one\n", "twin": "t\n", "twin2": "t\n", "target": "l\n", "locked": "k\n", "dir/f": "d\n"}
	b := newPatchBench(t, before)
	for _, err := range []error{
		os.Remove(b.path("twin2")), os.Link(b.path("twin"), b.path("twin2")), os.Symlink("target", b.path("link")),
		os.Symlink(outside.dir, b.path("exit")), os.Chmod(b.path("locked"), 0o444),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	first := []string{"*** Update File: a", "-one", "+1"}
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"lines that are not there", []string{"*** Update File: dir/f", "-nothing", "+x"}, "not found"},
		{"a missing file", []string{"*** Update File: none", "-one", "+x"}, "line 5 of the patch: none: the file does not exist"},
		{"a directory", []string{"*** Delete File: dir"}, "is a directory"},
		{"a link", []string{"*** Update File: link", "-l", "+x"}, "link is a symbolic link"},
		{"a file outside", []string{"*** Update File: exit/secret", "-s", "+x"}, "leads out of the project"},
		{"a new file outside", []string{"*** Add File: exit/new", "+x"}, "leads out of the project"},
		{"a file with two names", []string{"*** Update File: twin", "-t", "+x"}, "hard links"},
		{"a read-only file", []string{"*** Update File: locked", "-k", "+x"}, "read-only"},
		{"one file twice", []string{"*** Delete File: " + b.path("a"), "*** Delete File: ./a"}, "a"},
	} {
		r := b.run("ApplyPatch", patch(append(first, tt.lines...)...))
		if !r.IsError || !strings.Contains(r.Output, tt.want) {
			t.Errorf("%s: error %t, %q; want %q", tt.name, r.IsError, r.Output, tt.want)
		}
		for name, content := range before {
			if got := b.content(name); got != content {
				t.Fatalf("%s: %s holds %q", tt.name, name, got)
			}
		}
	}
	if len(outside.files()) != 1 || outside.content("secret") != "s\n" {
		t.Error("a file outside was changed")
	}
}

// A patch that cannot be read is refused before anybody is asked for an
// approval.
func TestAPatchIsReadBeforeItIsAskedAbout(t *testing.T) { // LOOP-50, LOOP-117
	t.Parallel()
	tool := newPatchBench(t, nil).tools["ApplyPatch"]
	in := patch("*** Update File: a", "?").json(t)
	if err := tool.(agent.Validator).Validate(in); err == nil || !strings.Contains(err.Error(), "line 3 of the patch") {
		t.Errorf("validated with %v", err)
	}
	if err := tool.(agent.Validator).Validate(patch("*** Add File: a", "+").json(t)); err != nil {
		t.Error(err)
	}
	if access := tool.(agent.Accessor).Access(t.Context(), in); len(access.Writes) > 0 {
		t.Errorf("access %+v", access)
	}
}

// Old lines prove that the model knows what it changes. A file that a patch
// replaces or removes without old lines is guarded.
func TestAPatchChangesNothingUnseen(t *testing.T) { // K-28
	t.Parallel()
	b := newPatchBench(t, map[string]string{"f": "one\ntwo\n", "g": "g\n", "h": "h\n", "i": "i\n"})
	unread, stale, part := "f exists and has not been read in this session", "f has changed on disk since it was last read", "f has been read only in part"
	overwrite := patch("*** Add File: f", "+x")
	moveOnto := patch("*** Update File: g", "*** Move to: ./f")
	for _, in := range []args{overwrite, moveOnto} {
		b.refuse("ApplyPatch", in, unread)
		if c, err := b.tools["ApplyPatch"].(agent.Previewer).Preview(t.Context(), in.json(t)); err == nil {
			t.Errorf("previews %+v", c)
		}
	}
	update := func(from, to string) args { return patch("*** Update File: f", "-"+from, "+"+to) }
	b.succeed("ApplyPatch", update("one", "1"))
	b.refuse("Write", args{"file_path": "f", "content": "x"}, part) // it has read one line

	b.succeed("Read", args{"file_path": "f"})
	b.put("f", "1\ntwo\nthree, by somebody else\n")
	for _, in := range []args{overwrite, moveOnto, patch("*** Delete File: f")} {
		b.refuse("ApplyPatch", in, stale)
	}
	b.succeed("ApplyPatch", update("1", "eins"))
	b.refuse("Write", args{"file_path": "f", "content": "x"}, part)

	b.succeed("Read", args{"file_path": "f"})
	b.succeed("ApplyPatch", update("two", "zwei"))
	b.succeed("Edit", args{"file_path": "f", "old_string": "zwei", "new_string": "2"}) // it has read the whole file
	b.succeed("ApplyPatch", overwrite)
	b.succeed("Write", args{"file_path": "f", "content": "y\n"})
	b.succeed("ApplyPatch", moveOnto)
	b.refuse("Write", args{"file_path": "f", "content": "x"}, stale) // g exists now, and it never read g
	b.succeed("ApplyPatch", patch("*** Delete File: h"))
	b.succeed("Read", args{"file_path": "i"})
	b.succeed("ApplyPatch", patch("*** Update File: i", "*** Move to: j"))
	b.succeed("Write", args{"file_path": "j", "content": "x"})
}

func TestApplyPatchIsShownToTheModelsThatKnowIt(t *testing.T) { // LOOP-29, LOOP-30, LOOP-39
	t.Parallel()
	if _, there := newBench(t, nil).tools["ApplyPatch"]; there {
		t.Error("ApplyPatch is shown without the option")
	}
	spec := newPatchBench(t, nil).tools["ApplyPatch"].Spec()
	if spec.Freeform == nil || spec.ReadOnly {
		t.Fatalf("%+v", spec)
	}
	for _, line := range []string{"*** Begin Patch", "*** End Patch", "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: ", "*** End of File", "@@"} {
		if !strings.Contains(spec.Freeform.Grammar, `"`+line) {
			t.Errorf("the grammar has no %q", line)
		}
		if !strings.Contains(spec.Description, strings.TrimSpace(line)) {
			t.Errorf("the description has no %q", line)
		}
	}
	if got := keys(t, schemaOf(t, spec).Properties); len(got) != 1 || got[0] != "input" {
		t.Errorf("schema %s", spec.Schema)
	}
	if limit := LimitOf(spec.Name); limit != (Limit{Chars: 10_000, Tail: true}) {
		t.Errorf("limit %+v", limit)
	}
}

func schemaOf(t *testing.T, spec agent.Spec) (schema struct{ Properties json.RawMessage }) {
	t.Helper()
	if err := json.Unmarshal(spec.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// The example in the description is a valid patch.
func TestApplyPatchDescriptionIsRight(t *testing.T) {
	t.Parallel()
	b := newPatchBench(t, map[string]string{
		"src/greet.py": "def greet(name):\n    name = name.strip()\n    print(\"Hello\")\n    return name\n", "src/old.py": "", "src/unused.py": "",
	})
	_, rest, _ := strings.Cut(applyPatchDescription, "```\n")
	example, _, _ := strings.Cut(rest, "```\n")
	b.succeed("ApplyPatch", args{"input": example})
	if got := b.content("src/greet.py"); !strings.Contains(got, "Hello, {name}!") {
		t.Error(got)
	}
}

// A command that only calls apply_patch is run as a patch; in another
// directory, its paths start there.
func TestBashThatOnlyPatches(t *testing.T) { // LOOP-50
	t.Parallel()
	b := newPatchBench(t, nil)
	redirectIn := func(dir, command string) (string, string, bool) {
		tool, input, ok := b.tools["Bash"].(agent.Redirector).Redirect(args{"command": command, "workdir": dir}.json(t))
		if !ok {
			return "", "", false
		}
		in, err := parse(input, applyPatchInput{})
		if err != nil {
			t.Fatal(err)
		}
		return tool, in.Input, ok
	}
	redirect := func(command string) (string, string, bool) { return redirectIn("", command) }
	const text = "*** Begin Patch\n*** Update File: a\n*** Move to: /b\n@@\n-x\n+y\n*** End Patch\n"
	for command, want := range map[string]string{
		"apply_patch <<'EOF'\n" + text + "EOF\n":           text,
		"cd sub/dir && apply_patch <<EOF\n" + text + "EOF": strings.Replace(text, ": a", ": sub/dir/a", 1),
		"cd sub && apply_patch <<EOF\nbroken\nEOF":         "broken\n",
	} {
		if tool, got, ok := redirect(command); !ok || tool != "ApplyPatch" || got != want {
			t.Errorf("%q is %s %q, %t; want %q", command, tool, got, ok, want)
		}
	}
	for command, want := range map[string]string{
		"apply_patch <<EOF\n" + text + "EOF":              "/work/a",
		"cd sub && apply_patch <<EOF\n" + text + "EOF":    "/work/sub/a",
		"cd /other && apply_patch <<EOF\n" + text + "EOF": "/other/a",
	} {
		if _, got, ok := redirectIn("/work", command); !ok || !strings.Contains(got, "Update File: "+want+"\n") {
			t.Errorf("%q in /work is %q, %t; want %s", command, got, ok, want)
		}
	}
	if tool, _, ok := redirect("apply_patch <<EOF\n" + text + "EOF\nls"); ok {
		t.Errorf("a script that does more is %s", tool)
	}
}
