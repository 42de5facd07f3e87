package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/filechange"
	"atelier.dev/atelier/agent/llm"
)

// bench is a session's tools on a folder of their own.
type bench struct {
	t     *testing.T
	dir   string
	tools map[string]agent.Tool
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := openBench(t, t.TempDir())
	for name, content := range files {
		b.put(name, content)
	}
	return b
}

// openBench is a bench on an existing folder.
func openBench(t *testing.T, dir string) *bench {
	t.Helper()
	local, err := env.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, tools: map[string]agent.Tool{}}
	for _, tool := range Builtin(local, Options{}) {
		b.tools[tool.Spec().Name] = tool
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// put changes a file as another program would.
func (b *bench) put(name, content string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) content(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// args is a call's input.
type args map[string]any

func (a args) json(t *testing.T) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (b *bench) run(tool string, in args) agent.Result {
	b.t.Helper()
	return b.runContext(b.t.Context(), tool, in, func(string) {})
}

func (b *bench) runContext(ctx context.Context, tool string, in args, output func(string)) agent.Result {
	b.t.Helper()
	return b.tools[tool].Run(ctx, agent.Invocation{CallID: "1", Input: in.json(b.t), Output: output})
}

// succeed runs a tool that has to succeed.
func (b *bench) succeed(tool string, in args) agent.Result {
	b.t.Helper()
	r := b.run(tool, in)
	if r.IsError {
		b.t.Fatalf("%s %v: %s", tool, in, r.Output)
	}
	return r
}

// refuse runs a tool that has to fail with the given text.
func (b *bench) refuse(tool string, in args, want string) {
	b.t.Helper()
	r := b.run(tool, in)
	if !r.IsError || !strings.Contains(r.Output, want) {
		b.t.Errorf("%s %v: error %t, %q; want %q", tool, in, r.IsError, r.Output, want)
	}
}

func TestSpecs(t *testing.T) { // OAS-301..306, LOOP-33
	t.Parallel()
	want := map[string]string{
		"Read":         `["file_path"] file_path offset limit`,
		"Write":        `["file_path","content"] file_path content`,
		"Edit":         `["file_path","old_string","new_string"] file_path old_string new_string replace_all fuzzy`,
		"MultiEdit":    `["file_path","edits"] file_path edits`,
		"NotebookEdit": `["file_path","command"] file_path command cell_id cell_number cell_type source`,
		"Bash":         `["command"] command timeout description workdir run_in_background yield_time_ms input tty unconfined max_output_tokens`,
		"Grep":         `["pattern"] pattern path glob type output_mode -i multiline fixed_strings -n -A -B -C offset head_limit`,
		"Glob":         `["pattern"] pattern path`,
		"WriteStdin":   `["id"] id chars yield_time_ms max_output_tokens`,
		"TaskOutput":   `["id"] id wait_ms lines`,
		"TaskList":     ` status owner`,
		"TaskStop":     `["id"] id reason`,
		"ReadMany":     `["paths"] paths exclude`,
		"ListDir":      ` path depth ignore`,
	}
	const reads, acts = "true true true", "false false false" // read-only, concurrent, idempotent
	flags := map[string]string{
		"Write": acts, "Edit": acts, "MultiEdit": acts, "NotebookEdit": acts, "Bash": acts, "WriteStdin": acts, "TaskStop": acts,
		"Read": reads, "ReadMany": reads, "ListDir": reads, "Grep": reads, "Glob": reads, "TaskList": reads,
		"TaskOutput": "true false false", // a value that may be returned once
	}
	first, second := newBench(t, nil).tools, newBench(t, nil).tools
	registry, err := agent.NewRegistry(mapValues(first)...)
	if err != nil || len(registry.Names()) != len(want) {
		t.Fatalf("registry: %v", err)
	}
	for name, shape := range want {
		spec := first[name].Spec()
		var schema struct {
			Type       string
			Required   json.RawMessage
			Properties json.RawMessage
			Additional json.RawMessage `json:"additionalProperties"`
		}
		if err := json.Unmarshal(spec.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		got := string(schema.Required) + " " + strings.Join(keys(t, schema.Properties), " ")
		if got != shape || schema.Type != "object" || string(schema.Additional) != "false" {
			t.Errorf("%s has the schema %s", name, spec.Schema)
		}
		if got, want := fmt.Sprint(spec.ReadOnly, spec.Concurrent, spec.Idempotent), flags[name]; got != want || len(spec.Description) < 100 {
			t.Errorf("%s: flags %s, want %s; description %q", name, got, want, spec.Description)
		}
		if diff := cmp.Diff(spec, second[name].Spec(), cmpopts.IgnoreFields(agent.Binding{}, "Input")); diff != "" {
			t.Errorf("%s differs between sessions:\n%s", name, diff)
		}
	}
}

func mapValues(m map[string]agent.Tool) []agent.Tool { return slices.Collect(maps.Values(m)) }

// keys returns the keys of a JSON object in their order.
func keys(t *testing.T, object json.RawMessage) (names []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(object)))
	_, _ = d.Token()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, key.(string))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func TestAccess(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	read := func(path string) agent.Access { return agent.Access{Reads: []string{path}} }
	write := func(path string) agent.Access { return agent.Access{Writes: []string{path}} }
	tests := []struct {
		tool string
		in   args
		want agent.Access
	}{
		{"Read", args{"file_path": "a/../b"}, read(b.path("b"))},
		{"Read", args{"file_path": "/etc/../x"}, read("/x")},
		{"Write", args{"file_path": "../x", "content": ""}, write(filepath.Join(filepath.Dir(b.dir), "x"))},
		{"Edit", args{"file_path": "x"}, write(b.path("x"))},
		{"Bash", args{"command": "make -k"}, agent.Access{Command: "make -k"}},
		{"Grep", args{"pattern": "x"}, read(b.dir)},
		{"Grep", args{"pattern": "x", "path": "/tmp"}, read("/tmp")},
		{"Glob", args{"pattern": "**/*.go"}, read(b.dir)},
		{"Glob", args{"pattern": "/etc/*.conf"}, read("/etc")},
		{"Glob", args{"pattern": "../../*/x", "path": "sub"}, read(filepath.Dir(b.dir))},
		{"ReadMany", args{"paths": []string{"a/*.go", "*/../../x"}}, agent.Access{Reads: []string{
			b.path("a/*.go"), b.path("a"), filepath.Join(filepath.Dir(b.dir), "x"), b.dir}}},
		{"ListDir", args{}, read(b.dir)},
		{"ListDir", args{"path": "/etc"}, read("/etc")},
	}
	for _, tt := range tests {
		got := b.tools[tt.tool].(agent.Accessor).Access(t.Context(), tt.in.json(t))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.tool, tt.in, diff)
		}
	}
}

func TestMalformedInputIsAFailedResult(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for name, tool := range b.tools {
		for _, input := range []string{`{`, `[]`, `{"file_path":1,"command":1,"pattern":1,"paths":1,"path":1,"status":1}`} {
			if r := tool.Run(t.Context(), agent.Invocation{Input: json.RawMessage(input), Output: func(string) {}}); !r.IsError || r.Output == "" {
				t.Errorf("%s(%s) = %+v", name, input, r)
			}
			a, ok := tool.(agent.Accessor)
			if !ok {
				continue
			}
			if got := a.Access(t.Context(), json.RawMessage(input)); !cmp.Equal(got, agent.Access{}) {
				t.Errorf("%s(%s) would touch %+v", name, input, got)
			}
		}
	}
}

func TestRead(t *testing.T) { // LOOP-23, OAS-301, K-03
	t.Parallel()
	b := newBench(t, map[string]string{
		"three": "a\r\nb\r\nc\r\n", "empty": "", "many": strings.Repeat("x\n", 2500), "dir/x": "", "bin": "a\x00b",
	})
	tests := []struct {
		in   args
		want string
	}{
		{args{"file_path": "three"}, "1 | a\n2 | b\n3 | c\n"},
		{args{"file_path": b.path("three"), "offset": 2}, "2 | b\n3 | c\n"},
		{args{"file_path": "three", "offset": 0, "limit": 1}, "1 | a\n[Lines 1 to 1 of 3. Read on with offset 2.]\n"},
		{args{"file_path": "three", "offset": 7}, "[The file has 3 lines; line 7 is past its end.]"},
		{args{"file_path": "empty"}, "[The file is empty.]"},
	}
	for _, tt := range tests {
		if got := b.succeed("Read", tt.in).Output; got != tt.want {
			t.Errorf("%v: %q, want %q", tt.in, got, tt.want)
		}
	}
	many := b.succeed("Read", args{"file_path": "many"})
	if !strings.HasSuffix(many.Output, "2000 | x\n[Lines 1 to 2000 of 2500. Read on with offset 2001.]\n") || many.Details.Listing.Count != 2000 {
		t.Errorf("many lines end in %q", many.Output[len(many.Output)-80:])
	}
	b.refuse("Read", args{"file_path": "none"}, "none does not exist.")
	b.refuse("Read", args{"file_path": "dir"}, "is a directory")
	b.refuse("Read", args{"file_path": "bin"}, "is a binary file of 3 bytes")
	b.refuse("Read", args{"file_path": ""}, "no path was given")
}

// LOOP-23: a picture is shown as one whatever its name. Another file with a
// picture's name is text, or is refused like any other file.
func TestReadPicture(t *testing.T) {
	t.Parallel()
	const gif = "GIF89a\x01\x00\x01\x00\x00\x00\x00;"
	b := newBench(t, map[string]string{"a.PNG": gif, "text.png": "hello\n", "bin.jpg": "a\x00b", "a.bin": gif})
	got := b.succeed("Read", args{"file_path": "a.PNG"})
	want := []llm.Media{{MIME: "image/gif", Name: "a.PNG", Data: []byte(gif)}}
	if diff := cmp.Diff(want, got.Media); diff != "" || !strings.Contains(got.Output, "a.PNG is a picture") {
		t.Errorf("%q %s", got.Output, diff)
	}
	if got := b.succeed("Read", args{"file_path": "text.png"}); got.Output != "1 | hello\n" || got.Media != nil {
		t.Errorf("text: %+v", got)
	}
	b.refuse("Read", args{"file_path": "bin.jpg"}, "is a binary jpg file")
	b.refuse("Read", args{"file_path": "a.bin"}, "is a binary bin file")
	b.refuse("Edit", args{"file_path": "a.PNG", "old_string": "a", "new_string": "b"}, "is a binary PNG file")
	b.refuse("Read", args{"file_path": "none.png"}, "none.png does not exist.")
}

// K-41: a call that names its number of lines is not cut to the usual size.
func TestReadWithALimitIsNotCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"f": "one\ntwo\n"})
	if r := b.succeed("Read", args{"file_path": "f", "limit": 2}); r.Wanted != maxWanted {
		t.Errorf("a call with a limit asks for %d characters", r.Wanted)
	}
	if r := b.succeed("Read", args{"file_path": "f"}); r.Wanted != 0 {
		t.Errorf("a call without a limit asks for %d characters", r.Wanted)
	}
}

func TestReadOfAHugeFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"huge": "first\nsecond\n"})
	if err := os.Truncate(b.path("huge"), 100<<20); err != nil { // sparse
		t.Fatal(err)
	}
	b.refuse("Read", args{"file_path": "huge"}, "huge has 100 MB, too much to read whole. Read a part of it with offset and limit")
	b.put("huge", strings.Repeat(strings.Repeat("y", 99)+"\n", 1<<20))
	got := b.succeed("Read", args{"file_path": "huge", "offset": 1, "limit": 1}).Output
	if want := "1 | " + strings.Repeat("y", 99) + "\n[Lines 1 to 1 of more. Read on with offset 2.]\n"; got != want {
		t.Errorf("a part: %q", got)
	}
}

func TestWrite(t *testing.T) { // LOOP-24, OAS-302
	t.Parallel()
	b := newBench(t, nil)
	created := b.succeed("Write", args{"file_path": "a/b.txt", "content": "one\ntwo\n"})
	if created.Output != "Created a/b.txt: 2 lines, 8 bytes written." {
		t.Errorf("result %q", created.Output)
	}
	want := []agent.FileChange{{Path: "a/b.txt", Created: true, Added: 2, Diff: "@@ -0,0 +1,2 @@\n+one\n+two\n"}}
	if diff := cmp.Diff(want, created.Details.Changes); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
	replaced := b.succeed("Write", args{"file_path": "a/b.txt", "content": "one\r\nthree"}) // it wrote the file, so it knows it
	if got := b.content("a/b.txt"); got != "one\r\nthree" {
		t.Errorf("content %q", got)
	}
	if c := replaced.Details.Changes[0]; c.Created || c.Added != 2 || c.Removed != 2 || !strings.HasPrefix(replaced.Output, "Replaced a/b.txt") {
		t.Errorf("result %q, change %+v", replaced.Output, c)
	}
	b.refuse("Write", args{"file_path": "a", "content": ""}, "is a directory")
}

func TestNothingIsChangedUnseen(t *testing.T) { // K-28
	t.Parallel()
	b := newBench(t, map[string]string{"f": "one\n", "empty": ""})
	write := args{"file_path": "f", "content": "x"}
	edit := args{"file_path": b.path("f"), "old_string": "one", "new_string": "1"}
	for tool, in := range map[string]args{"Write": write, "Edit": edit} {
		b.refuse(tool, in, "f exists and has not been read in this session. Read it first, then change it.")
		if c, err := b.tools[tool].(agent.Previewer).Preview(t.Context(), in.json(t)); err == nil { // nobody is asked
			t.Errorf("%s previews %+v", tool, c)
		}
	}
	b.succeed("Read", args{"file_path": "f", "limit": 1})
	b.put("f", "one, by somebody else\n")
	for tool, in := range map[string]args{"Write": write, "Edit": edit} {
		b.refuse(tool, in, "You have not seen these lines:\n1 | one, by somebody else")
		b.refuse(tool, in, "f has changed on disk since it was last read") // to be told does not count as reading
	}
	if got := b.content("f"); got != "one, by somebody else\n" {
		t.Errorf("content %q", got)
	}
	b.succeed("Read", args{"file_path": "f"})
	b.succeed("Edit", edit)
	b.succeed("Edit", args{"file_path": "f", "old_string": "1,", "new_string": "2,"})
	b.succeed("Write", write)
	b.succeed("Write", args{"file_path": "empty", "content": "y"})
}

func TestEdit(t *testing.T) { // LOOP-25, OAS-303
	t.Parallel()
	b := newBench(t, map[string]string{"f.go": "\uFEFFa\r\nb\r\nc\r\nb\r\n"})
	b.succeed("Read", args{"file_path": "f.go"})
	in := args{"file_path": "f.go", "old_string": "a\nb", "new_string": "a\nx\ny"}
	preview, err := b.tools["Edit"].(agent.Previewer).Preview(t.Context(), in.json(t))
	if err != nil || b.content("f.go") != "\uFEFFa\r\nb\r\nc\r\nb\r\n" {
		t.Fatalf("preview: %v, content %q", err, b.content("f.go"))
	}
	r := b.succeed("Edit", in)
	if got, want := b.content("f.go"), "\uFEFFa\r\nx\r\ny\r\nc\r\nb\r\n"; got != want {
		t.Errorf("content %q, want %q", got, want)
	}
	if r.Output != "Replaced 1 occurrence in f.go. The text was not there exactly; it matched with the kind of line endings ignored." {
		t.Errorf("result %q", r.Output)
	}
	want := []agent.FileChange{{Path: "f.go", Added: 2, Removed: 1, Diff: "@@ -1,4 +1,5 @@\n \uFEFFa\r\n-b\r\n+x\r\n+y\r\n c\r\n b\r\n"}}
	if diff := cmp.Diff(want, r.Details.Changes); diff != "" {
		t.Errorf("change (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(r.Details.Changes, preview); diff != "" {
		t.Errorf("preview (-done +preview):\n%s", diff)
	}
	b.refuse("Edit", args{"file_path": "none", "old_string": "a", "new_string": "b"}, "none does not exist. To create a file use Write.")
	b.refuse("Edit", args{"file_path": "f.go", "old_string": "zzz", "new_string": "b"}, "f.go was not changed: old_string was not found.")
}

func TestLargeChangesHaveNoDiff(t *testing.T) {
	t.Parallel()
	c := filechange.Of("f", []byte("a\nb"), []byte(strings.Repeat("x\n", 1<<20)), false)
	if c.Diff != "" || c.Removed != 2 || c.Added != 1<<20 {
		t.Errorf("change %+v", c)
	}
}

func TestGrepTool(t *testing.T) { // LOOP-27, OAS-305
	t.Parallel()
	b := newBench(t, map[string]string{"a.go": "x\nneedle\ny\n", "b.txt": "Needle\n", "many": strings.Repeat("hit\n", 300)})
	tests := []struct {
		in    args
		want  string
		count int
		unit  string
	}{
		{args{"pattern": "needle"}, "a.go", 1, "files"},
		{args{"pattern": "needle", "-i": true}, "a.go\nb.txt", 2, "files"},
		{args{"pattern": "needle", "output_mode": "content"}, "a.go:2:needle", 1, "matches"},
		{args{"pattern": "needle", "output_mode": "content", "-C": 1}, "a.go-1-x\na.go:2:needle\na.go-3-y", 3, "lines"},
		{args{"pattern": "needle", "output_mode": "content", "-A": 1}, "a.go:2:needle\na.go-3-y", 2, "lines"},
		{args{"pattern": "needle", "-i": true, "output_mode": "count", "glob": "*.txt"}, "b.txt:1", 1, "files"},
		{args{"pattern": "needle", "-i": true, "head_limit": 1}, "a.go\n[Stopped after 1 file; there are more. Narrow the search with path, glob or type, or raise head_limit.]", 1, "files"},
		{args{"pattern": "absent"}, "[Nothing was found.]", 0, "files"},
	}
	for _, tt := range tests {
		r := b.succeed("Grep", tt.in)
		if got := *r.Details.Listing; r.Output != tt.want || got.Count != tt.count || got.Unit != tt.unit {
			t.Errorf("%v: %q, %+v; want %q", tt.in, r.Output, got, tt.want)
		}
	}
	b.refuse("Grep", args{"pattern": "("}, "regex")
	b.refuse("Grep", args{"pattern": "x", "path": "none"}, "does not exist")
	b.refuse("Grep", args{"pattern": "x", "output_mode": "all"}, `output_mode "all" is unknown`)
}

// LOOP-27, LOOP-39: a search shortens its own result at the end, with the
// number of all matches, so that the loop's limits never remove its first or
// middle lines.
func TestGrepResultsAreNotTruncated(t *testing.T) {
	t.Parallel()
	const advice = " Narrow the search with path, glob or type.]"
	row := func(size, n int) string { return strings.Repeat(strings.Repeat("x", size)+"\n", n) }
	b := newBench(t, map[string]string{
		"199": row(1, 199), "200": row(1, 200), "300": row(1, 300), "12000": row(1, 12_000), "wide": row(400, 100),
		"longest": row(1<<20, 40), "umlauts": strings.Repeat(strings.Repeat("ü", 90)+"\n", 199),
	})
	for name, tt := range map[string]struct {
		in     args
		shown  int
		remark string
	}{
		"as many as fit":   {args{"path": "199"}, 199, ""},
		"one more":         {args{"path": "200"}, 199, "[These are the first 199 of 200 matches." + advice},
		"many more":        {args{"path": "300", "head_limit": 0}, 199, "[These are the first 199 of 300 matches." + advice},
		"a larger limit":   {args{"path": "300", "head_limit": 250}, 199, "[These are the first 199 of 300 matches." + advice},
		"a smaller limit":  {args{"path": "300", "head_limit": 198}, 198, "[Stopped after 198 matches; there are more. Narrow the search with path, glob or type, or raise head_limit.]"},
		"more than counts": {args{"path": "12000"}, 199, "[These are the first 199 of more than 10000 matches." + advice},
		"characters":       {args{"path": "wide"}, 46, "[These are the first 46 of 100 matches." + advice},
		"long lines":       {args{"path": "longest"}, 0, ""},
		"not bytes":        {args{"path": "umlauts", "pattern": "ü"}, 185, "[These are the first 185 of 199 matches." + advice},
	} {
		in := args{"pattern": "x", "output_mode": "content"}
		maps.Copy(in, tt.in)
		r := b.succeed("Grep", in)
		if TruncateLines("Grep", r.Output, 0) != r.Output {
			t.Errorf("%s: %d characters in %d lines are truncated", name, len(r.Output), strings.Count(r.Output, "\n")+1)
		}
		first, _, _ := strings.Cut(r.Output, ":")
		last := r.Output[strings.LastIndexByte(r.Output, '\n')+1:]
		n := r.Details.Listing.Count
		if first != tt.in["path"] || n == 0 || tt.shown != 0 && n != tt.shown || tt.remark != "" && last != tt.remark || len(r.Data.(env.Hits).Lines) != n {
			t.Errorf("%s: %d lines from %s, then %.200q", name, n, first, last)
		}
	}
}

func TestGlobTool(t *testing.T) { // LOOP-28, OAS-304
	t.Parallel()
	b := newBench(t, map[string]string{"sub/a.go": "", "b.txt": ""})
	if r := b.succeed("Glob", args{"pattern": "**/*.go"}); r.Output != "sub/a.go" || r.Details.Listing.Count != 1 {
		t.Errorf("result %+v", r)
	}
	if r := b.succeed("Glob", args{"pattern": "*.go"}); r.Output != "[Nothing was found.]" {
		t.Errorf("result %+v", r)
	}
	for i := range 600 {
		b.put(filepath.Join("many", strings.Repeat("n", 60)+string(rune('a'+i%26))+string(rune('a'+i/26))), "")
	}
	r := b.succeed("Glob", args{"pattern": "many/*"})
	if !strings.Contains(r.Output, "[These are the first 279 of more than 499 files.") || TruncateLines("Glob", r.Output, 0) != r.Output {
		t.Errorf("%d characters are not within the limit, or the cut is not said", len(r.Output))
	}
}

func TestToolsAreSafeSideBySide(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"f": "x\n"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { b.run("Read", args{"file_path": "f"}) })
		wg.Go(func() { b.run("Grep", args{"pattern": "x"}) })
		wg.Go(func() { b.run("Edit", args{"file_path": "f", "old_string": "x", "new_string": "y"}) })
	}
	wg.Wait()
}
