package tool

import (
	"encoding/json"
	"strings"
	"testing"

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
	if paths := b.tools["NotebookEdit"].(agent.Accessor).Access(change.json(t)).Writes; len(paths) != 1 || paths[0] != b.path("n.ipynb") {
		t.Errorf("the gate is told of %v", paths)
	}
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
