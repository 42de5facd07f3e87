// Command server offers the tools that the official conformance suite calls, through
// the package that atelier mcp serve offers its own with. It prints its address and
// its token, and ends with its input.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/mcp/serve"
)

var (
	plain = json.RawMessage(`{"type":"object"}`)
	// keywords has what a schema of 2020-12 can have, which has to reach clients as it
	// is.
	keywords = json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}, "contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]}, "then": {"required": ["phone"]}, "else": {"required": ["email"]},
		"additionalProperties": false
	}`)
)

var (
	picture = llm.Media{MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	sound   = llm.Media{MIME: "audio/wav", Data: []byte("RIFF\x24\x00\x00\x00WAVE")}
	file    = llm.Media{MIME: "application/json", Name: "data.json", Data: []byte(`{"test":"data"}`)}
)

// results are what the tools return.
var results = map[string]agent.Result{
	"test_simple_text":            {Output: "This is a text."},
	"test_image_content":          {Media: []llm.Media{picture}},
	"test_audio_content":          {Media: []llm.Media{sound}},
	"test_embedded_resource":      {Media: []llm.Media{file}},
	"test_multiple_content_types": {Output: "These are several things.", Media: []llm.Media{picture, file}},
	"test_error_handling":         agent.Fail("This tool fails."),
	"test_tool_with_progress":     {Output: "Done."},
	"json_schema_2020_12_tool":    {Output: "Taken."},
}

func call(ctx context.Context, c serve.Call) agent.Result {
	if c.Tool == "test_tool_with_progress" {
		for n := range 4 {
			c.Output(fmt.Sprintf("step %d\n", n))
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return results[c.Tool]
}

func main() {
	cfg := serve.Config{Name: "conformance", Version: "1", Call: call}
	for name := range results {
		schema := plain
		if name == "json_schema_2020_12_tool" {
			schema = keywords
		}
		cfg.Tools = append(cfg.Tools, serve.Tool{Spec: agent.Spec{Name: name, Description: "A tool for tests.", Schema: schema}})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	token := rand.Text()
	mux := http.NewServeMux()
	mux.Handle("/mcp", serve.New(cfg).Handler(token))
	go func() { // ends the program with its input
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = listener.Close()
	}()
	fmt.Printf("http://%s/mcp\nAuthorization: Bearer %s\n", listener.Addr(), token)
	server := http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	_ = server.Serve(listener) // until the input ends
}
