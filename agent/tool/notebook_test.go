package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
)

const aNotebook = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"id\": \"a1\",\n   \"metadata\": {},\n   \"outputs\": [{\"data\": 1}],\n   \"source\": [\"old()\"]\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n"

// OAS-322, K-28: a notebook that was read is changed in one cell, and what a person is
// shown is what is done; one that was not read, or is none, is refused.
func TestNotebookEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"n.ipynb": aNotebook, "broken.ipynb": "[]", "old.ipynb": `{"nbformat":3,"worksheets":[]}`})
	change := args{"file_path": "n.ipynb", "command": "replace", "cell_id": "a1", "source": "new()"}
	b.refuse("NotebookEdit", change, "has not been read")
	for _, name := range []string{"n.ipynb", "broken.ipynb", "old.ipynb"} {
		b.succeed("Read", args{"file_path": name})
	}
	previewed, err := b.tools["NotebookEdit"].(agent.Previewer).Preview(t.Context(), args{"file_path": "n.ipynb", "command": "insert", "cell_number": 1, "source": "x"}.json(t))
	if err != nil {
		t.Fatal(err)
	}
	r := b.succeed("NotebookEdit", args{"file_path": "n.ipynb", "command": "insert", "cell_number": 1, "source": "x"})
	if len(previewed) != 1 || r.Details.Changes[0] != previewed[0] {
		t.Errorf("shown %+v, done %+v", previewed, r.Details.Changes)
	}
	b.succeed("NotebookEdit", args{"file_path": "n.ipynb", "command": "delete", "cell_number": 1})
	if got := b.content("n.ipynb"); got != aNotebook {
		t.Errorf("after an insertion was deleted: %s", got)
	}
	b.succeed("NotebookEdit", change)
	if got := b.content("n.ipynb"); got != strings.Replace(aNotebook, `["old()"]`, "[\n    \"new()\"\n   ]", 1) {
		t.Errorf("replaced: %s", got)
	}
	b.refuse("NotebookEdit", args{"file_path": "n.ipynb", "command": "delete", "cell_id": "none"}, `no cell "none"`)
	b.refuse("NotebookEdit", args{"file_path": "broken.ipynb", "command": "delete", "cell_number": 0}, "no notebook")
	b.refuse("NotebookEdit", args{"file_path": "old.ipynb", "command": "delete", "cell_number": 0}, "version 3")
	b.put("n.ipynb", aNotebook+" ")
	b.refuse("NotebookEdit", change, "changed")
	if paths := b.tools["NotebookEdit"].(agent.Accessor).Access(t.Context(), change.json(t)).Writes; len(paths) != 1 || paths[0] != b.path("n.ipynb") {
		t.Errorf("the gate is told of %v", paths)
	}
}

// OAS-301: a notebook is read as its cells with what they printed and drew; an offset, and a
// notebook of another version, show the file itself.
func TestReadNotebook(t *testing.T) {
	t.Parallel()
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	b := newBench(t, map[string]string{"old.ipynb": `{"nbformat":3,"worksheets":[]}`, "n.ipynb": `{"nbformat":4,"nbformat_minor":5,"metadata":{"language_info":{"name":"python"}},"cells":[
{"cell_type":"markdown","id":"m1","metadata":{},"source":["# Title\n","text"]},
{"cell_type":"code","id":"c1","execution_count":7,"metadata":{},"source":"plot()","outputs":[
 {"output_type":"stream","name":"stdout","text":["one\n","two\n"]},
 {"output_type":"display_data","data":{"image/png":"` + dot + `","text/plain":"<Figure>"}},
 {"output_type":"display_data","data":{"text/html":"<b>"}},
 {"output_type":"error","ename":"E","evalue":"v","traceback":["\u001b[31mE: v\u001b[0m"]}, {"data":1}]}]}`})
	r := b.succeed("Read", args{"file_path": "n.ipynb"})
	want := `[A notebook of 2 cells in python. NotebookEdit changes a cell; an offset shows the file's own lines.]

[cell-0, id m1, markdown]
# Title
text

[cell-1, id c1, code, run 7]
plot()
[output]
one
two
[output: a picture, shown as cell-1]
[output]
[text/html, not shown]
[output: it failed]
E: v
[output]

`
	if diff := cmp.Diff(want, r.Output); diff != "" || len(r.Media) != 1 || r.Media[0].MIME != "image/png" {
		t.Errorf("%d pictures (-want +got):\n%s", len(r.Media), diff)
	}
	for _, in := range []args{{"file_path": "n.ipynb", "offset": 1}, {"file_path": "old.ipynb"}} {
		if r := b.succeed("Read", in); !strings.HasPrefix(r.Output, "1 | {") {
			t.Errorf("%v: %.60s", in, r.Output)
		}
	}
	b.succeed("NotebookEdit", args{"file_path": "n.ipynb", "command": "replace", "cell_id": "m1", "source": "new"})
}

// K-04, K-43: what models of any vendor write is the same call, and what is no edit of a
// notebook is refused before anybody is asked.
func TestNotebookCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	spec := b.tools["NotebookEdit"].Spec()
	for in, want := range map[string]string{
		`{"notebook_path":"n.ipynb","new_source":"x","cell_id":"a"}`:                        `{"file_path":"n.ipynb","command":"replace","cell_id":"a","source":"x"}`,
		`{"notebook_path":"n.ipynb","new_source":"x","edit_mode":"insert"}`:                 `{"file_path":"n.ipynb","command":"insert","source":"x"}`,
		`{"file_path":"n.ipynb","command":"DELETE","cell_number":"2","new_source":""}`:      `{"file_path":"n.ipynb","command":"delete","cell_number":2}`,
		`{"file_path":"n.ipynb","command":"insert","cell_number":0,"cell_type":"markdown"}`: `{"file_path":"n.ipynb","command":"insert","cell_number":0,"cell_type":"markdown"}`,
	} {
		got, err := spec.Bindings["anthropic"][0].Input(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for _, in := range []NotebookEditInput{
		{FilePath: "n.ipynb", Command: "move"}, {FilePath: "n.txt", Command: "delete"}, {FilePath: "n.ipynb", Command: "insert", CellType: "heading"},
	} {
		if in.Validate() == nil {
			t.Errorf("%+v is valid", in)
		}
	}
}
