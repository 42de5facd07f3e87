package wire_test

import (
	"bytes"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// LLM-17: the tools of a session are encoded once, byte for byte, and marked
// for each request; other tools are encoded anew.
func TestTools(t *testing.T) {
	t.Parallel()
	type spec struct {
		Name string `json:"name"`
	}
	var e wire.Encodings
	encoded := 0
	shown := func(tools []llm.ToolSpec, mark string) string {
		pieces, err := wire.Tools(&e, tools, mark, func(tools []llm.ToolSpec) []spec {
			encoded++
			var out []spec
			for _, tool := range tools {
				out = append(out, spec{tool.Name})
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes.Join(pieces, nil))
	}
	tools := []llm.ToolSpec{{Name: "Read"}, {Name: "<Write>"}}
	for _, tt := range []struct {
		tools []llm.ToolSpec
		mark  string
		want  string
		times int
	}{
		{tools, "", `[{"name":"Read"},{"name":"<Write>"}]`, 1},
		{tools, `,"m":1`, `[{"name":"Read"},{"name":"<Write>","m":1}]`, 1},
		{tools, "", `[{"name":"Read"},{"name":"<Write>"}]`, 1},
		{tools[:1], "", `[{"name":"Read"}]`, 2},
		{[]llm.ToolSpec{{Name: "Other"}, tools[1]}, "", `[{"name":"Other"},{"name":"<Write>"}]`, 3},
	} {
		if got := shown(tt.tools, tt.mark); got != tt.want || encoded != tt.times {
			t.Errorf("%s, encoded %d times; want %s, %d times", got, encoded, tt.want, tt.times)
		}
	}
}
