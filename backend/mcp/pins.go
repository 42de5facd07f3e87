package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"sync"

	"atelier.dev/atelier/agent/changes"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
)

// Limits of what is kept of tools, in bytes. Of a tool beyond them only the seal is
// kept.
const (
	maxPin  = 32 << 10
	maxPins = 1 << 20 // of a server
)

// maxSeen limits how many tools of a server are accepted because nobody has seen them
// before. If a server keeps inventing names, its further tools wait for the user.
const maxSeen = 2000

// pin is a tool as the user accepted it: as it was when it was first seen, or as it
// was shown after a change.
type pin struct {
	Seal string `json:"seal"`
	Text string `json:"text,omitempty"` // see [definitionOf]
}

// pinned are the accepted tools of a server.
type pinned struct {
	ID    string         `json:"id"` // of the definition; another one starts afresh
	Tools map[string]pin `json:"tools"`
}

// pins keeps what was accepted.
type pins struct {
	changing sync.Mutex // held while something is stored
	mu       sync.Mutex
	read     map[string]pinned // by key of a server; the values do not change
}

const keyPins = "mcp.tools." // and the key of a server

// definitionOf is what a model is told of a tool, and what is believed of it.
func definitionOf(t client.ToolStatus) string {
	hints := map[string]bool{"readOnly": t.ReadOnly, "destructive": t.Destructive}
	var out bytes.Buffer
	_ = json.Indent(&out, settings.Encode(struct {
		Name        string          `json:"name"`
		Title       string          `json:"title,omitempty"`
		Description string          `json:"description"`
		Hints       map[string]bool `json:"hints"`
		Schema      json.RawMessage `json:"schema,omitempty"`
	}{t.Name, t.Title, t.Description, hints, schemaOf(t)}), "", "  ") // texts and read JSON have a form
	return out.String()
}

func schemaOf(t client.ToolStatus) json.RawMessage {
	if !json.Valid(t.Schema) {
		return settings.Encode(string(t.Schema))
	}
	return t.Schema
}

func sealOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// pinsOf returns what was accepted of a server. Tools that nobody has seen before are
// accepted as they are.
func (s *Servers) pinsOf(ctx context.Context, d *definition, tools []client.ToolStatus) pinned {
	p, err := s.pinned(ctx, d)
	if err != nil {
		slog.Warn("could not read which tools were accepted", "server", d.draft.Name, "err", err)
		return p
	}
	for _, t := range tools {
		if _, ok := p.Tools[t.Name]; !ok && len(p.Tools) < maxSeen {
			return s.see(ctx, d, tools)
		}
	}
	return p
}

// see accepts the tools that nobody has seen before.
func (s *Servers) see(ctx context.Context, d *definition, tools []client.ToolStatus) pinned {
	p, err := s.changePins(ctx, d, func(accepted map[string]pin) {
		var unseen []client.ToolStatus
		for _, t := range tools {
			if _, ok := accepted[t.Name]; !ok && len(accepted)+len(unseen) < maxSeen {
				unseen = append(unseen, t)
			}
		}
		accept(accepted, unseen...)
	})
	if err != nil {
		slog.Warn("could not keep which tools were accepted", "server", d.draft.Name, "err", err)
	}
	return p
}

func accept(accepted map[string]pin, tools ...client.ToolStatus) {
	kept := 0
	for _, o := range accepted {
		kept += len(o.Text)
	}
	for _, t := range tools {
		kept -= len(accepted[t.Name].Text)
		text := definitionOf(t)
		p := pin{Seal: sealOf(text)}
		if len(text) <= maxPin && kept+len(text) <= maxPins {
			p.Text = text
			kept += len(text)
		}
		accepted[t.Name] = p
	}
}

// pinned reads what was accepted of a server.
func (s *Servers) pinned(ctx context.Context, d *definition) (pinned, error) {
	s.pins.mu.Lock()
	p, ok := s.pins.read[key(d)]
	s.pins.mu.Unlock()
	if ok && p.ID == d.id() {
		return p, nil
	}
	text, err := s.cfg.Store.Setting(ctx, keyPins+key(d))
	if err != nil {
		return pinned{ID: d.id()}, err
	}
	p = pinned{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			return pinned{ID: d.id()}, backend.Problem(backend.ProblemSettingDamaged, keyPins+d.draft.Name).Because(err)
		}
	}
	if p.ID != d.id() {
		p = pinned{ID: d.id()}
	}
	s.pins.mu.Lock()
	defer s.pins.mu.Unlock()
	s.pins.read[key(d)] = p
	return p, nil
}

// changePins changes what was accepted. A change that could not be stored holds
// until the program ends.
func (s *Servers) changePins(ctx context.Context, d *definition, change func(map[string]pin)) (pinned, error) {
	s.pins.changing.Lock()
	defer s.pins.changing.Unlock()
	before, err := s.pinned(ctx, d)
	if err != nil {
		return before, err
	}
	after := pinned{before.ID, maps.Clone(before.Tools)}
	if after.Tools == nil {
		after.Tools = map[string]pin{}
	}
	change(after.Tools)
	s.pins.mu.Lock()
	s.pins.read[key(d)] = after
	s.pins.mu.Unlock()
	b, err := json.Marshal(after)
	if err != nil {
		return after, fmt.Errorf("keep which tools were accepted: %w", err)
	}
	return after, s.cfg.Store.SetSetting(context.WithoutCancel(ctx), keyPins+key(d), string(b))
}

// changed reports whether a tool differs from what was accepted, and returns what
// that was.
func (p pinned) changed(t client.ToolStatus) (ServerToolBefore, bool) {
	accepted, ok := p.Tools[t.Name]
	text := definitionOf(t)
	if ok && accepted.Seal == sealOf(text) {
		return ServerToolBefore{}, false
	}
	var before struct {
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
	}
	if accepted.Text == "" || json.Unmarshal([]byte(accepted.Text), &before) != nil {
		return ServerToolBefore{}, true
	}
	return ServerToolBefore{Diff: changes.Unified(accepted.Text, text, 3), Description: before.Description, Schema: before.Schema}, true
}

// AcceptTool is mcp.accept_tool.
func (s *Servers) AcceptTool(ctx context.Context, in ServerToolAcceptRequest) (backend.Empty, error) {
	d, tool, err := s.connectedTool(in.Server, in.Tool)
	if err != nil {
		return backend.Empty{}, err
	}
	if sealOf(definitionOf(tool)) != in.Seal {
		return backend.Empty{}, backend.Problem(backend.ProblemServerToolSealed, in.Server, clip(in.Tool))
	}
	_, err = s.changePins(ctx, d, func(accepted map[string]pin) { accept(accepted, tool) })
	s.cfg.Changed()
	return backend.Empty{}, err
}

// connectedTool finds a tool of a server that is connected, or was.
func (s *Servers) connectedTool(server, tool string) (*definition, client.ToolStatus, error) {
	s.mu.Lock()
	d := s.last.wanted[server]
	s.mu.Unlock()
	if d == nil {
		return nil, client.ToolStatus{}, backend.Problem(backend.ProblemServerMissing, clip(server))
	}
	for _, status := range s.manager.Status() {
		for _, t := range status.Tools {
			if status.Name == server && t.Name == tool {
				return d, t, nil
			}
		}
	}
	return nil, client.ToolStatus{}, backend.Problem(backend.ProblemServerTool, server, clip(tool))
}
