package agent_test

import (
	"context"
	"errors"
	"fmt"
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

// COM-40, COM-41, COM-42: a function's arguments are coerced and checked, and
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
