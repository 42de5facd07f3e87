package monitor

import (
	"cmp"

	"atelier.dev/atelier/agent"
)

// wide is a call as any model sends it.
type wide struct {
	Command     string `json:"command,omitempty"`
	Cmd         string `json:"cmd,omitempty"`
	Description string `json:"description,omitempty"`
	TimeoutMs   int64  `json:"timeout_ms,omitempty"`
	Timeout     int64  `json:"timeout,omitempty"`
	Persistent  bool   `json:"persistent,omitempty"`
	Workdir     string `json:"workdir,omitempty"`
	DirPath     string `json:"dir_path,omitempty"`
}

func (w wide) own() (Input, error) {
	return Input{
		Command: cmp.Or(w.Command, w.Cmd), Description: w.Description, TimeoutMs: cmp.Or(w.TimeoutMs, w.Timeout),
		Persistent: w.Persistent, Workdir: cmp.Or(w.Workdir, w.DirPath),
	}, nil
}

func bindings() map[string][]agent.Binding {
	others := []agent.Binding{agent.Understand[Input](Name, "monitor", wide.own)}
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[Input](Name, Name, wide.own)},
		"openai":    others, "gemini": others, "spec": others,
	}
}
