package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/transcript"
	"github.com/google/go-cmp/cmp"
)

// file writes a transcript.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read reads a transcript, and checks that it is a sound log.
func read(t testing.TB, path string) []agent.Event {
	t.Helper()
	f, err := transcript.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := collect(f)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, events)
	return events
}

func collect(f *transcript.File) (events []agent.Event, err error) {
	for ev, err := range f.Events(context.Background(), []agent.Payload{agent.SessionStart{Folder: "/here"}}, nil) {
		if err != nil {
			return events, err
		}
		ev.Seq = int64(len(events) + 1)
		events = append(events, ev)
	}
	return events, nil
}

// sound checks what every log of ours keeps to.
func sound(t testing.TB, events []agent.Event) {
	t.Helper()
	open, ids, inTurn, turn := map[string]bool{}, map[string]bool{}, false, 0
	for i, ev := range events {
		switch d := ev.Data.(type) {
		case agent.UserInput:
			if turn++; inTurn || ev.Turn != turn {
				t.Fatalf("event %d begins turn %d within turn %d", i, ev.Turn, turn)
			}
			inTurn = true
		case agent.TextEnd:
			if !inTurn || len(open) > 0 || d.Cost != nil && d.Message.Origin != nil || len(d.Message.Parts) == 0 {
				t.Fatalf("event %d: %+v in a turn %t with %d open calls", i, d, inTurn, len(open))
			}
			for _, c := range d.Message.Calls() {
				if ids[c.ID] || c.ID == "" {
					t.Fatalf("the id %q is used twice", c.ID)
				}
				open[c.ID], ids[c.ID] = true, true
			}
		case agent.ToolCallEnd:
			if !open[d.CallID] {
				t.Fatalf("the call %q ends without a beginning", d.CallID)
			}
			delete(open, d.CallID)
		case agent.ProcessingEnd:
			if !inTurn || len(open) > 0 {
				t.Fatalf("event %d ends a turn %t with %d open calls", i, inTurn, len(open))
			}
			inTurn = false
		}
	}
	if _, ok := events[len(events)-1].Data.(agent.Imported); !ok || inTurn {
		t.Fatalf("the log ends with %s", events[len(events)-1].Kind())
	}
	if events[0].Kind() != agent.KindSessionStart || events[0].At == 0 {
		t.Fatalf("the log begins with %+v", events[0])
	}
}

// story writes events as short lines.
func story(events []agent.Event) string {
	var b strings.Builder
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case agent.SessionStart:
			fmt.Fprintf(&b, "start %d\n", ev.At)
		case agent.Title:
			fmt.Fprintf(&b, "title %s\n", d.Text)
		case agent.UserInput:
			fmt.Fprintf(&b, "user %q\n", d.Text)
		case agent.TextEnd:
			fmt.Fprintf(&b, "answer %s/%s %s", d.Provider, d.Model, d.Finish.Reason)
			for _, p := range d.Message.Parts {
				switch p.Kind {
				case llm.PartText:
					fmt.Fprintf(&b, " %q", p.Text)
				case llm.PartReasoning:
					fmt.Fprintf(&b, " thinks %q", p.Reasoning.Text)
				case llm.PartToolCall:
					fmt.Fprintf(&b, " calls %s %s", p.Call.Name, p.Call.ID)
				}
			}
			if d.Usage.Known {
				fmt.Fprintf(&b, " %d+%d→%d", d.Usage.Input, d.Usage.CacheRead, d.Usage.Output)
			}
			b.WriteString("\n")
		case agent.ToolCallStart:
			fmt.Fprintf(&b, "start %s %s %s\n", d.CallID, d.Tool, d.Input)
		case agent.ToolCallEnd:
			fmt.Fprintf(&b, "end %s %s %q\n", d.CallID, d.Outcome, d.Output)
		case agent.CompactionEnd:
			fmt.Fprintf(&b, "summary %q\n", d.Summary)
		case agent.ProcessingEnd:
			fmt.Fprintf(&b, "done %s %d\n", d.Reason, d.Rounds)
		case agent.Imported:
			fmt.Fprintf(&b, "from %s %s %s, %d skipped, %d pictures\n", d.Program, d.ID, d.Folder, d.Skipped, d.Pictures)
		}
	}
	return b.String()
}

func same(t *testing.T, got []agent.Event, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(story(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// claude is a transcript as Claude Code writes them: an answer takes several lines,
// results stand beside each other in the tree, an agent's lines are between them, and a
// prompt was edited and sent again.
const claude = `{"type":"summary","summary":"Greeting the world","leafUuid":"x"}
{"type":"file-history-snapshot","messageId":"m"}
{"type":"user","isMeta":true,"uuid":"u0","parentUuid":null,"sessionId":"s1","cwd":"/p","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Caveat"}}
{"type":"user","uuid":"u1","parentUuid":"u0","sessionId":"s1","cwd":"/p","timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"Say helo."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","timestamp":"2026-01-02T03:04:07.000Z","message":{"id":"m1","model":"claude-x","role":"assistant","content":[{"type":"text","text":"Helo."}]}}
{"type":"user","uuid":"u2","parentUuid":"u0","timestamp":"2026-01-02T03:05:00.000Z","message":{"role":"user","content":[{"type":"text","text":"Say hello."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}}
{"type":"assistant","uuid":"a2","parentUuid":"u2","timestamp":"2026-01-02T03:05:01.000Z","message":{"id":"m2","model":"claude-x","role":"assistant","content":[{"type":"thinking","thinking":"Two files.","signature":"sig"}],"usage":{"input_tokens":1,"output_tokens":1}}}
{"type":"assistant","uuid":"a3","parentUuid":"a2","timestamp":"2026-01-02T03:05:02.000Z","message":{"id":"m2","model":"claude-x","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":3}}}
{"type":"assistant","uuid":"a4","parentUuid":"a3","timestamp":"2026-01-02T03:05:02.000Z","message":{"id":"m2","model":"claude-x","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Task","input":{"prompt":"look"}}],"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":9}}}
{"type":"user","isSidechain":true,"uuid":"side","parentUuid":null,"message":{"role":"user","content":"look"}}
{"type":"user","uuid":"r1","parentUuid":"a3","timestamp":"2026-01-02T03:05:03.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}
{"type":"user","uuid":"r2","parentUuid":"a4","timestamp":"2026-01-02T03:05:04.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"no"}]}]}}
not json
{"type":"assistant","uuid":"a5","parentUuid":"r2","timestamp":"2026-01-02T03:05:05.000Z","message":{"id":"m3","model":"claude-x","role":"assistant","content":[{"type":"text","text":"Hello."},{"type":"new_kind"}]}}
{"type":"user","uuid":"u3","parentUuid":"a5","isCompactSummary":true,"timestamp":"2026-01-02T03:06:00.000Z","message":{"role":"user","content":"They greeted."}}
{"type":"user","uuid":"u4","parentUuid":"u3","timestamp":"2026-01-02T03:06:01.000Z","message":{"role":"user","content":"More."}}
{"type":"assistant","uuid":"a6","parentUuid":"u4","timestamp":"2026-01-02T03:06:02.000Z","message":{"id":"m4","model":"claude-x","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"a"}}]}}
{"type":"user","uuid":"u5","parentUuid":"a6","timestamp":"2026-01-02T03:06:03.000Z","message":{"role":"user","content":"[Request interrupted by user for tool use]"}}
`

func TestClaudeCode(t *testing.T) {
	t.Parallel()
	path := file(t, "8e0f.jsonl", claude)
	same(t, read(t, path), `
start 1767323100000
title Greeting the world
user "Say hello.\n\n[A picture was here.]"
answer anthropic/claude-x tool_calls thinks "Two files." calls Bash imported-1 calls Task imported-2 5+7→9
start imported-1 Bash {"command":"ls"}
end imported-1 done "a.txt"
start imported-2 Agent {"prompt":"look"}
end imported-2 failed "no"
answer anthropic/claude-x stop "Hello."
summary "They greeted."
done done 2
user "More."
answer anthropic/claude-x tool_calls calls Read imported-3
start imported-3 Read {"file_path":"a"}
end imported-3 interrupted "The transcript has no result of this call."
done interrupted 1
from claude_code 8e0f /p, 2 skipped, 1 pictures`)
}

func at(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().UnixMilli()
}

const codex = `{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"c1","cwd":"/p","cli_version":"1"}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"turn_context","payload":{"model":"gpt-x","cwd":"/p"}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"List and fix."},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"event_msg","payload":{"type":"user_message","message":"List and fix."}}
{"timestamp":"2026-01-02T03:04:07.000Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"I look."}],"encrypted_content":"zzz"}}
{"timestamp":"2026-01-02T03:04:07.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls -l\"],\"workdir\":\"/p\"}","call_id":"k1"}}
{"timestamp":"2026-01-02T03:04:07.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** End Patch","call_id":"k2"}}
{"timestamp":"2026-01-02T03:04:08.000Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3,"reasoning_output_tokens":1}}}}
{"timestamp":"2026-01-02T03:04:09.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"k1","output":"{\"output\":\"total 0\\n\",\"metadata\":{\"exit_code\":0}}"}}
{"timestamp":"2026-01-02T03:04:09.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"k2","output":{"content":"refused","success":false}}}
{"timestamp":"2026-01-02T03:04:09.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"gone","output":"late"}}
{"timestamp":"2026-01-02T03:04:10.000Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"k3","action":{"type":"exec","command":["git","log","--format=%s %b"]}}}
{"timestamp":"2026-01-02T03:04:11.000Z","type":"event_msg","payload":{"type":"turn_aborted"}}
{"timestamp":"2026-01-02T03:04:12.000Z","type":"brand_new","payload":{}}
`

func TestCodex(t *testing.T) {
	t.Parallel()
	same(t, read(t, file(t, "rollout-1.jsonl", codex)), `
start 1767323046000
user "List and fix.\n\n[A picture was here.]"
title List and fix.
answer openai/gpt-x tool_calls thinks "I look." calls shell imported-1 calls apply_patch imported-2 6+4→3
start imported-1 Bash {"command":"ls -l","workdir":"/p"}
end imported-1 done "total 0\n"
start imported-2 ApplyPatch {"input":"*** Begin Patch\n*** End Patch"}
end imported-2 failed "refused"
answer openai/gpt-x tool_calls calls local_shell imported-3
start imported-3 Bash {"command":"git log '--format=%s %b'"}
end imported-3 interrupted "The transcript has no result of this call."
done interrupted 2
from codex c1 /p, 2 skipped, 1 pictures`)
}

// OAS-602: a transcript.json is read, with its metadata wherever it stands.
func TestOpenAgentSDK(t *testing.T) {
	t.Parallel()
	const doc = `{
  "metadata": {"id": "my-session", "cwd": "/p", "model": "claude-y", "summary": "A summary", "createdAt": "2026-01-02T03:04:05Z", "messageCount": 3},
  "messages": [
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": [{"type": "text", "text": "I do."}, {"type": "tool_use", "id": "a", "name": "Glob", "input": {"pattern":"*"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x.go"}]},
    {"role": "robot", "content": "?"},
    {"role": "assistant", "content": "One file."}
  ]
}`
	same(t, read(t, file(t, "transcript.json", doc)), `
start 1767323045000
title A summary
user "Look."
answer /claude-y tool_calls "I do." calls Glob imported-1
start imported-1 Glob {"pattern":"*"}
end imported-1 done "x.go"
answer /claude-y stop "One file."
done done 2
from open_agent_sdk my-session /p, 1 skipped, 0 pictures`)
}

// COM-95: the messages of a Comate session are read, also from the lines of
// context.jsonl, and the folder of the session may be named instead.
func TestComate(t *testing.T) {
	t.Parallel()
	const messages = `{"role":"system","content":"Be brief."}
{"role":"user","content":"Look."}
{"schema":"3.0","message":{"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"a","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}]}}
{"role":"tool","tool_call_id":"a","content":"x.go"}
{"role":"assistant","content":"One file."}
`
	dir := filepath.Join(t.TempDir(), "sid")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "messages.jsonl")
	if err := os.WriteFile(path, []byte(messages), 0o600); err != nil {
		t.Fatal(err)
	}
	same(t, read(t, dir), `
start `+fmt.Sprint(at(t, path))+`
user "Look."
title Look.
answer / tool_calls thinks "Hm." calls Bash imported-1
start imported-1 Bash {"command":"ls"}
end imported-1 done "x.go"
answer / stop "One file."
done done 2
from comate sid , 0 skipped, 0 pictures`)
}

// Hostile or damaged entries are skipped and counted; the log stays sound.
func TestDamagedTranscripts(t *testing.T) {
	t.Parallel()
	long := `{"role":"user","content":"` + strings.Repeat("x", transcript.MaxLine) + `"}`
	for name, text := range map[string]string{
		"parents in a circle": `{"type":"user","uuid":"a","parentUuid":"b","message":{"content":"one"}}
{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"two"}}`,
		"its own parent": `{"type":"user","uuid":"a","parentUuid":"a","message":{"content":"one"}}`,
		"the same line twice": `{"type":"user","uuid":"a","message":{"content":"one"}}
{"type":"assistant","uuid":"b","parentUuid":"a","message":{"content":[{"type":"tool_use","id":"../../x","name":"","input":null}]}}
{"type":"user","uuid":"a","message":{"content":"one"}}
{"type":"assistant","uuid":"c","parentUuid":"b","message":{"content":[{"type":"tool_use","id":"../../x"},{"type":"tool_use"}]}}`,
		"a missing parent": `{"type":"user","uuid":"a","message":{"content":"one"}}
{"type":"assistant","uuid":"b","parentUuid":"gone","message":{"content":"two"}}`,
		"a long line":        `{"role":"user","content":"one"}` + "\n" + long + "\n" + `{"role":"user","content":"two"}`,
		"not UTF-8":          "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"o\xff\xfene \\u0000\"}}",
		"an answer at first": `{"role":"assistant","content":"I begin."}`,
		"a result at first":  `{"role":"tool","tool_call_id":"x","content":"r"}` + "\n" + `{"role":"user","content":"hi"}`,
		"deep":               `{"role":"user","content":"hi"}` + "\n" + `{"role":"user","content":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
		"wrong types":        `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"hi"}]}}` + "\n" + `{"type":"response_item","payload":[1]}` + "\n" + `{"type":7,"payload":{}}`,
		"strange times":      `{"type":"user","uuid":"a","timestamp":"0001-01-01T00:00:00Z","message":{"content":"one"}}`,
		"cut":                `{"format":"atelier-session","version":1,"events":[{"kind":"user_input","turn":1,"data":{"text":"hi"}},{"kind":"future","data":{}}]}`,
	} {
		events := read(t, file(t, "x.jsonl", text))
		if got := story(events); strings.Contains(got, `\x00`) || strings.Contains(got, "../") || strings.Contains(got, "xxx") {
			t.Errorf("%s: %.1000s", name, got)
		}
		for _, ev := range events {
			if _, err := json.Marshal(ev); err != nil || ev.At < 946_684_800_000 {
				t.Errorf("%s: %+v, %v", name, ev, err)
			}
		}
	}
}

// What is not a transcript is refused with the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"":            transcript.ErrUnknown,
		"Dear diary,": transcript.ErrUnknown,
		"[1]":         transcript.ErrUnknown,
		`{"a":1}`:     transcript.ErrUnknown,
		`{"type":"user","uuid":"a","isMeta":true,"message":{"content":"x"}}`: transcript.ErrEmpty,
		`{"format":"atelier-session","version":2,"events":[]}`:               transcript.ErrNewer,
		`{"metadata":{},"messages":[`:                                        nil,
		`{"metadata":{},"messages":{}}`:                                      nil,
		strings.Repeat("\n", transcript.MaxLines+1) + `{"role":"user"}`:      transcript.ErrUnknown,
		`{"role":"user"}` + strings.Repeat("\n", transcript.MaxLines+1):      transcript.ErrTooLarge,
	} {
		f, err := transcript.Open(file(t, "x.jsonl", text))
		if err == nil {
			_, err = collect(f)
			_ = f.Close()
		}
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// A file beyond the limit is not read at all.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	path := file(t, "x.jsonl", `{"role":"user","content":"hi"}`+"\n")
	for size, want := range map[int64]error{transcript.MaxSize: nil, transcript.MaxSize + 1: transcript.ErrTooLarge} {
		if err := os.Truncate(path, size); err != nil { // which takes no room on the disk
			t.Fatal(err)
		}
		f, err := transcript.Open(path)
		if !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if f != nil {
			_ = f.Close()
		}
	}
}

// A stopped reading ends at once.
func TestReadingStops(t *testing.T) {
	t.Parallel()
	f, err := transcript.Open(file(t, "x.jsonl", claude))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range f.Events(t.Context(), nil, nil) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range f.Events(ctx, nil, nil) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// What is written while a file is read is not read.
func TestGrowingFile(t *testing.T) {
	t.Parallel()
	path := file(t, "messages.jsonl", `{"role":"user","content":"one"}`+"\n")
	f, err := transcript.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(path, []byte(`{"role":"user","content":"one"}`+"\n"+`{"role":"user","content":"two"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	events, err := collect(f)
	if err != nil || strings.Contains(story(events), "two") {
		t.Errorf("%s %v", story(events), err)
	}
}

// Whatever a file has, the events are a sound log or there is an error.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{claude, codex, `{"metadata":{},"messages":[{"role":"user","content":"x"}]}`, `{"role":"user","content":"x"}`,
		`{"format":"atelier-session","version":1,"events":[{"kind":"user_input","turn":1,"data":{"text":"hi"}}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := transcript.Open(file(t, "x.jsonl", string(text)))
		if err != nil {
			return
		}
		defer tr.Close()
		events, err := collect(tr)
		if err == nil && tr.Program != agent.ProgramAtelier {
			sound(t, events)
		}
	})
}

// A byte order mark, which some editors write, hides nothing.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	line := `{"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"hi"}}`
	for name, text := range map[string]string{
		"s.jsonl":         line + "\n",
		"transcript.json": `{"metadata":{},"messages":[{"role":"user","content":"hi"}]}`,
	} {
		want := read(t, file(t, name, text))
		got := read(t, file(t, name, "\ufeff"+text))
		if len(got) != len(want) || got[len(got)-1].Data.(agent.Imported).Skipped != 0 {
			t.Errorf("%s: %d events, want %d", name, len(got), len(want))
		}
	}
}
