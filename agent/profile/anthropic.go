package profile

import (
	"fmt"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/tool"
)

// anthropicBindings are the tools as Anthropic's models know them, under names
// that are the canonical ones (LOOP-30, LOOP-110).
var anthropicBindings = sync.OnceValue(func() []agent.Binding {
	return []agent.Binding{
		written(bind("Read", "Read", "read-anthropic", same[tool.ReadInput]), writeTabbed),
		bind("Write", "Write", "", same[tool.WriteInput]),
		bind("Edit", "Edit", "", specEdit.own),
		canonicalShell(),
		call("WriteStdin", "WriteStdin"),
		call("TaskOutput", "TaskOutput"),
		call("TaskStop", "TaskStop"),
		bind("Grep", "Grep", "", same[tool.GrepInput]),
		bind("Glob", "Glob", "", same[tool.GlobInput]),
		call("SpawnAgent", "SpawnAgent"),
		call("SendInput", "SendInput"),
		call("Wait", "Wait"),
		call("CloseAgent", "CloseAgent"),
	}
})

// writeTabbed writes lines as number, tab and text.
func writeTabbed(page env.Page, r agent.Result, cut func(string) string) string {
	if len(page.Lines) == 0 {
		return cut(r.Output)
	}
	var b strings.Builder
	for i, line := range page.Lines {
		fmt.Fprintf(&b, "%d\t%s\n", page.First+i, line)
	}
	return cut(b.String()) + remainder(page, "offset")
}

// remainder says how to read on, by the parameter for the first line.
func remainder(page env.Page, parameter string) string {
	if !page.More {
		return ""
	}
	last, of := page.First+len(page.Lines)-1, "more"
	if page.Total >= 0 {
		of = fmt.Sprint(page.Total)
	}
	return fmt.Sprintf("[Lines %d to %d of %s. Read on with %s %d.]\n", page.First, last, of, parameter, last+1)
}
