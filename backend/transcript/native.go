package transcript

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// Format and Version name our own format: one JSON object with the format's name and
// version, the session's row, and all events of its log in order.
const (
	Format  = "atelier-session"
	Version = 1
)

// ErrNewer is the error of a file that a newer Atelier wrote.
var ErrNewer = errors.New("the file was written by a newer version of Atelier")

// WriteNative writes a session in our own format.
func WriteNative(w io.Writer, info backend.SessionInfo, events iter.Seq2[agent.Event, error]) error {
	out := bufio.NewWriter(w)
	head, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("encode the session: %w", err)
	}
	fmt.Fprintf(out, "{\"format\":%q,\"version\":%d,\"session\":%s,\"events\":[", Format, Version, head)
	sep := "\n"
	for ev, err := range events {
		if err != nil {
			return err
		}
		line, err := json.Marshal(ev)
		if err != nil {
			return fmt.Errorf("encode an event: %w", err)
		}
		fmt.Fprintf(out, "%s%s", sep, line)
		sep = ",\n"
	}
	fmt.Fprint(out, "\n]}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the session: %w", err)
	}
	return nil
}

// readNative reads our own format. Events of kinds that it does not know are counted
// as not understood, also in the file of a newer Atelier with the same version of
// the format.
func readNative(ctx context.Context, file io.Reader, size int64, b *builder) error {
	d := newDocument(ctx, io.LimitReader(file, size))
	n := &native{b: b}
	err := d.members(func(name string) error {
		if name == "events" {
			return d.elements(func(raw json.RawMessage) bool { n.add(raw); return !b.stopped })
		}
		raw, err := d.value()
		if err != nil {
			return err
		}
		switch name {
		case "version":
			if v := 0; json.Unmarshal(raw, &v) != nil || v > Version {
				return ErrNewer
			}
		case "session":
			var info backend.SessionInfo
			if json.Unmarshal(raw, &info) == nil {
				b.found.ID, b.found.Folder = info.ID, info.Folder
			}
		}
		return nil
	})
	if errors.Is(err, errStopped) {
		return nil
	}
	if err == nil && n.open {
		b.emit(agent.ProcessingEnd{Reason: agent.EndInterrupted})
	}
	return err
}

// native adds the events of our own format.
type native struct {
	b    *builder
	seqs []int64 // the places of the added events in the file's log
	open bool    // a turn has not ended
}

// ownSkill returns a skill's use without the model that it chose: what it forbids is
// kept, what it could spend is not.
func ownSkill(use *agent.SkillUse) *agent.SkillUse {
	if use == nil {
		return nil
	}
	own := *use
	own.Provider, own.Model, own.Effort = "", "", ""
	return &own
}

// plainID matches our ids. An id may become part of a file's name.
var plainID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,127}$`) })

func (n *native) add(raw json.RawMessage) {
	var ev agent.Event
	if json.Unmarshal(raw, &ev) != nil || !ev.Durable() || ev.Turn < 0 || ev.Turn > MaxLines {
		n.b.found.Skipped++
		return
	}
	data, known := n.taken(ev.Data)
	if !known {
		n.b.found.Skipped++
	}
	if data == nil {
		return
	}
	switch data.(type) {
	case agent.UserInput, agent.TurnContinued:
		n.open = true
	case agent.ProcessingEnd:
		n.open = false
	}
	n.seqs = append(n.seqs, ev.Seq)
	n.b.turn.number = ev.Turn
	n.b.when(time.UnixMilli(ev.At))
	n.b.emit(data)
}

// taken returns what is taken over of an event: nil for what belongs to the other
// session alone, such as its briefing, its worktree and its marks. Everything that a
// stranger could use to act here is removed: settings that allow everything, a
// provider's own bytes, records of files that could be restored. It reports false for
// an event that makes no sense.
func (n *native) taken(p agent.Payload) (agent.Payload, bool) {
	switch d := p.(type) {
	case agent.SessionStart, agent.SessionEnd, agent.Briefing, agent.BriefingUpdate, agent.PromptSuggestion, agent.Forked,
		agent.Imported, agent.FilesRestored, agent.RateLimitReport, agent.ApprovalRequest, agent.ApprovalAnswer:
		return nil, true
	case agent.SettingsChange:
		if d.Settings.Mode == agent.ModeBypass {
			d.Settings.Mode = agent.ModeDefault
		}
		return d, true
	case agent.SessionMarks:
		return agent.SessionMarks{Tags: d.Tags, Label: d.Label}, true
	case agent.UserInput:
		d.QueueID, d.Skill = "", ownSkill(d.Skill)
		return d, true
	case agent.SteeringInjected:
		d.QueueID = ""
		return d, true
	case agent.TextEnd:
		strange := func(c llm.ToolCall) bool { return !plainID().MatchString(c.ID) }
		if d.Message.Role != llm.RoleAssistant || slices.ContainsFunc(d.Message.Calls(), strange) {
			return nil, false
		}
		d.Message.Parts = ownParts(d.Message.Parts)
		return d, true
	case agent.ToolCallStart:
		return valid(d, d.CallID)
	case agent.ToolCallEnd:
		d.Files = nil
		if d.Details != nil {
			d.Details.Agent, d.Details.Skill = nil, ownSkill(d.Details.Skill)
		}
		return valid(d, d.CallID)
	case agent.HookEnd:
		d.ID, d.Files = "", nil
		return d, true
	case agent.LocalCommandStart:
		return d, true
	case agent.LocalCommandEnd:
		d.Files = nil
		return d, true
	case agent.CompactionUndone:
		at, found := slices.BinarySearch(n.seqs, d.Compaction)
		if !found {
			return nil, false
		}
		d.Compaction = n.b.before + int64(at) + 1
		return d, true
	case agent.Rewound:
		// The place among the events that were taken over.
		at, _ := slices.BinarySearch(n.seqs, d.To+1)
		d.To = n.b.before + int64(at)
		return d, true
	}
	return p, true
}

// valid returns a payload if its id looks like one of ours.
func valid(p agent.Payload, id string) (agent.Payload, bool) {
	if !plainID().MatchString(id) {
		return nil, false
	}
	return p, true
}

// ownParts returns the parts that are not a provider's own.
func ownParts(parts []llm.Part) []llm.Part {
	out := make([]llm.Part, 0, len(parts))
	for _, p := range parts {
		p.Native = nil
		switch {
		case p.Kind == llm.PartNative || p.Kind == llm.PartReasoning && (p.Reasoning == nil || p.Reasoning.Text == ""):
			continue
		case p.Kind == llm.PartReasoning:
			p.Reasoning = &llm.Reasoning{Text: p.Reasoning.Text}
		}
		out = append(out, p)
	}
	return out
}
