package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

const understoodSchema = `{"type":"object","properties":{
	"file_path":{"type":"string"},"-n":{"type":"boolean"},"maybe":{"type":["string","null"]},
	"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"at":{"type":"object","properties":{"line":{"type":"integer"}},"additionalProperties":false}},"additionalProperties":false}}
},"required":["file_path"],"additionalProperties":false}`

var understanding = Lenience{
	Synonyms: map[string]string{"path": "file_path", "N": "maybe"},
	Ignored:  []string{"justification"},
	Refused:  map[string]string{"append": "Write the whole file."},
}

// K-43: synonyms are understood, unknown members dropped and named, and only what
// would change the meaning is refused.
func TestLenience(t *testing.T) {
	t.Parallel()
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(understoodSchema), &schema); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]struct {
		args    string
		dropped []string
		refused string
	}{
		`{"file_path":"f", "-n":true}`:                        {args: `{"file_path":"f", "-n":true}`},
		`{"path":"f"}`:                                        {args: `{"file_path":"f"}`},
		`{"filePath":"f","n":true}`:                           {args: `{"-n":true,"file_path":"f"}`},
		`{"Path":"f"}`:                                        {args: `{"file_path":"f"}`},
		`{"file_path":"f","path":"g"}`:                        {args: `{"file_path":"f"}`, dropped: []string{"path"}},
		`{"file_path":"f","zeal":1,"about":"x"}`:              {args: `{"file_path":"f"}`, dropped: []string{"about", "zeal"}},
		`{"file_path":"f","justification":"because"}`:         {args: `{"file_path":"f"}`},
		`{"file_path":"f","append":true}`:                     {refused: "append cannot be used here. Write the whole file."},
		`{"file_path":"f","append":false,"other":null}`:       {args: `{"file_path":"f"}`},
		`{"file_path":"f","-n":null,"maybe":null}`:            {args: `{"file_path":"f","maybe":null}`},
		`{"file_path":null}`:                                  {args: `{"file_path":null}`},
		`{"file_path":"f","edits":[{"old":"a","x":1},{}]}`:    {args: `{"edits":[{"old":"a"},{}],"file_path":"f"}`, dropped: []string{"edits.x"}},
		`{"file_path":"f","edits":[{"at":{"line":1,"x":2}}]}`: {args: `{"edits":[{"at":{"line":1}}],"file_path":"f"}`, dropped: []string{"edits.at.x"}},
		`{"file_path":"f","big":9007199254740993,"-n":true}`:  {args: `{"-n":true,"file_path":"f"}`, dropped: []string{"big"}},
		`{"file_path":"f","N":"x"}`:                           {args: `{"file_path":"f","maybe":"x"}`},
		`[]`:                                                  {args: `[]`},
	} {
		got, dropped, err := understanding.understand(&schema, json.RawMessage(in))
		if want.refused != "" {
			if err == nil || err.Error() != want.refused {
				t.Errorf("%s: %v, want %s", in, err, want.refused)
			}
			continue
		}
		if err != nil || string(got) != want.args || !cmp.Equal(dropped, want.dropped) {
			t.Errorf("%s = %s, dropped %q, %v", in, got, dropped, err)
		}
	}
}

// An object that is understood remains an object, with known members only.
func FuzzLenience(f *testing.F) {
	f.Add([]byte(`{"path":"f","edits":[{"x":[]}]}`))
	f.Add([]byte(`{"file_path":"f","FILEPATH":"g","":1}`))
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(understoodSchema), &schema); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var members map[string]json.RawMessage
		if json.Unmarshal(in, &members) != nil || members == nil {
			return
		}
		got, _, err := understanding.understand(&schema, in)
		if err != nil {
			return
		}
		members = nil
		if json.Unmarshal(got, &members) != nil || members == nil {
			t.Fatalf("%s became %s", in, got)
		}
		for name := range members {
			if schema.Properties[name] == nil {
				t.Errorf("%s became %s", in, got)
			}
		}
	})
}

// A name of which there is no tool may come with advice; a string may spell the
// arguments, or be those of a freeform tool.
func TestUnderstoodCalls(t *testing.T) {
	t.Parallel()
	registry, err := NewRegistry(Function(Spec{Name: "Note", Description: "Notes."}, func(context.Context, struct{ Text string }) (string, error) { return "", nil }))
	if err != nil {
		t.Fatal(err)
	}
	set := registry.Show(Binding{ToolSpec: llm.ToolSpec{Name: "save_memory"}, Instead: "Write AGENTS.md."})
	if got := set.unknown("save_memory"); got != "There is no tool save_memory here. Write AGENTS.md." {
		t.Error(got)
	}
	if got := set.unknown("other"); !strings.HasPrefix(got, "Unknown tool: other.") {
		t.Error(got)
	}
	b, _ := set.get("Note")
	input, dropped, err := b.input(json.RawMessage(`"{\"Text\":\"a\",\"x\":1}"`))
	if err != nil || string(input) != `{"Text":"a"}` || !cmp.Equal(dropped, []string{"x"}) {
		t.Errorf("%s, %q, %v", input, dropped, err)
	}
}

// A made-up name is cut between characters.
func TestLongNameOfNoTool(t *testing.T) {
	t.Parallel()
	if got, want := namedTool(strings.Repeat("é", 200)), `"`+strings.Repeat("é", 99)+`…"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A model that makes up many members is told of ten.
func TestManyIgnoredMembers(t *testing.T) {
	t.Parallel()
	names := strings.Fields("a b c d e f g h i j k l")
	if got, want := namedMembers(names), "a, b, c, d, e, f, g, h, i, j and 2 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
