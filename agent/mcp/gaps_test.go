package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"atelier.dev/atelier/agent/mcp/mcptest"
)

// The tests of this file are about mcp-go alone. One that fails says that mcp-go does now
// what this package does in its place, so that our part can go.

// bare is mcp-go's transport to a handler, without anything of ours.
func bare(t *testing.T, handler http.HandlerFunc) *transport.StreamableHTTP {
	t.Helper()
	c, err := transport.NewStreamableHTTP("http://server.test/mcp", transport.WithHTTPBasicClient(&http.Client{Transport: mcptest.InProcess{Handler: handler}}),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func stream(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
}

var anyRequest = transport.JSONRPCRequest{JSONRPC: "2.0", ID: protocol.NewRequestId(int64(1)), Method: "tools/call"}

func TestGapRequestsOverSSE(t *testing.T) {
	t.Parallel()
	if _, ok := any(&transport.SSE{}).(transport.BidirectionalInterface); ok {
		t.Error("mcp-go takes requests over SSE: filter need not")
	}
}

func TestGapSlowAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answered atomic.Bool
		c := bare(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), `"result"`) {
				answered.Store(r.Context().Err() == nil)
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\"}\n\n")
			select {
			case <-time.After(2 * time.Minute):
			case <-r.Context().Done():
			}
		})
		c.SetRequestHandler(func(_ context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
			time.Sleep(time.Minute)
			return transport.NewJSONRPCResultResponse(r.ID, json.RawMessage("{}")), nil
		})
		_, _ = c.SendRequest(t.Context(), anyRequest)
		synctest.Wait()
		if answered.Load() {
			t.Error("mcp-go sends an answer after a minute: filter need not take requests over HTTP")
		}
	})
}

func TestGapBatches(t *testing.T) {
	t.Parallel()
	if _, err := bare(t, stream("data: [{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]\n\n")).SendRequest(t.Context(), anyRequest); err == nil {
		t.Error("mcp-go reads batches: filter need not split them")
	}
}

func TestGapForeignAnswers(t *testing.T) {
	t.Parallel()
	const both = "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
	if r, err := bare(t, stream(both)).SendRequest(t.Context(), anyRequest); err != nil || r.ID.String() == anyRequest.ID.String() {
		t.Errorf("mcp-go passes over the answer to another request: filter need not drop it (%v, %v)", r, err)
	}
}

// One entry that cannot be read makes mcp-go refuse the whole list.
func TestGapUnreadableEntries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		result string
		read   func(json.RawMessage) error
	}{
		"tools":     {`{"tools":[{"name":"a","inputSchema":{}},{"name":7}]}`, into[protocol.ListToolsResult]},
		"resources": {`{"resources":[{"uri":"a:b","name":"a"},{"uri":7}]}`, into[protocol.ListResourcesResult]},
		"templates": {`{"resourceTemplates":[{"uriTemplate":"a:b","name":"a"},{"uriTemplate":"{"}]}`, into[protocol.ListResourceTemplatesResult]},
		"prompts":   {`{"prompts":[{"name":"a"},{"name":7}]}`, into[protocol.ListPromptsResult]},
		"content":   {`{"content":[{"type":"text","text":"a"},{"type":"hologram"}]}`, func(r json.RawMessage) error { _, err := protocol.ParseCallToolResult(&r); return err }},
		"task":      {`{"task":{"taskId":"t","status":"working"}}`, func(r json.RawMessage) error { _, err := protocol.ParseCallToolResult(&r); return err }},
		"contents":  {`{"contents":[{"uri":"a:b","text":"a"},{"uri":"a:c"}]}`, func(r json.RawMessage) error { _, err := protocol.ParseReadResourceResult(&r); return err }},
		"messages": {`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
			func(r json.RawMessage) error { _, err := protocol.ParseGetPromptResult(&r); return err }},
	} {
		if tt.read(json.RawMessage(tt.result)) == nil {
			t.Errorf("mcp-go reads a result of which one entry cannot be read: readable need not repair %s", name)
		}
	}
}

func into[T any](text json.RawMessage) error {
	var v T
	return json.Unmarshal(text, &v)
}

// What mcp-go's types lose of what a server wrote.
func TestGapLostMembers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, lost string
		again      func(string) (any, error)
	}{
		"keywords of a schema": {`{"name":"a","inputSchema":{"type":"object","oneOf":[{}]}}`, "oneOf", again[protocol.Tool]},
		"the order of a form":  {`{"requestedSchema":{"properties":{"b":{},"a":{}}}}`, `"b":{},"a":{}`, again[protocol.ElicitationParams]},
		"a temperature of 0":   {`{"messages":[],"maxTokens":1,"temperature":0}`, "temperature", again[protocol.CreateMessageParams]},
		"the task of a call":   {`{"content":[],"task":{"taskId":"t"}}`, "taskId", again[protocol.CallToolResult]},
	} {
		v, err := tt.again(tt.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text, err := json.Marshal(v); err != nil || strings.Contains(string(text), tt.lost) {
			t.Errorf("mcp-go keeps %s: %s, %v", name, text, err)
		}
	}
}

func again[T any](text string) (any, error) {
	var v T
	err := json.Unmarshal([]byte(text), &v)
	return v, err
}

func TestGapFirstAnswer(t *testing.T) {
	t.Parallel()
	c := client.NewClient(bare(t, func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&call)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, call.ID)
	}))
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), protocol.InitializeRequest{}); err != nil {
		t.Errorf("mcp-go looks at the versions in the first answer: wire.first need not (%v)", err)
	}
}
