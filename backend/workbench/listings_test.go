package workbench_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/models"
)

// lister is a provider that lists more about its models than their ids.
type lister struct {
	*httptest.Server
	asked atomic.Int32
	down  atomic.Bool
}

func newLister(t *testing.T, body string) *lister {
	l := &lister{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/models") || strings.Contains(r.URL.Path, "/api/v0/") { // which LM Studio alone has
			http.NotFound(w, r)
			return
		}
		l.asked.Add(1)
		if l.down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(l.Close)
	return l
}

const gatewayModels = `{"data":[
	{"id":"house/one","name":"House: One","context_length":262144,"architecture":{"input_modalities":["text","image"],"output_modalities":["text"]},
	 "pricing":{"prompt":"0.000002","completion":"0.00001","input_cache_read":"0.0000002"},"top_provider":{"max_completion_tokens":65536},"supported_parameters":["tools","reasoning"]},
	{"id":"house/silent"},
	{"id":"anthropic/claude-opus-5.9"}]}`

// LLM-15: a gateway's facts about its models, in particular its prices, are
// shown and used. It is asked once a day or on demand. While it does not
// answer, the last list holds, also in the next process.
func TestListings(t *testing.T) {
	t.Parallel()
	gateway := newLister(t, gatewayModels)
	home := t.TempDir()
	env := variables("OPENROUTER_API_KEY", "k", "OPENROUTER_BASE_URL", gateway.URL)
	p := newPage(t, t.TempDir(), home, env)
	check := func(p *page, list models.ModelList, asked int32) {
		t.Helper()
		m := find(t, list, "openrouter", "house/one")
		if m.Name != "House: One" || m.ContextWindow != 262_144 || m.Assumed != "" || m.Price == nil || m.Price.Input != 2 || *m.Price.CacheRead != 0.2 ||
			!slices.Contains(m.Abilities, models.AbilityTools) || !slices.Contains(m.Abilities, models.AbilityReasoning) {
			t.Errorf("%+v", m)
		}
		if m := find(t, list, "openrouter", "house/silent"); m.ContextWindow != 0 || m.Price != nil && m.Price.Input != 0 || m.Assumed != "" {
			t.Errorf("a model of which nothing is said: %+v", m)
		}
		if m := find(t, list, "openrouter", "anthropic/claude-opus-5.9"); m.ContextWindow == 0 || m.Assumed != "claude-opus-5-5" {
			t.Errorf("a model of a known family: %+v", m)
		}
		limits, cost := p.bench.Providers().Limits("openrouter", "house/one"), p.bench.Providers().Price("openrouter", "house/one", llm.Usage{Input: 1000, CacheRead: 1000, Output: 100, Known: true}, time.Now())
		if limits.Window != 262_144 || limits.Blind || cost == nil || *cost != llm.Dollar*32/10_000 {
			t.Errorf("the model has the limits %+v and the price %v", limits, cost)
		}
		if info := offered(list, "openrouter"); info.ListedAt == 0 {
			t.Error("the time of the list is missing")
		}
		if got := gateway.asked.Load(); got != asked {
			t.Errorf("asked %d times, want %d", got, asked)
		}
	}
	check(p, must[models.ModelList](p, "models.list", models.ModelsRequest{}), 1)
	check(p, must[models.ModelList](p, "models.list", models.ModelsRequest{}), 1)
	check(p, must[models.ModelList](p, "models.list", models.ModelsRequest{Refresh: true}), 2)
	p.close()

	gateway.down.Store(true)
	again := newPage(t, t.TempDir(), home, env)
	check(again, must[models.ModelList](again, "models.list", models.ModelsRequest{}), 2)
	list := must[models.ModelList](again, "models.list", models.ModelsRequest{Refresh: true})
	check(again, list, 3)
	if offered(list, "openrouter").Problem == nil {
		t.Error("a failed refresh is not reported")
	}
	again.close()

	if err := os.WriteFile(filepath.Join(home, "models", "openrouter.json"), []byte(`{"at":`), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := newPage(t, t.TempDir(), home, env)
	if info := offered(must[models.ModelList](broken, "models.list", models.ModelsRequest{}), "openrouter"); info.Problem == nil || len(info.Models) != 0 {
		t.Errorf("a file that cannot be read: %+v", info)
	}
}

// A list from one address is not used for another.
func TestListingsBelongToAnAddress(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i, want := range []string{"house/one", "m"} {
		body := gatewayModels
		if i == 1 {
			body = `{"data":[{"id":"m"}]}`
		}
		p := newPage(t, t.TempDir(), home, variables("OPENROUTER_API_KEY", "k", "OPENROUTER_BASE_URL", newLister(t, body).URL))
		if i == 1 && p.bench.Providers().Limits("openrouter", "house/one").Window != 0 {
			t.Error("a window from another address")
		}
		find(t, must[models.ModelList](p, "models.list", models.ModelsRequest{}), "openrouter", want)
		p.close()
	}
}

// A provider with rows in the catalogue is asked for newer models too. From its
// list only models without a row and of a known family count, and its facts
// override those of the family.
func TestNewModels(t *testing.T) {
	t.Parallel()
	vendor := newLister(t, `{"data":[{"type":"model","id":"claude-opus-5-7","display_name":"Claude Opus 5.7","max_input_tokens":2000000,"max_tokens":256000},
		{"type":"model","id":"claude-opus-5-8"},{"type":"model","id":"claude-sonnet-5-5-20260930"},{"type":"model","id":"text-embedder-1"}]}`)
	p := newPage(t, t.TempDir(), t.TempDir(), variables("ANTHROPIC_API_KEY", "k", "ANTHROPIC_BASE_URL", vendor.URL))
	list := must[models.ModelList](p, "models.list", models.ModelsRequest{})
	if m := find(t, list, "anthropic", "claude-opus-5-7"); m.Name != "Claude Opus 5.7" || m.ContextWindow != 2_000_000 || m.Assumed != "" || m.Price != nil || len(m.Efforts) == 0 {
		t.Errorf("%+v", m)
	}
	if m := find(t, list, "anthropic", "claude-opus-5-8"); m.ContextWindow != 1_000_000 || m.Assumed != "claude-opus-5-5" || m.Price != nil {
		t.Errorf("%+v", m)
	}
	find(t, list, "anthropic", "claude-opus-5-5")
	for _, m := range offered(list, "anthropic").Models {
		if strings.HasPrefix(m.ID, "text-") || strings.HasSuffix(m.ID, "20260930") {
			t.Errorf("%s is listed", m.ID)
		}
	}
}

// An unknown Claude model has the cap of its family, not the smallest cap of
// all models.
func TestCapOfAnUnlistedModel(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hello."})
	p := newPage(t, t.TempDir(), t.TempDir(), variables("ANTHROPIC_API_KEY", "k", "ANTHROPIC_BASE_URL", server.Root))
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	info.Settings.Model = "claude-opus-9"
	must[backend.Empty](p, "conversation.configure", conversation.ConfigureRequest{Session: info.ID, Settings: info.Settings})
	p.send(info.ID, "hi")
	if end := await(p, anyOf[agent.TextEnd]); end.Cost != nil {
		t.Errorf("the model costs %v", *end.Cost)
	}
	await(p, anyOf[agent.ProcessingEnd])
	if body := string(server.Requests()[0].Body); !strings.Contains(body, `"max_tokens":128000`) || !strings.Contains(body, `"adaptive"`) {
		t.Errorf("sent %.400s", body)
	}
}
