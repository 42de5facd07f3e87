package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// What can be read of a result is read, and the rest becomes nothing or words.
func TestReadable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method       protocol.MCPMethod
		result, want string
	}{
		"tools":           {protocol.MethodToolsList, `{"tools":[{"name":7},{"name":"a"},null,"x"],"nextCursor":"2"}`, `{"nextCursor":"2","tools":[{"name":"a"},null]}`},
		"no tools":        {protocol.MethodToolsList, `{}`, `{"tools":[]}`},
		"not a list":      {protocol.MethodToolsList, `{"tools":"all"}`, `{"tools":"all"}`},
		"not an object":   {protocol.MethodToolsList, `"all"`, `"all"`},
		"nothing":         {protocol.MethodToolsList, `null`, `null`},
		"another method":  {protocol.MethodPing, `{"tools":[{"name":7}]}`, `{"tools":[{"name":7}]}`},
		"unknown kind":    {protocol.MethodToolsCall, `{"content":[{"type":"hologram"}]}`, `{"content":[{"type":"text","text":"[a part of the unknown kind \"hologram\"]"}]}`},
		"unreadable part": {protocol.MethodToolsCall, `{"content":[{"type":"text","text":7},5]}`, `{"content":[{"type":"text","text":"[a part that cannot be read]"},{"type":"text","text":"[a part that cannot be read]"}]}`},
		"a resource":      {protocol.MethodResourcesRead, `{"contents":[{"uri":"a:b"},7]}`, `{"contents":[{"uri":"a:b","text":"[a resource that cannot be read]"},{"uri":"unknown:","text":"[a resource that cannot be read]"}]}`},
		"parts of a message": {protocol.MethodPromptsGet, `{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`,
			`{"messages":[{"role":"assistant","content":{"type":"text","text":"ab"}}]}`},
		"another role": {protocol.MethodPromptsGet, `{"messages":[{"role":"system","content":[{"text":"a"}]},4]}`,
			`{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"text","text":"[a message that cannot be read]"}}]}`},
	} {
		if diff := cmp.Diff(tt.want, string(readable(string(tt.method), json.RawMessage(tt.result)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A form has the fields in the order in which the server wrote them.
func TestFormKeepsItsOrder(t *testing.T) {
	t.Parallel()
	const text = `{"message":"m","requestedSchema":{"properties":{"user":{},"password":{}}}}`
	var params protocol.ElicitationParams
	if err := json.Unmarshal([]byte(text), &params); err != nil {
		t.Fatal(err)
	}
	form, err := formOf(context.WithValue(t.Context(), paramsKey{}, json.RawMessage(text)), params)
	if want := `{"properties":{"user":{},"password":{}}}`; err != nil || string(form) != want {
		t.Errorf("the form is %s, %v", form, err)
	}
	if form, err = formOf(t.Context(), params); err != nil || !strings.Contains(string(form), "password") {
		t.Errorf("without the text the form is %s, %v", form, err)
	}
}

// Over HTTP one request has one answer: mcp-go would wait for ever to hand over a third.
func TestOneAnswer(t *testing.T) {
	t.Parallel()
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	for _, only := range []protocol.RequestId{protocol.NewRequestId(int64(1)), {}} {
		f := filter{server: &recorder{}, only: only, once: true}
		for n, want := range []int{1, 0, 0} {
			if passed, err := f.messages(answer); err != nil || len(passed) != want {
				t.Errorf("answer %d: %d pass, %v", n, len(passed), err)
			}
		}
	}
}

// A server that gives its tools new names all the time is given up: mcp-go keeps them.
func TestEndlessNewTools(t *testing.T) {
	t.Parallel()
	c := &conn{state: connState{named: map[string]bool{}}}
	schema := json.RawMessage(strings.Repeat("x", 1<<20))
	var err error
	for n := range 10_000 {
		if err = c.remember([]tool{{ToolStatus: ToolStatus{Name: fmt.Sprint("tool", n), Schema: schema}}}); err != nil {
			break
		}
		if again := c.remember([]tool{{ToolStatus: ToolStatus{Name: "tool0", Schema: schema}}}); again != nil {
			t.Fatal(again)
		}
	}
	if err == nil {
		t.Error("it goes on for ever")
	}
}
