// Package export writes a session as a document for people: in Markdown, or as one
// HTML file that needs neither a network nor a script.
//
// Texts by models and programs are hostile: none of them leaves its place, runs,
// loads or hides anything.
package export

import (
	"encoding/json"
	"iter"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/transcript"
	"atelier.dev/atelier/internal/text"
)

// pieceKind says what a piece of a document is.
type pieceKind int

const (
	prompt    pieceKind = iota // what the user wrote
	expanded                   // what was made of it, and sent
	steering                   // what the user wrote while the agent worked
	answer                     // what a model said
	reasoning                  // what a model thought
	call                       // a call of a tool
	command                    // the user's own command
	summary                    // what stands for the conversation up to here
	note                       // what went wrong
	document                   // what a tool keeps in the session, such as an approved plan
)

// piece is a part of a document.
type piece struct {
	kind pieceKind
	at   int64
	text string
	// tool, about, input and diffs are those of a call; command has the output of a
	// command in output, too.
	tool, about, input string
	output             string
	diffs              []agent.FileChange
	failed             bool
	model              string
}

// maxStarted limits the calls that are remembered until they end.
const maxStarted = 1000

// pieces returns what a document says of a session. Parts that were taken back are
// left out.
func pieces(info backend.SessionInfo, events iter.Seq2[agent.Event, error]) iter.Seq2[piece, error] {
	return func(yield func(piece, error) bool) {
		inputs := map[string]string{}
		for ev, err := range events {
			if err != nil {
				yield(piece{}, err)
				return
			}
			if !transcript.Kept(info, ev.Seq) {
				continue
			}
			for _, p := range piecesOf(ev, inputs) {
				if p.at = ev.At; !yield(p, nil) {
					return
				}
			}
		}
	}
}

// wrote returns what the user wrote, and what was made of it.
func wrote(as pieceKind, typed, text string) []piece {
	if typed == "" {
		return []piece{{kind: as, text: text}}
	}
	return []piece{{kind: as, text: typed}, {kind: expanded, text: text}}
}

func piecesOf(ev agent.Event, inputs map[string]string) []piece {
	switch d := ev.Data.(type) {
	case agent.UserInput:
		return wrote(prompt, d.Typed, d.Text)
	case agent.SteeringInjected:
		if !d.ByLoop && !d.Refused {
			return wrote(steering, d.Typed, d.Text)
		}
	case agent.TextEnd:
		return answered(d)
	case agent.ToolCallStart:
		if len(inputs) < maxStarted {
			inputs[d.CallID] = d.Input
		}
	case agent.ToolCallEnd:
		p := piece{kind: call, tool: d.Tool, input: inputs[d.CallID], failed: d.IsError || d.Outcome != agent.OutcomeDone}
		delete(inputs, d.CallID)
		p.about = about(p.input)
		if d.Details != nil {
			p.diffs = d.Details.Changes
		}
		p.output = d.Output
		if d.Details != nil && d.Details.Kept != nil && d.Details.Kept.Line == "" && d.Details.Kept.Text != "" {
			return []piece{p, {kind: document, text: d.Details.Kept.Text}}
		}
		return []piece{p}
	case agent.LocalCommandEnd:
		return []piece{{kind: command, text: d.Command, output: d.Output, failed: d.Outcome != agent.OutcomeDone}}
	case agent.CompactionEnd:
		if d.Outcome == agent.OutcomeDone && d.Summary != "" {
			return []piece{{kind: summary, text: d.Summary}}
		}
	case agent.Failure:
		return []piece{{kind: note, text: d.Message}}
	case agent.Warning:
		return []piece{{kind: note, text: d.Message}}
	}
	return nil
}

func answered(d agent.TextEnd) (all []piece) {
	for _, p := range d.Message.Parts {
		switch {
		case p.Kind == llm.PartText && strings.TrimSpace(p.Text) != "":
			all = append(all, piece{kind: answer, text: p.Text, model: d.Model})
		case p.Kind == llm.PartReasoning && p.Reasoning != nil && p.Reasoning.Text != "":
			all = append(all, piece{kind: reasoning, text: p.Reasoning.Text})
		}
	}
	return all
}

// telling are the members of a call's arguments that say what it is about, the most
// telling first.
var telling = []string{"file_path", "path", "command", "pattern", "query", "url", "description", "prompt"}

// about is the most telling argument of a call, in one line.
func about(input string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(input), &members) != nil {
		return ""
	}
	for _, name := range telling {
		var value string
		if json.Unmarshal(members[name], &value) == nil && value != "" {
			line, _, _ := strings.Cut(strings.TrimSpace(value), "\n")
			return text.Shorten(line, 120)
		}
	}
	return ""
}

// shown is a call's input as people read it: the members of an object, one after
// another, texts as they are.
func shown(input string) string {
	var pretty map[string]json.RawMessage
	if json.Unmarshal([]byte(input), &pretty) != nil {
		return input
	}
	dec := json.NewDecoder(strings.NewReader(input))
	if _, err := dec.Token(); err != nil {
		return input
	}
	var b strings.Builder
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return input
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return input
		}
		text := string(value)
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if strings.Contains(text, "\n") {
			text = "\n" + text
		} else {
			text = " " + text
		}
		b.WriteString(name.(string) + ":" + text + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// changed is the path of a changed file, and where it was moved to.
func changed(d agent.FileChange) string {
	if d.MovedTo != "" {
		return d.Path + " → " + d.MovedTo
	}
	return d.Path
}

// day is a time as documents show it.
func day(at int64) string { return time.UnixMilli(at).Format("2006-01-02 15:04") }

// words are the labels of a document, by their names.
type words map[string]string

var english = words{
	"lang": "en", "you": "You", "expanded": "The prompt that was sent", "steered": "You, meanwhile", "thought": "Thinking", "failed": "failed", "ran": "You ran",
	"summary": "Summary of the conversation so far", "note": "Note", "input": "Input", "output": "Output", "from": "From", "to": "to",
	"model": "Model", "imported": "Imported from", "made": "Exported from Atelier.",
}

var chinese = words{
	"lang": "zh-CN", "you": "你", "expanded": "实际发送的提示", "steered": "你（期间）", "thought": "思考", "failed": "失败", "ran": "你运行了",
	"summary": "此前对话的摘要", "note": "提示", "input": "输入", "output": "输出", "from": "从", "to": "到",
	"model": "模型", "imported": "导入自", "made": "由 Atelier 导出。",
}

func wordsIn(language string) words {
	if strings.HasPrefix(language, "zh") {
		return chinese
	}
	return english
}

// title is the session's title on one line, or its id.
func title(info backend.SessionInfo) string {
	if t := backend.TitleFrom(visible(info.Title)); t != "" {
		return t
	}
	return info.ID
}

// programs are the names of the programs of which sessions are imported.
var programs = map[agent.Program]string{
	agent.ProgramAtelier: "Atelier", agent.ProgramClaudeCode: "Claude Code", agent.ProgramCodex: "Codex",
	agent.ProgramOpenAgentSDK: "Open Agent SDK", agent.ProgramComate: "Comate", agent.ProgramGemini: "Gemini CLI", agent.ProgramOpencode: "opencode",
}

// facts are what a document says of the session at its top: labels and values. The
// model of an imported session is the one that answered in it first: its settings are
// for what comes next.
func facts(info backend.SessionInfo, events iter.Seq2[agent.Event, error], w words) (all [][2]string) {
	first, last := min(info.CreatedAt, info.UpdatedAt), max(info.CreatedAt, info.UpdatedAt)
	all = append(all, [2]string{w["from"], day(first) + " " + w["to"] + " " + day(last)})
	model := info.Settings.Model
	if info.Imported != nil {
		model = firstModel(events)
	}
	if model != "" {
		all = append(all, [2]string{w["model"], visible(model)})
	}
	if info.Imported != nil {
		all = append(all, [2]string{w["imported"], programs[info.Imported.Program]})
	}
	return all
}

// firstModel returns the model of the first answer; empty if none names it.
func firstModel(events iter.Seq2[agent.Event, error]) string {
	for ev, err := range events {
		if err != nil {
			break
		}
		if said, ok := ev.Data.(agent.TextEnd); ok && said.Model != "" {
			return said.Model
		}
	}
	return ""
}
