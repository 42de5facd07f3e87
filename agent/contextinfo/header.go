package contextinfo

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm/tokens"
)

// HeaderItem is something that stands before a conversation in every request, in
// tokens by estimate.
type HeaderItem struct {
	Type contextir.ItemType `json:"type"`
	// Name is the path of a document, the id of a server, or the name of a tool as models
	// know it; empty for the others.
	Name   string `json:"name,omitempty"`
	Tokens int64  `json:"tokens"`
	// Count is how many tools of a server there are; 0 for the others.
	Count int `json:"count,omitempty"`
}

func (h *HeaderItem) kind() ContextKind {
	switch h.Type {
	case contextir.Memory:
		return ContextDocuments
	case contextir.SystemPrompt, contextir.SystemEnv, contextir.GitEnv:
		return ContextSystem
	}
	return ContextTools
}

// Segment returns the part of the context that the item belongs to.
func (h *HeaderItem) Segment() contextir.SegmentName { return contextir.SegmentOf(h.Type) }

var (
	environment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<environment>.*?</environment>`) })
	repository  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<repository>.*?</repository>`) })
)

// headerOf returns what stands before a conversation. The tools of one server are
// one item.
func headerOf(counter *tokens.Counter, briefing agent.Briefing, tools *agent.Toolset) []HeaderItem {
	var items []HeaderItem
	system := int64(counter.Text(briefing.System))
	share := func(bytes int) int64 { return system * int64(bytes) / int64(max(1, len(briefing.System))) }
	rest := system
	add := func(kind contextir.ItemType, name string, n int64) {
		if n = min(n, rest); n > 0 {
			items = append(items, HeaderItem{Type: kind, Name: name, Tokens: n})
			rest -= n
		}
	}
	add(contextir.SystemEnv, "", share(len(environment().FindString(briefing.System))))
	add(contextir.GitEnv, "", share(len(repository().FindString(briefing.System))))
	for _, d := range briefing.Documents {
		add(contextir.Memory, d.Path, share(d.Told))
	}
	items = slices.Insert(items, 0, HeaderItem{Type: contextir.SystemPrompt, Tokens: rest})

	servers := map[string]int{}
	for _, t := range tools.Definitions() {
		n := int64(counter.Text(t.Name) + counter.Text(t.Description) + counter.Text(string(t.Schema)))
		item := HeaderItem{Type: contextir.ToolStrategy, Name: t.Name, Tokens: n}
		switch tool := tools.Canonical(t.Name); {
		case strings.HasPrefix(tool, "mcp__"):
			server, _, _ := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
			if at, ok := servers[server]; ok {
				items[at].Tokens += n
				items[at].Count++
				continue
			}
			servers[server] = len(items)
			item.Type, item.Name, item.Count = contextir.MCPTool, server, 1
		case tool == "Skill":
			item.Type = contextir.SkillStrategy
		case tool == "Agent" || tool == "Task":
			item.Type = contextir.SubagentStrategy
		}
		items = append(items, item)
	}
	if items[0].Tokens == 0 {
		items = items[1:]
	}
	slices.SortStableFunc(items, func(a, b HeaderItem) int { return cmp.Compare(b.Type.Priority(), a.Type.Priority()) })
	return items
}
