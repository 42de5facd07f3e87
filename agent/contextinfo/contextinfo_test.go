package contextinfo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextinfo"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// facts price a token that is read from the cache at a tenth of a fresh one.
type facts struct{}

func (facts) Price(_, _ string, u llm.Usage, _ time.Time) *llm.Cost {
	return new(llm.Cost(10*u.Input + u.CacheRead + 12*u.CacheWrite))
}
func (facts) Limits(string, string) llm.ModelLimits { return llm.ModelLimits{Window: 200_000} }

func open(t *testing.T, provider string) *agent.Session {
	t.Helper()
	tool := func(name string) agent.Tool {
		return agent.Function(agent.Spec{Name: name, Description: strings.Repeat("It helps. ", 50)}, func(context.Context, struct{}) (string, error) { return "", nil })
	}
	registry, err := agent.NewRegistry(tool("Look"), tool("mcp__db__query"), tool("mcp__db__tables"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.New(agent.Config{
		Model: llmtest.Script(), Gate: agent.AllowAll, Facts: facts{},
		Profiles: agent.Plain("Be brief.\n\n<environment>\n"+strings.Repeat("Platform: linux\n", 20)+"</environment>", registry),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Configure(agent.Settings{Provider: provider, Model: "m", Mode: agent.ModeDefault})
	return s
}

// logOf folds payloads, a second after each other.
func logOf(payloads ...agent.Payload) *contextinfo.Log {
	log := &contextinfo.Log{}
	turn := 0
	for i, p := range payloads {
		if _, ok := p.(agent.UserInput); ok {
			turn++
		}
		log.Apply(agent.Event{Seq: int64(i + 1), Turn: turn, At: int64(i+1) * 1000, Data: p}, false)
	}
	return log
}

func answer(provider, text string, u llm.Usage) agent.TextEnd {
	u.Known = true
	return agent.TextEnd{Message: llm.Text(llm.RoleAssistant, text), Provider: provider, Model: "m", Usage: u, Cost: facts{}.Price("", "", u, time.Time{})}
}

// COM-94: the parts, the segments and the items add up to the provider's count, and each
// item says what it took so far.
func TestInfo(t *testing.T) {
	t.Parallel()
	s := open(t, "anthropic")
	log := logOf(
		agent.UserInput{Text: strings.Repeat("word ", 1000)},
		answer("anthropic", "Yes.", llm.Usage{Input: 2000, CacheWrite: 1000, Output: 10}),
		agent.UserInput{Text: "Go on."},
		answer("anthropic", "Done.", llm.Usage{Input: 100, CacheRead: 3000, Output: 10}),
		agent.ContextMarked{Mark: contextir.MarkPin, Items: []string{"user_message:1:1"}},
	)
	info := log.Info(t.Context(), s, contextinfo.ContextPage{Count: 10}, time.UnixMilli(5000))
	if info.Used != 3110 || !info.Counted || info.Margin != 0 || info.Window != 200_000 || info.Total != 4 || info.Pinned != 1 {
		t.Errorf("%+v", info)
	}
	var parts, segments, items int64
	for _, p := range info.Parts {
		parts += p.Tokens
	}
	for _, s := range info.Segments {
		segments += s.Tokens
	}
	for _, it := range info.Items {
		items += it.Tokens
	}
	if parts != 3110 || segments != 3110 || items < info.Segments[2].Tokens-4 || items > info.Segments[2].Tokens+4 {
		t.Errorf("parts %d, segments %d %v, items %d", parts, segments, info.Segments, items)
	}
	first, newest := info.Items[3], info.Items[0]
	if first.ID != "user_message:1:1" || !first.Pinned || first.Priority < contextir.Lasting || first.At != 1000 || first.Cost == 0 || newest.Cost >= first.Cost || newest.At != 4000 {
		t.Errorf("the first item is %+v, the newest %+v", first, newest)
	}
	var server, environment bool
	for _, h := range info.Header {
		server = server || h.Type == contextir.MCPTool && h.Name == "db" && h.Count == 2
		environment = environment || h.Type == contextir.SystemEnv && h.Tokens > 20
	}
	if !server || !environment {
		t.Errorf("before the conversation: %+v", info.Header)
	}
	if u := log.Usage(); u.Tokens != 3010+3110 || u.Requests != 2 || u.Cost.Cost == 0 {
		t.Errorf("%+v", u)
	}
	// What was not counted has a margin.
	log.Apply(agent.Event{Seq: 6, Turn: 3, At: 6000, Data: agent.UserInput{Text: strings.Repeat("word ", 3000)}}, false)
	if info := log.Info(t.Context(), s, contextinfo.ContextPage{}, time.UnixMilli(6000)); info.Added == 0 || info.Margin == 0 || len(info.Items) != 0 || info.Total != 5 {
		t.Errorf("%+v", info)
	}
}

// The cache's state says until when it holds, what waiting costs, and what broke it.
func TestCache(t *testing.T) {
	t.Parallel()
	warm := llm.Usage{Input: 500, CacheRead: 9500, Output: 1}
	cold := llm.Usage{CacheWrite: 10_000, Output: 1}
	for name, tt := range map[string]struct {
		between agent.Payload
		model   string
		want    contextinfo.CacheBreakReason
	}{
		"compaction": {agent.CompactionEnd{Outcome: agent.OutcomeDone, Trigger: agent.CompactAuto, Summary: "s"}, "anthropic", contextinfo.BreakCompaction},
		"marks":      {agent.ContextMarked{Mark: contextir.MarkDrop, Items: []string{"user_message:1:1"}}, "anthropic", contextinfo.BreakMarks},
		"pins":       {agent.ContextMarked{Mark: contextir.MarkPin, Items: []string{"user_message:1:1"}}, "anthropic", contextinfo.BreakUnknown},
		"model":      {agent.Title{Text: "t"}, "openai", contextinfo.BreakModel},
	} {
		log := logOf(agent.UserInput{Text: "a"}, answer("anthropic", "b", warm), tt.between, agent.UserInput{Text: "c"}, answer(tt.model, "d", cold))
		c := log.Info(t.Context(), open(t, tt.model), contextinfo.ContextPage{}, time.UnixMilli(6000)).Cache
		if c == nil || c.Broken == nil || c.Broken.Reason != tt.want || c.Broken.Tokens != 10_000 || c.Broken.At != 5000 {
			t.Errorf("%s: %+v", name, c)
			continue
		}
		if want := int64(5000 + 5*60*1000); c.Until != want || c.Warm == nil || *c.Cold <= *c.Warm {
			t.Errorf("%s: until %d, warm %v, cold %v", name, c.Until, c.Warm, c.Cold)
		}
	}
	log := logOf(agent.UserInput{Text: "a"}, answer("compat", "b", llm.Usage{Input: 5000, Output: 1}), agent.UserInput{Text: "c"}, answer("compat", "d", llm.Usage{Input: 6000, Output: 1}))
	if c := log.Info(t.Context(), open(t, "compat"), contextinfo.ContextPage{}, time.Now()).Cache; c.Broken != nil || c.Until != 0 || c.Warm != nil {
		t.Errorf("a provider without a cache: %+v", c)
	}
}

// A page of 50,000 items has what was asked for.
func TestManyItems(t *testing.T) {
	t.Parallel()
	log := &contextinfo.Log{}
	for n := range int64(25_000) {
		log.Apply(agent.Event{Seq: 2*n + 1, Turn: int(n + 1), At: n, Data: agent.UserInput{Text: fmt.Sprint("prompt ", n)}}, false)
		log.Apply(agent.Event{Seq: 2*n + 2, Turn: int(n + 1), At: n, Data: answer("p", "ok", llm.Usage{Input: 10, Output: 1})}, false)
	}
	s := open(t, "p")
	info := log.Info(t.Context(), s, contextinfo.ContextPage{Skip: 40_000, Count: 1000}, time.Now())
	if info.Total != 50_000 || len(info.Items) != 200 || info.Items[0].ID != "assistant_message:5000:1" {
		t.Errorf("%d items of %d, from %+v", len(info.Items), info.Total, info.Items[0])
	}
	info = log.Info(t.Context(), s, contextinfo.ContextPage{Count: 5, Type: contextir.UserMessage}, time.Now())
	if info.Total != 25_000 || info.Items[4].ID != "user_message:24996:1" {
		t.Errorf("%d, %+v", info.Total, info.Items)
	}
}
