package wire

import (
	"fmt"

	"atelier.dev/atelier/agent/llm"
)

// encodedTools are the tools of recent requests. A session shows the same tools
// with every request, and their schemas are 20 KB, so they are encoded once.
type encodedTools struct {
	specs []llm.ToolSpec
	items []byte
}

// maxTools limits the lists of tools that are kept.
const maxTools = 8

// Tools returns the tools of a request, which encode brings into the form of an
// API, as an array in pieces for [Call.Add]. mark is inserted before the end of
// the last tool. Two requests have the same tools if they share the same slice.
func Tools[Item any](e *Encodings, specs []llm.ToolSpec, mark string, encode func([]llm.ToolSpec) []Item) ([][]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.tools {
		if len(t.specs) == len(specs) && &t.specs[0] == &specs[0] {
			return marked(t.items, mark), nil
		}
	}
	items, err := joined(encode(specs))
	if err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	e.tools = append(e.tools, encodedTools{specs, items})
	e.tools = e.tools[max(0, len(e.tools)-maxTools):]
	return marked(items, mark), nil
}

// marked returns items as an array, with mark before the last one's end.
func marked(items []byte, mark string) [][]byte {
	last := len(items) - len("}")
	return [][]byte{bracket, items[:last], []byte(mark), items[last:], bracketEnd}
}
