package agent_test

import (
	stdcmp "cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// homeServer knows a server that people run themselves. Its window is what the
// next of its answers says; the last one stays.
type homeServer struct {
	facts
	says  []int64
	asked int
	other bool // it is not such a server
}

func (h *homeServer) Refresh(context.Context, string) {
	h.limits.Window = h.says[min(h.asked, len(h.says)-1)]
	h.asked++
}

func (h *homeServer) Widening(_ string, tokens int64) string {
	if h.other {
		return ""
	}
	return fmt.Sprintf("serve -c %d", tokens)
}

// halfWindow compacts from half of the window on; an unknown one has 128,000 tokens.
type halfWindow struct{ *compactor }

func (halfWindow) Threshold(window int64) int64 { return stdcmp.Or(window, 128_000) / 2 }

// warned returns the warnings of some events, as an id and arguments.
func warned(events []agent.Event) []string {
	var out []string
	for _, w := range find[agent.Warning](events) {
		out = append(out, strings.Join(append([]string{string(w.ID)}, w.Args...), " | "))
	}
	return out
}

// OAS-108, K-08: a window that the instructions and tools fill is named in numbers
// before the first request, with what to do, and nothing claims to compact.
func TestWindowTooSmall(t *testing.T) {
	t.Parallel()
	tooLong := llmtest.Round{Status: 400, Body: `{"error":{"code":400,"type":"exceed_context_size_error","message":"request (4212 tokens) exceeds the available context size (4096 tokens)"}}`}
	for name, tt := range map[string]struct {
		system  int     // bytes
		says    []int64 // of the window
		other   bool
		rounds  []llmtest.Round
		want    []string
		failure agent.FailureID
	}{
		"llama.cpp refuses": {
			system: 16_800, says: []int64{4096}, rounds: []llmtest.Round{tooLong},
			want: []string{"window_set | 4229 | 4096 | m | serve -c 32768"}, failure: agent.FailureWindowSet,
		},
		"known only once it was refused": {
			system: 16_800, says: []int64{0, 4096}, rounds: []llmtest.Round{tooLong},
			want: []string{"window_set | 4229 | 4096 | m | serve -c 32768"}, failure: agent.FailureWindowSet,
		},
		"known only once the model is loaded": {
			system: 16_800, says: []int64{0, 2048}, rounds: []llmtest.Round{{Text: "Done.", Usage: full(2040)}},
			want: []string{"window_set | 4229 | 2048 | m | serve -c 32768"},
		},
		"most of it": {
			system: 16_800, says: []int64{8192}, rounds: []llmtest.Round{{Text: "Done.", Usage: full(4250)}},
			want: []string{"window_set | 4229 | 8192 | m | serve -c 32768"},
		},
		"a hosted model": {
			system: 60_000, says: []int64{8192}, other: true, rounds: []llmtest.Round{tooLong},
			want: []string{"window_small | 15029 | 8192 | m"}, failure: agent.FailureWindowSmall,
		},
		"room enough": {
			system: 16_800, says: []int64{32_768}, rounds: []llmtest.Round{{Text: "Done.", Usage: full(4250)}},
		},
		"unknown": {
			system: 16_800, says: []int64{0}, rounds: []llmtest.Round{{Text: "Done.", Usage: full(4250)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, llmtest.Script(tt.rounds...))
			r.cfg.Profiles = agent.Plain(strings.Repeat("Rules. ", tt.system/7), registry(t, note{name: "Note"}))
			r.cfg.Facts = &homeServer{says: tt.says, other: tt.other}
			r.cfg.Compactor = halfWindow{&compactor{}}
			events := r.run("Hi.")
			if diff := cmp.Diff(tt.want, warned(events)); diff != "" {
				t.Error(diff)
			}
			if n := len(find[agent.CompactionStart](events)) + len(find[agent.HistoryRepaired](events)); n > 0 {
				t.Errorf("%d times the conversation was shortened, which cannot help", n)
			}
			var failed agent.FailureID
			for _, f := range find[agent.Failure](events) {
				failed = f.ID
			}
			if failed != tt.failure {
				t.Errorf("it failed with %q, want %q", failed, tt.failure)
			}
			for i, ev := range events {
				if _, ok := ev.Data.(agent.TextEnd); ok && tt.says[0] > 0 && len(tt.want) > 0 && len(warned(events[:i])) == 0 {
					t.Error("it was said only after the first answer")
				}
			}
		})
	}
}

// A request that a server cuts without a word is noticed by its count, and said
// once.
func TestPromptCut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		input  string
		counts []int64 // of the requests, each of which has a result of so many tokens more
		grows  int
		other  bool
		want   int
	}{
		"Ollama at 4095":              {"Go.", []int64{4095, 4095, 4095, 4095}, 6000, false, 1},
		"stands still":                {"Go.", []int64{2000, 2000, 2000}, 1900, false, 1},
		"falls":                       {"Go.", []int64{3900, 3100}, 2500, false, 1},
		"less than half":              {long(12_000), []int64{4090}, 0, false, 1},
		"half, the first request":     {long(40_000), []int64{8191}, 0, false, 1},
		"counts in step":              {"Go.", []int64{100, 6100, 12_100}, 6000, false, 0},
		"a denser vocabulary":         {"Go.", []int64{300, 4400, 8500}, 6000, false, 0},
		"no counts":                   {"Go.", []int64{0, 0, 0}, 6000, false, 0},
		"a script's counts":           {"Go.", []int64{10, 10, 10}, 6000, false, 0},
		"the same request once more":  {"Go.", []int64{4095, 4095}, 3, false, 0},
		"blanks, which hardly count":  {strings.Repeat(strings.Repeat(" ", 60)+"|\n", 300), []int64{700}, 0, false, 0},
		"not a server of one's own":   {"Go.", []int64{4095, 4095, 4095}, 6000, true, 0},
		"hosted, less than half read": {long(12_000), []int64{4090}, 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
				return agent.Result{Output: long(tt.grows)}
			}}
			var rounds []llmtest.Round
			for i, n := range tt.counts {
				round := llmtest.Round{Text: "So.", Usage: full(n)}
				if n == 0 {
					round.Usage = llm.Usage{}
				}
				if i < len(tt.counts)-1 {
					round.Calls = []llmtest.Call{use("Look", fmt.Sprint(i))}
				}
				rounds = append(rounds, round)
			}
			r := newRig(t, llmtest.Script(rounds...), look)
			r.cfg.Facts = &homeServer{says: []int64{0}, other: tt.other}
			var got []string
			for _, w := range warned(r.run(tt.input)) {
				if strings.HasPrefix(w, "prompt_cut | m | ") {
					got = append(got, w)
				}
			}
			if len(got) != tt.want {
				t.Errorf("said %q", got)
			}
			if len(got) > 0 && !strings.Contains(got[0], " | serve -c ") {
				t.Errorf("it does not say what to do: %s", got[0])
			}
		})
	}
}
