package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

type sumInput struct {
	Numbers []int  `json:"numbers" jsonschema:"what to add up"`
	As      string `json:"as,omitempty"`
}

// outcome is the shape in which programs report what they came to (COM-42).
type outcome struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Data  any    `json:"data"`
}

// OAS-203, OAS-209, COM-30, COM-40, COM-41, COM-42: a function's arguments are coerced and checked, and
// what it gives back reaches the model as text, picture or JSON; a failure is
// one whether it is an error, a panic or a value that says so.
func TestFunction(t *testing.T) {
	t.Parallel()
	picture := llm.Media{MIME: "image/png", Data: []byte{1}}
	ledger := map[string]any{"text": "6", "picture": picture, "json": struct{ Sum int }{6}, "list": []int{6},
		"whole": agent.Result{Output: "six"}, "refused": outcome{Error: "too many", Data: 3}, "fine": outcome{OK: true, Data: 6},
		"odd": map[string]any{"ok": "no"}, "unwritable": func() {}}
	sum := agent.Function(agent.Spec{Name: "Sum", Description: "Adds up.", ReadOnly: true}, func(_ context.Context, in sumInput) (any, error) {
		switch in.As {
		case "error":
			return nil, errors.New("the ledger is closed")
		case "panic":
			panic("out of ink")
		}
		return ledger[in.As], nil
	})
	for as, want := range map[string]agent.ToolCallEnd{
		"text":       {Output: "6"},
		"picture":    {Output: "Shown: image/png", Media: []llm.Media{picture}},
		"json":       {Output: `{"Sum":6}`},
		"list":       {Output: "[6]"},
		"whole":      {Output: "six"},
		"fine":       {Output: `{"ok":true,"data":6}`},
		"odd":        {Output: `{"ok":"no"}`},
		"refused":    {Output: `{"ok":false,"error":"too many","data":3}`, IsError: true},
		"error":      {Output: "The ledger is closed.", IsError: true},
		"panic":      {Output: "Tool error (Sum): out of ink", IsError: true},
		"huge":       {Output: "The arguments cannot be read: json: cannot unmarshal number 1e30 into Go struct field sumInput.numbers of type int.", IsError: true},
		"unwritable": {Output: "The result cannot be written: json: unsupported type: func().", IsError: true},
	} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			numbers := "[1, 2, 3]"
			if as == "huge" {
				numbers = "[1e30]"
			}
			call := llmtest.Use("Sum", map[string]string{"numbers": numbers, "as": as})
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{call}}, llmtest.Round{Text: "Done."}), sum)
			got := find[agent.ToolCallEnd](r.run("go"))[0]
			got = agent.ToolCallEnd{Output: got.Output, IsError: got.IsError, Media: got.Media}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A tool in a few lines: the schema comes from the struct, what the function
// needs from around it.
func ExampleFunction() {
	stock := map[string]int{"apples": 3}
	count := agent.Function(agent.Spec{Name: "Count", Description: "Counts what is in stock.", ReadOnly: true},
		func(_ context.Context, in struct {
			Item string `json:"item"`
		}) (string, error) {
			n, ok := stock[in.Item]
			if !ok {
				return "", fmt.Errorf("there never were any %s", in.Item)
			}
			return fmt.Sprintf("%d %s", n, in.Item), nil
		})
	fmt.Println(string(count.Spec().Schema))
	fmt.Println(count.Run(context.Background(), agent.Invocation{Input: []byte(`{"item":"apples"}`)}).Output)
	fmt.Println(count.Run(context.Background(), agent.Invocation{Input: []byte(`{"item":"pears"}`)}).Output)
	// Output:
	// {"type":"object","properties":{"item":{"type":"string"}},"required":["item"],"additionalProperties":false}
	// 3 apples
	// There never were any pears.
}

// named is an input that checks itself.
type named struct {
	Name string `json:"name"`
}

func (n named) Validate() error {
	if n.Name == "" {
		return errors.New("the name is empty")
	}
	return nil
}

// OAS-201, OAS-202, OAS-204, OAS-205, OAS-208, COM-31: a function may take no input, any object, or an input
// that checks itself; what it depends on comes with each call, and is not shown.
func TestFormsOfFunctions(t *testing.T) {
	t.Parallel()
	spec := func(name string) agent.Spec { return agent.Spec{Name: name, Description: "Says.", ReadOnly: true} }
	counted := 0
	count := func(context.Context) (int, error) { counted++; return counted, nil }
	closed := func(context.Context) (int, error) { return 0, errors.New("the store is not available") }
	own := spec("Own")
	own.Schema = json.RawMessage(`{"type":"object","properties":{"value":{}},"required":["value"]}`)
	r := newRig(t, nil,
		agent.Function(spec("None"), func(context.Context, struct{}) (string, error) { return "none", nil }),
		agent.Function(spec("Any"), func(_ context.Context, in map[string]any) (string, error) { return fmt.Sprint(len(in)), nil }),
		agent.Function(own, func(_ context.Context, in json.RawMessage) (string, error) { return string(in), nil }),
		agent.Function(spec("Checked"), func(_ context.Context, in named) (string, error) { return in.Name, nil }),
		agent.Function(spec("Counted"), agent.Depends(count, func(_ context.Context, in struct{}, n int) (string, error) { return fmt.Sprint(n), nil })),
		agent.Function(spec("Closed"), agent.Depends(closed, func(context.Context, struct{}, int) (string, error) { return "ran", nil })),
		agent.Function(spec("Call"), agent.Depends(agent.ThisCall, func(_ context.Context, _ struct{}, c agent.Invocation) (string, error) { return string(c.Input), nil })),
	)
	for _, tt := range []struct {
		call llmtest.Call
		want string
		bad  bool
	}{
		{llmtest.Use("None", map[string]any{}), "none", false},
		{llmtest.Use("Any", map[string]any{"a": 1, "b": "x"}), "2", false},
		{llmtest.Use("Own", map[string]any{"value": []int{1}}), `{"value":[1]}`, false},
		{llmtest.Use("Own", map[string]any{}), "The arguments of Own are not valid", true},
		{llmtest.Use("Checked", named{"x"}), "x", false},
		{llmtest.Use("Checked", named{}), "The arguments of Checked are not valid: the name is empty. It takes name.", true},
		{llmtest.Use("Counted", struct{}{}), "1", false},
		{llmtest.Use("Counted", struct{}{}), "2", false},
		{llmtest.Use("Closed", struct{}{}), "The store is not available.", true},
		{llmtest.Use("Call", struct{}{}), "{}", false},
	} {
		r.cfg.Model, r.session, r.log = llmtest.Script(llmtest.Round{Calls: []llmtest.Call{tt.call}}, llmtest.Round{Text: "done"}), nil, nil
		ends := find[agent.ToolCallEnd](r.run("go"))
		if len(ends) != 1 || !strings.HasPrefix(ends[0].Output, tt.want) || ends[0].IsError != tt.bad {
			t.Errorf("%s %s: %+v", tt.call.Name, tt.call.Arguments, ends)
		}
	}
}

// OAS-210, OAS-214: a model is shown name, description and schema of a tool, its hints are not
// sent, and members have the names of the field's tags.
func TestShownFunction(t *testing.T) {
	t.Parallel()
	spec := agent.Spec{Name: "Save", Description: "Saves.", ReadOnly: true, Idempotent: true, Additive: true, OpenWorld: true}
	save := agent.Function(spec, func(_ context.Context, in struct {
		FilePath string `json:"file_path"`
		MaxBytes int    `json:"max_bytes,omitempty"`
	}) (string, error) {
		return fmt.Sprint(in.FilePath, " ", in.MaxBytes), nil
	})
	set := show(t, []agent.Tool{save})
	b, err := json.Marshal(set.Definitions()[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"file_path":{"type":"string"},"max_bytes":{"type":"integer"}},"required":["file_path"],"additionalProperties":false}`
	if shown := set.Definitions()[0]; shown.Name != "Save" || shown.Description != "Saves." || string(shown.Schema) != want {
		t.Errorf("%s", b)
	}
	for _, hint := range []string{"readonly", "read_only", "idempotent", "destructive", "additive", "world", "annotations"} {
		if strings.Contains(strings.ToLower(string(b)), hint) {
			t.Errorf("a model is sent %s", b)
		}
	}
	if got := save.Run(t.Context(), agent.Invocation{Input: []byte(`{"file_path":"a","max_bytes":7}`)}).Output; got != "a 7" {
		t.Error(got)
	}
}

// OAS-212: the denial wins, and an empty list filters nothing.
func TestFilter(t *testing.T) {
	t.Parallel()
	tools := []agent.Tool{note{name: "A"}, note{name: "B"}, note{name: "C"}}
	for _, tt := range []struct{ allow, deny, want string }{
		{"", "", "A B C"}, {"A B", "", "A B"}, {"", "B", "A C"}, {"A B", "B", "A"}, {"A", "A", ""}, {"X", "", ""}, {"", "X", "A B C"},
	} {
		var names []string
		for _, left := range agent.Filter(tools, strings.Fields(tt.allow), strings.Fields(tt.deny)) {
			names = append(names, left.Spec().Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("allow %q, deny %q: %q, want %q", tt.allow, tt.deny, got, tt.want)
		}
	}
}
