package workbench

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/feed"
	"atelier.dev/atelier/backend/tsgen"
)

var update = flag.Bool("update", false, "rewrite generated files and goldens")

const typesFile = "../../frontend/src/lib/types.gen.ts"

// The front end's types are generated from the Go types. The test fails if they
// differ; `make gen` writes them.
func TestTypeScriptIsUpToDate(t *testing.T) {
	got := typeScript(t)
	if *update {
		if err := os.WriteFile(typesFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(typesFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date; run: make gen", typesFile)
	}
}

// enumPackages are the folders of the packages whose constants the page knows.
var enumPackages = []string{
	".",
	"..",
	"../../agent",
	"../../agent/changes",
	"../../agent/contextinfo",
	"../../agent/contextir",
	"../../agent/llm",
	"../../agent/lsp",
	"../../agent/mcp",
	"../../agent/permission/rule",
	"../../agent/project",
	"../../agent/sandbox/confine",
	"../../agent/schedule",
	"../../agent/skill",
	"../../agent/trace",
	"../../agent/worktree",
	"../../internal/outbound",
	"../attach",
	"../audit",
	"../authors",
	"../branch",
	"../contexts",
	"../filechanges",
	"../guard",
	"../hooks",
	"../mcp",
	"../memo",
	"../models",
	"../preview",
	"../projects",
	"../reading",
	"../redact",
	"../review",
	"../schedules",
	"../sessionlist",
	"../share",
	"../skills",
	"../tasklist",
	"../toolbox",
	"../transfer",
	"../undoing",
	"../transcript/watch",
}

func typeScript(t *testing.T) []byte {
	t.Helper()
	enums, err := tsgen.Enums(enumPackages...)
	if err != nil {
		t.Fatal(err)
	}
	g := &tsgen.Generator{
		Enums: enums,
		Overrides: map[string]string{
			"Empty":    "Record<string, never>",
			"ToolCall": "{ id: string; wire_id?: string; name: string; arguments: string }",
			"Event":    eventUnion(),
			"Cost":     "number", // US dollars
		},
	}
	for _, p := range agent.Payloads() {
		g.Declare(reflect.TypeOf(p))
	}
	g.Declare(reflect.TypeFor[feed.Envelope]())
	g.Declare(reflect.TypeFor[backend.Error]())

	var methods bytes.Buffer
	d := (&Workbench{}).dispatcher()
	for _, name := range d.Names() {
		m, _ := d.Method(name)
		fmt.Fprintf(&methods, "  %q: { args: %s; reply: %s }\n", name, g.Declare(m.In), g.Declare(m.Out))
	}
	var out bytes.Buffer
	out.WriteString("// Written from the Go types by `make gen`. Do not edit.\n/* eslint-disable */\n\n")
	out.WriteString(g.Declarations())
	fmt.Fprintf(&out, "export interface Methods {\n%s}\n", methods.String())
	return out.Bytes()
}

func eventUnion() string {
	var b bytes.Buffer
	b.WriteString("{ session_id: string; seq?: number; turn?: number; at: number } & (")
	for _, p := range agent.Payloads() {
		fmt.Fprintf(&b, "\n  | { kind: %q; data: %s }", p.Kind(), reflect.TypeOf(p).Name())
	}
	b.WriteString("\n)")
	return b.String()
}
