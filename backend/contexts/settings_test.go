package contexts_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
)

// kept keeps settings in memory.
type kept map[string]string

func (k kept) Setting(_ context.Context, key string) (string, error) {
	if v := k[key]; v != "damaged" {
		return v, nil
	}
	return "", errors.New("the disk is gone")
}

func (k kept) SetSetting(_ context.Context, key, value string) error {
	k[key] = value
	return nil
}

func (k kept) ChangeSetting(_ context.Context, key string, change func(string) (string, error)) error {
	text, err := change(k[key])
	if err == nil {
		k[key] = text
	}
	return err
}

// models have windows of 100,000 tokens.
type models struct{ *llmtest.Model }

func (m models) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return m.Model.Stream(ctx, r)
}
func (models) Price(string, string, llm.Usage, time.Time) *llm.Cost { return nil }
func (models) Limits(string, string) llm.ModelLimits                { return llm.ModelLimits{Window: 100_000} }

// COM-13, COM-14, COM-16: the user chooses the rules by which room is made, and which model
// writes summaries. Choices without a meaning are refused, and ones that cannot be read are
// the defaults.
func TestRoom(t *testing.T) {
	t.Parallel()
	store := kept{}
	c := contexts.New(contexts.Config{Settings: store})
	small := func(context.Context, agent.Settings) llm.Origin {
		return llm.Origin{Provider: llmtest.Provider, Model: "small"}
	}
	compactor := contexts.Compactor(t.Context(), models{llmtest.Script(llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})}, store, small)
	rules := func() contextir.Rules { return compactor.(agent.Selector).Rules() }
	summary := agent.SummaryRequest{Settings: agent.Settings{Provider: llmtest.Provider, Model: "own"}, Messages: []llm.Message{llm.Text(llm.RoleUser, "Go.")}}
	if diff := cmp.Diff(contextir.DefaultRules(), rules()); diff != "" {
		t.Error(diff)
	}
	if got, err := compactor.Summarise(t.Context(), summary); err != nil || got.By.Model != "small" {
		t.Errorf("%+v, %v", got, err)
	}

	mine := contexts.RoomSettings{Preset: contexts.RulesRecent, OwnSummary: true, Budget: 50_000, Rules: contextir.Rules{contextir.AssistantMessage: {Strategy: contextir.StrategySummarize}}}
	if _, err := c.SetRoom(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	want := contextir.SeedRules()
	want[contextir.AssistantMessage] = contextir.Rule{Strategy: contextir.StrategySummarize}
	if diff := cmp.Diff(want, rules()); diff != "" {
		t.Error(diff)
	}
	if got := compactor.Threshold(200_000); got != 40_000 { // COM-24
		t.Errorf("with a budget of 50,000 tokens it compacts at %d", got)
	}
	if got, err := compactor.Summarise(t.Context(), summary); err != nil || got.By.Model != "own" {
		t.Errorf("%+v, %v", got, err)
	}
	got, err := c.Room(t.Context(), backend.Empty{})
	if diff := cmp.Diff(mine, got); diff != "" || err != nil {
		t.Error(diff, err)
	}

	for name, bad := range map[string]contexts.RoomSettings{
		"preset":   {Preset: "best"},
		"type":     {Rules: contextir.Rules{contextir.SystemPrompt: {Strategy: contextir.StrategyDrop}}},
		"no type":  {Rules: contextir.Rules{"letters": {Strategy: contextir.StrategyDrop}}},
		"strategy": {Rules: contextir.Rules{contextir.ToolResult: {Strategy: "burn"}}},
		"negative": {Rules: contextir.Rules{contextir.ToolResult: {Strategy: contextir.StrategyDrop, Keep: -1}}},
		"limit":    {Rules: contextir.Rules{contextir.ToolResult: {Strategy: contextir.StrategyDrop, Limit: -1}}},
		"offload":  {OffloadFrom: -2},
		"budget":   {Budget: 100},
		"huge":     {Rules: contextir.Rules{contextir.ToolResult: {Strategy: contextir.StrategyDrop, Keep: 1 << 40}}},
	} {
		if _, err := c.SetRoom(t.Context(), bad); backend.AsError(err).ID != backend.ProblemArguments {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"damaged", "{", `{"preset":"best"}`} {
		store["context"] = text
		if diff := cmp.Diff(contextir.DefaultRules(), rules()); diff != "" {
			t.Errorf("stored %q: %s", text, diff)
		}
		if _, err := c.Room(t.Context(), backend.Empty{}); err == nil {
			t.Errorf("stored %q: no error", text)
		}
	}
}

// COM-20, COM-21, COM-22: long results become files of the session, without keys and other
// secrets. The user chooses from which size, or that none does. If secrets cannot be taken
// out, nothing is written.
func TestOffload(t *testing.T) {
	t.Parallel()
	store := kept{}
	keys := func(context.Context) ([]string, error) { return []string{"mine-4711-4711"}, nil }
	c := contexts.New(contexts.Config{Settings: store, Keys: func(ctx context.Context) ([]string, error) { return keys(ctx) }})
	folder := t.TempDir()
	put := c.Offload(folder)
	text := strings.Repeat("a line\n", 2000) + "mine-4711-4711 and API_KEY=sk-proj-Zk3v9Qw7Lr2Tx8Mn4Pb6Yd1Hs5Jc0Fg\n"
	path := put(t.Context(), "tool_result:1:1", text)
	if filepath.Dir(path) != filepath.Join(folder, "offload") {
		t.Fatalf("written to %q", path)
	}
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(z)
	if got := string(said); err != nil || !strings.HasPrefix(got, "a line\n") || strings.Contains(got, "4711") || strings.Contains(got, "Zk3v9Qw7") {
		t.Errorf("%v: …%s", err, got[max(0, len(got)-200):])
	}
	for _, tt := range []struct {
		from  int
		bytes int
		file  bool
	}{{0, 7999, false}, {0, 8000, true}, {10, 39, false}, {10, 40, true}, {contexts.NoOffload, 1 << 20, false}} {
		if _, err := c.SetRoom(t.Context(), contexts.RoomSettings{OffloadFrom: tt.from}); err != nil {
			t.Fatal(err)
		}
		if got := put(t.Context(), "x", strings.Repeat("x", tt.bytes)) != ""; got != tt.file {
			t.Errorf("%d bytes, from %d tokens: %t", tt.bytes, tt.from, got)
		}
	}
	store["context"] = ""
	keys = func(context.Context) ([]string, error) { return nil, errors.New("the keyring is locked") }
	if path := put(t.Context(), "locked", text); path != "" {
		t.Error("written with its secrets")
	}
}
