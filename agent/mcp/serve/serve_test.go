package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/mcp/serve"
)

// offer is a server of three tools: one that answers, one that fails, one that asks.
func offer(left func(string)) serve.Config {
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	return serve.Config{
		Name: "test", Version: "1", Instructions: "Use it well.", Left: left,
		Tools: []serve.Tool{
			{Spec: agent.Spec{Name: "Echo", Description: "Says it again.", Schema: schema, ReadOnly: true}},
			{Spec: agent.Spec{Name: "Fail", Schema: schema}},
			{Name: "ask_first", Spec: agent.Spec{Name: "AskFirst", Schema: schema}},
			{Spec: agent.Spec{Name: "Hang", Schema: schema}},
		},
		Call: func(ctx context.Context, c serve.Call) agent.Result {
			switch c.Tool {
			case "Echo":
				return agent.Result{Output: fmt.Sprintf("%s of %s", c.Input, c.Client.Name), Media: []llm.Media{{MIME: "image/png", Data: []byte("png")}}}
			case "AskFirst":
				answer, err := c.Ask(ctx, serve.Question{Message: "May it?", Choices: []serve.Choice{{"allow", "Yes"}, {"deny", "No"}}})
				if err != nil {
					return agent.Fail(err.Error())
				}
				return agent.Result{Output: "answered " + answer.Value + " " + answer.Words}
			case "Hang":
				c.Output("begun\n")
				<-ctx.Done()
				return agent.Fail("stopped")
			}
			return agent.Fail("It failed.")
		},
	}
}

// person answers elicitations.
type person struct{ answer mcp.ElicitationResult }

// Elicit implements [client.ElicitationHandler].
func (p person) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &p.answer, nil
}

func accepted(content map[string]any) person {
	return person{mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: content}}}
}

// overLines connects a client to a server over lines.
func overLines(t *testing.T, s *serve.Server, options ...client.ClientOption) *client.Client {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { ended <- s.Serve(ctx, fromClient, toClient) }()
	c := client.NewClient(transport.NewIO(fromServer, toServer, io.NopCloser(strings.NewReader(""))), options...)
	begin(t, c)
	t.Cleanup(func() {
		_ = toServer.Close()
		_ = fromServer.Close()
		cancel() // as a client does with a signal
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("serving ended with %v", err)
		}
	})
	return c
}

func begin(t *testing.T, c *client.Client) {
	t.Helper()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	request := mcp.InitializeRequest{}
	request.Params.ClientInfo = mcp.Implementation{Name: "tester", Version: "1"}
	request.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	if _, err := c.Initialize(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

func callTool(t *testing.T, c *client.Client, name string, arguments any) (text string, isError bool) {
	t.Helper()
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = name, arguments
	result, err := c.CallTool(t.Context(), request)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, content := range result.Content {
		switch content := content.(type) {
		case mcp.TextContent:
			text += content.Text
		case mcp.ImageContent:
			text += "+" + content.MIMEType
		}
	}
	return text, result.IsError
}

// eras are the ways in which a client may talk to a server: the newest protocol, and
// the last one with sessions.
var eras = map[string][]client.ClientOption{
	"newest": nil,
	"older":  {client.WithProtocolVersion(mcp.ProtocolVersion20251125)},
}

// OAS-415: a client lists tools, calls them, gets texts and pictures, and is told
// what failed.
func TestServe(t *testing.T) {
	t.Parallel()
	for era, options := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			c := overLines(t, serve.New(offer(nil)), options...)
			list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				if read := tool.Annotations.ReadOnlyHint; read == nil || *read != (tool.Name == "Echo") {
					t.Errorf("%s says of itself: %v", tool.Name, read)
				}
			}
			if diff := cmp.Diff([]string{"Echo", "Fail", "Hang", "ask_first"}, names); diff != "" {
				t.Error(diff)
			}
			if text, failed := callTool(t, c, "Echo", map[string]any{"text": "a"}); failed || text != `{"text":"a"} of tester+image/png` {
				t.Errorf("it answered %q, %v", text, failed)
			}
			if text, failed := callTool(t, c, "Echo", nil); failed || !strings.HasPrefix(text, "{} of") {
				t.Errorf("without arguments it answered %q, %v", text, failed)
			}
			if text, failed := callTool(t, c, "Fail", nil); !failed || text != "It failed." {
				t.Errorf("a failure is %q, %v", text, failed)
			}
		})
	}
}

// Approvals are requested from the person at the client, if the client can ask.
func TestAsk(t *testing.T) {
	t.Parallel()
	people := map[string]struct {
		person client.ElicitationHandler
		want   string
	}{
		"allows":       {accepted(map[string]any{"decision": "allow", "words": "but quickly"}), "answered allow but quickly"},
		"declines":     {person{mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionDecline}}}, "answered  "},
		"says nothing": {accepted(nil), "answered  "},
		"is nobody":    {nil, serve.ErrCannotAsk.Error()},
	}
	for era, options := range eras {
		for name, tt := range people {
			t.Run(era+" "+name, func(t *testing.T) {
				t.Parallel()
				with := options
				if tt.person != nil {
					with = append([]client.ClientOption{client.WithElicitationHandler(tt.person)}, options...)
				}
				s := serve.New(offer(nil))
				defer s.Close()
				if text, _ := callTool(t, overLines(t, s, with...), "ask_first", nil); text != tt.want {
					t.Errorf("it answered %q, want %q", text, tt.want)
				}
			})
		}
	}
}

// A call ends with its request, and the owner learns when a client leaves.
func TestCancel(t *testing.T) {
	t.Parallel()
	left := make(chan string, 1)
	s := serve.New(offer(func(id string) { left <- id }))
	t.Run("", func(t *testing.T) {
		c := overLines(t, s, eras["older"]...)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			request := mcp.CallToolRequest{}
			request.Params.Name = "Hang"
			_, err := c.CallTool(ctx, request)
			done <- err
		}()
		if text, _ := callTool(t, c, "Echo", nil); text == "" {
			t.Error("another call waited for one that hangs")
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the canceled call ended with %v", err)
		}
	})
	if id := <-left; id == "" {
		t.Error("nobody left")
	}
}

// The server answers any input of a client, or ends in order.
func TestHostileClient(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"garbage":          {"garbage\n", `"code":-32700`},
		"empty lines":      {"\n\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", `"id":1`},
		"a list":           {"[]\n", `"code"`},
		"nobody's answer":  {`{"jsonrpc":"2.0","id":7,"result":{}}` + "\n", ""},
		"an unknown tool":  {`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"../x"}}` + "\n", `"id":"x"`},
		"an unknown state": {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Echo","requestState":"stolen"}}` + "\n", "too late"},
		"a long line":      {strings.Repeat("x", 17<<20) + "\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", `"id":null,"error":{"code":-32600,`},
		"a long request":   {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"` + strings.Repeat("x", 17<<20) + `"}` + "\n", `"id":7,"error":{"code":-32600,`},
		"its id is last":   {`{"params":"` + strings.Repeat(`"id":9,`, 3<<20) + `","jsonrpc":"2.0","id":"a-1"}` + "\n", `"id":"a-1","error"`},
		"cut off":          {`{"jsonrpc":"2.0","id":1,"met`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := serve.New(offer(nil)).Serve(t.Context(), strings.NewReader(tt.in), &out)
			if err != nil {
				t.Errorf("it ended with %v", err)
			}
			if name == "a long line" && !strings.Contains(out.String(), `"id":1`) {
				t.Errorf("it answers nothing after that: %.200q", out.String())
			}
			if !strings.Contains(out.String(), tt.want) || tt.want == "" && out.Len() > 0 && name != "cut off" {
				t.Errorf("it answered %.200q, want %q in it", out.String(), tt.want)
			}
		})
	}
}

// A line that never ends is not read for ever.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := serve.New(offer(nil)).Serve(t.Context(), endless{}, &out); err == nil || !strings.Contains(err.Error(), "does not end") || out.Len() > 0 {
		t.Errorf("it ended with %v after %.200q", err, out.String())
	}
}

// endless is one line.
type endless struct{}

var filler = bytes.Repeat([]byte("x"), 64<<10)

func (endless) Read(p []byte) (int, error) { return copy(p, filler), nil }

// Over HTTP only a program of this machine that has the token is answered.
func TestHTTP(t *testing.T) {
	t.Parallel()
	s := serve.New(offer(nil))
	server := httptest.NewServer(s.Handler("secret"))
	defer server.Close()
	for era, options := range eras {
		connection, err := transport.NewStreamableHTTP(server.URL, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer secret"}))
		if err != nil {
			t.Fatal(err)
		}
		c := client.NewClient(connection, append([]client.ClientOption{client.WithElicitationHandler(accepted(map[string]any{"decision": "deny"}))}, options...)...)
		begin(t, c)
		if text, _ := callTool(t, c, "Echo", nil); !strings.Contains(text, "of tester") {
			t.Errorf("%s: it answered %q", era, text)
		}
		if text, _ := callTool(t, c, "ask_first", nil); text != "answered deny " {
			t.Errorf("%s: asked, it answered %q", era, text)
		}
		_ = c.Close()
	}
	tests := map[string]struct {
		header map[string]string
		host   string
		want   int
	}{
		"no token":        {nil, "", http.StatusUnauthorized},
		"a wrong token":   {map[string]string{"Authorization": "Bearer secre"}, "", http.StatusUnauthorized},
		"another's page":  {map[string]string{"Authorization": "Bearer secret", "Origin": "https://evil.example"}, "", http.StatusForbidden},
		"an opaque page":  {map[string]string{"Authorization": "Bearer secret", "Origin": "null"}, "", http.StatusForbidden},
		"a rebound name":  {map[string]string{"Authorization": "Bearer secret"}, "evil.example", http.StatusForbidden},
		"a similar name":  {map[string]string{"Authorization": "Bearer secret"}, "localhost.evil.example", http.StatusForbidden},
		"a page of here":  {map[string]string{"Authorization": "Bearer secret", "Origin": "http://localhost:3000"}, "", http.StatusOK},
		"an IPv6 address": {map[string]string{"Authorization": "Bearer secret"}, "[::1]:80", http.StatusOK},
	}
	for name, tt := range tests {
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for key, v := range tt.header {
			r.Header.Set(key, v)
		}
		if tt.host != "" {
			r.Host = tt.host
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != tt.want {
			t.Errorf("%s: %s, want %d", name, answer.Status, tt.want)
		}
	}
}

// OAS-413, OAS-414, COM-90: the tools of a program are served to its own sessions
// without a protocol, and to a foreign client with all of it.
func TestInProcess(t *testing.T) {
	t.Parallel()
	type question struct {
		City string `json:"city"`
	}
	weather := serve.NewInProcess("weather", "1.0", agent.Function(agent.Spec{Name: "get_weather", Description: "The weather of a city."},
		func(_ context.Context, q question) (string, error) {
			if q.City == "" {
				return "", errors.New("there is no city")
			}
			return "sun in " + q.City, nil
		}))
	tools := weather.Tools()
	if len(tools) != 1 || tools[0].Spec().Name != "mcp__weather__get_weather" {
		t.Fatalf("the tools are %v", tools)
	}
	if r := tools[0].Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{"city":"Bern"}`)}); r.Output != "sun in Bern" {
		t.Errorf("called directly: %+v", r)
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		conn := weather.Connect(ctx)
		c := client.NewClient(transport.NewIO(conn, conn, io.NopCloser(strings.NewReader(""))))
		begin(t, c)
		if text, failed := callTool(t, c, "get_weather", map[string]any{"city": "Bern"}); failed || text != "sun in Bern" {
			t.Errorf("over the protocol: %q, %v", text, failed)
		}
		for _, arguments := range []any{map[string]any{"city": ""}, map[string]any{"town": 1}, nil} {
			if text, failed := callTool(t, c, "get_weather", arguments); !failed {
				t.Errorf("%v: %q is not an error", arguments, text)
			}
		}
		cancel()
		if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the connection ended with %v", err)
		}
	}
	for name, bad := range map[string]func(){
		"a double underscore": func() { serve.NewInProcess("a__b", "1") },
		"a tool twice":        func() { serve.NewInProcess("a", "1", tools[0], tools[0]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			bad()
		}()
	}
}

// What was asked before the input ended is answered, as scripts expect that pipe requests
// into a server. A call that does not end is stopped after a while, and a question that
// nobody can answer any more at once.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{"Echo": "{} of script", "Hang": "context canceled", "ask_first": "the client has left"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"script","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}
`)
				var out strings.Builder
				if err := serve.New(offer(nil)).Serve(t.Context(), in, &out); err != nil {
					t.Fatal(err)
				}
				if got := out.String(); !strings.Contains(got, `"id":2,"`) || !strings.Contains(got, want) {
					t.Errorf("%s", got)
				}
			})
		})
	}
}
