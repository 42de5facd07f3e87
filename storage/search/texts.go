package search

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

// maxSide is how much of a text is indexed at its beginning and at its end, in
// bytes, and maxPaths how many files of a call.
const (
	maxSide  = 32 << 10
	maxPaths = 200
)

// doc is one text of an event.
type doc struct {
	at    int64
	seq   int64
	kind  agent.Kind
	part  backend.TextPart
	call  string
	tool  string
	model string
	text  string
	paths []string // folded
}

// docsOf returns the texts of an event. model is the one that is at work, and
// folder that of the session.
func docsOf(ev agent.Event, model, folder string) []doc {
	var out []doc
	tool, paths := about(ev, folder)
	for _, t := range backend.TextsOf(ev) {
		text := bounded(t.Text)
		if strings.TrimSpace(text) == "" && len(paths) == 0 {
			continue
		}
		out = append(out, doc{
			at: ev.At, seq: ev.Seq, kind: ev.Kind(), part: t.Part, call: t.Of, tool: tool, model: model, text: text, paths: paths,
		})
	}
	return out
}

// about returns the tool of a call and the files that an event says were read or
// changed.
func about(ev agent.Event, folder string) (tool string, paths []string) {
	add := func(path string) {
		if path == "" || len(paths) >= maxPaths {
			return
		}
		if below, err := filepath.Rel(folder, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(below) {
			path = below
		}
		paths = append(paths, fold(text.Head(strings.ToValidUTF8(filepath.ToSlash(path), "�"), maxQuery)))
	}
	switch d := ev.Data.(type) {
	case agent.ToolCallStart:
		tool = d.Tool
		var named struct {
			File string `json:"file_path"`
			Path string `json:"path"`
		}
		if json.Unmarshal([]byte(d.Input), &named) == nil {
			add(named.File)
			add(named.Path)
		}
	case agent.ToolCallEnd:
		tool = d.Tool
		if d.Details != nil {
			for _, change := range d.Details.Changes {
				add(change.Path)
				add(change.MovedTo)
			}
		}
	}
	if _, changed := agent.Recorded(ev.Data); changed != nil {
		for _, file := range changed.Files {
			add(file.Path)
		}
	}
	return tool, paths
}

// bounded returns the beginning and the end of a text.
func bounded(s string) string {
	if len(s) > 2*maxSide {
		s = text.Head(s, maxSide) + "\n…\n" + text.Tail(s, maxSide)
	}
	return strings.ToValidUTF8(s, "�")
}

// modelOf returns the model that is at work from an event on.
func modelOf(ev agent.Event, before string) string {
	switch d := ev.Data.(type) {
	case agent.SettingsChange:
		return d.Settings.Provider + "/" + d.Settings.Model
	case agent.TextEnd:
		return d.Provider + "/" + d.Model
	}
	return before
}

// titleOf returns what names a session, as a text of its own.
func titleOf(info backend.SessionInfo) doc {
	text := info.Title
	for _, tag := range info.Marks.Tags {
		text += "\n#" + tag
	}
	if info.Marks.Label != "" {
		text += "\n" + info.Marks.Label
	}
	return doc{at: info.CreatedAt, kind: agent.KindTitle, part: backend.PartMessage, text: bounded(text)}
}
