package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// compactEvery is the number of turns between two compactions.
const compactEvery = 60

// longSession writes turns until the session has that many messages. Most turns
// read a few files, run a command and edit a file; some only answer.
func longSession(w *writer, messages int) {
	a := author{writer: w, rand: rand.New(rand.NewPCG(1, 2))}
	for w.messages < messages && w.err == nil {
		a.converse(messages)
		if w.turn%compactEvery == 0 {
			w.add(agent.CompactionStart{Trigger: agent.CompactAuto})
			w.add(agent.CompactionEnd{
				Trigger: agent.CompactAuto, Outcome: agent.OutcomeDone, Before: 180_000, After: 20_000,
				DurationMs: 9000, Summary: a.prose(200), Kept: 12,
			})
		}
	}
}

// shortSession writes two turns. Its number makes it differ from the others.
func shortSession(w *writer, number uint64) {
	a := author{writer: w, rand: rand.New(rand.NewPCG(5, number))}
	for range 2 {
		a.converse(w.messages + 8)
	}
}

// largeDiff writes one turn with one edit, which changes every other line.
func largeDiff(w *writer, lines int) {
	a := author{writer: w, rand: rand.New(rand.NewPCG(3, 4))}
	w.add(agent.UserInput{Text: "Measure all of them."})
	var diff strings.Builder
	fmt.Fprintf(&diff, "@@ -1,%d +1,%d @@\n", lines, lines)
	for n := range lines {
		line := fmt.Sprintf("\tconst value%d = compute(%d, \"text %d\")\n", n, n, n)
		if n%2 == 1 {
			diff.WriteString(" " + line)
			continue
		}
		diff.WriteString("-" + line + "+" + strings.Replace(line, "compute", "measure", 1))
	}
	changed := (lines + 1) / 2
	a.call("Edit", `{"file_path":"big.ts","old_string":"compute","new_string":"measure","replace_all":true}`, "The file big.ts was changed.",
		&agent.Details{Changes: []agent.FileChange{{Path: "big.ts", Added: changed, Removed: changed, Diff: diff.String()}}})
	a.answer("Every call is measured now.")
	w.add(agent.ProcessingEnd{Reason: agent.EndDone, Rounds: 1, Usage: usage})
}

// author writes the turns of a session.
type author struct {
	*writer
	rand  *rand.Rand
	calls int
}

// usage is that of every request.
var usage = llm.Usage{Input: 2000, CacheRead: 18_000, Output: 300, Known: true}

// converse writes one turn, which ends early if there are enough messages.
func (a *author) converse(messages int) {
	a.add(agent.UserInput{Text: fmt.Sprintf("Prompt %d. %s", a.turn+1, a.prose(8+a.rand.IntN(40)))})
	rounds := a.rand.IntN(16)
	for range rounds {
		if a.messages+3 > messages {
			break
		}
		a.work()
	}
	report := a.report()
	if a.messages+1 >= messages {
		report += "\nThat was the newest message.\n"
	}
	a.answer(report)
	a.add(agent.ProcessingEnd{Reason: agent.EndDone, Rounds: rounds, Usage: usage})
}

// work writes an answer that calls one tool, and the result.
func (a *author) work() {
	file := fmt.Sprintf("internal/%s/%s.go", a.word(), a.word())
	switch kind := a.rand.IntN(10); {
	case kind < 4:
		a.call("Read", input("file_path", file), a.code(20+a.rand.IntN(60)), nil)
	case kind < 6:
		a.call("Grep", input("pattern", a.word()), a.listing(5+a.rand.IntN(25)), nil)
	case kind < 8:
		a.call("Bash", input("command", "go test ./internal/"+a.word()), a.listing(3+a.rand.IntN(30)),
			&agent.Details{Command: &agent.CommandResult{}})
	default:
		diff, added, removed := a.diff()
		a.call("Edit", input("file_path", file), "The file was changed.",
			&agent.Details{Changes: []agent.FileChange{{Path: file, Added: added, Removed: removed, Diff: diff}}})
	}
}

func (a *author) call(tool, arguments, output string, details *agent.Details) {
	a.calls++
	id := fmt.Sprintf("call_%d", a.calls)
	parts := []llm.Part{}
	if a.rand.IntN(3) == 0 {
		parts = append(parts, llm.Part{Kind: llm.PartText, Text: a.prose(12 + a.rand.IntN(20))})
	}
	parts = append(parts, llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: id, Name: tool, Arguments: json.RawMessage(arguments)}})
	a.end(parts, llm.FinishToolCalls)
	a.add(agent.ToolCallStart{CallID: id, Tool: tool, Input: arguments})
	a.add(agent.ToolCallEnd{CallID: id, Tool: tool, Output: output, Outcome: agent.OutcomeDone, DurationMs: int64(a.rand.IntN(900)), Details: details})
}

func (a *author) answer(text string) {
	a.end([]llm.Part{{Kind: llm.PartText, Text: text}}, llm.FinishStop)
}

func (a *author) end(parts []llm.Part, finish llm.FinishReason) {
	cost := llm.Cost(3_000_000_000)
	a.add(agent.TextEnd{
		Message: llm.Message{Role: llm.RoleAssistant, Parts: parts}, Usage: usage, Finish: llm.Finish{Reason: finish},
		Provider: settings.Provider, Model: settings.Model, Cost: &cost,
	})
}

func input(name, value string) string {
	encoded, err := json.Marshal(map[string]string{name: value})
	if err != nil {
		panic(err) // no string fails to encode
	}
	return string(encoded)
}
