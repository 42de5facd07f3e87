package serve_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The validation that mcp-go offers works with the package that go.mod puts in the
// place of the one that it was written for (third_party/jsonschema).
func TestSchemaValidationWorks(t *testing.T) {
	s := server.NewMCPServer("test", "1", server.WithInputSchemaValidation(), server.WithOutputSchemaValidation())
	result := map[string]any{"count": 1}
	tool := mcp.NewToolWithRawSchema("Count", "", json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#",
		"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"most":{"type":"integer"}},"required":["names"]}`))
	tool.RawOutputSchema = json.RawMessage(`{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`)
	s.AddTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(result, "counted"), nil
	})
	c, err := client.NewInProcessClient(s)
	if err != nil {
		t.Fatal(err)
	}
	begin(t, c)
	for arguments, want := range map[string]string{
		`{"names":["a"],"most":3}`:   "",
		`{"names":["a",1]}`:          "/properties/names/items",
		`{"names":["a"],"most":1.5}`: "/properties/most",
		`{}`:                         "names",
	} {
		text, failed := callTool(t, c, "Count", json.RawMessage(arguments))
		if failed != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s: %q, failed is %v; want %q", arguments, text, failed, want)
		}
	}
	result = map[string]any{"count": "one"}
	if text, failed := callTool(t, c, "Count", json.RawMessage(`{"names":[]}`)); !failed || !strings.Contains(text, "/properties/count") {
		t.Errorf("a wrong result: %q, failed is %v", text, failed)
	}
}
